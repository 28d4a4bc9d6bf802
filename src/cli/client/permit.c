/* SPDX-License-Identifier: Apache-2.0 */
/* Files a permission and follows it. */
#include "client/permit.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "output/refusal.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/log.h"
#include "rowferry/base/stop.h"
#include "rowferry/document/json/json_tree.h"
#include "rowferry/engine/pipeline/requests.h"
#include "rowferry/state/checkpoint.h"
#include "rowferry/state/deadletter.h"
#include "rowferry/state/live_progress.h"
#include "rowferry/state/request.h"
#include "status/holder_progress.h"

#define PERMIT_LOOK_MS 50
#define ANSWER_MAX_BYTES ((size_t)64 * 1024)
#define LINE_BYTES 4096

struct asking {
    struct session *session;
    const struct permit *permit;
    struct pipeline_result *result;
    int64_t id;
};

static int64_t permit_member(struct json_object *answer, const char *name)
{
    return json_object_get_int64(json_tree_member(answer, name));
}

/* Fills the result. The counters are in the reply, the rest in the state file. */
static int permit_fill(struct asking *k, struct json_object *answer, struct err *err)
{
    struct pipeline_result *out = k->result;
    struct checkpoint checkpoint = {0};
    out->counters.upserts = permit_member(answer, "upserts");
    out->counters.deletes = permit_member(answer, "deletes");
    out->counters.rejected = permit_member(answer, "rejected");
    out->counters.bytes = permit_member(answer, "bytes");
    int rc = deadletter_count(k->session->state, &out->dead_letters, err);
    if (rc == 0) {
        rc = checkpoint_load(k->session->state, &checkpoint, err);
    }
    if (rc == 0 && checkpoint.generation != NULL) {
        snprintf(out->generation, sizeof(out->generation), "%s", checkpoint.generation);
    }
    checkpoint_release(&checkpoint);
    return rc;
}

/* Returns 1 if there is a reply, 0 if not yet. */
static int permit_look(struct asking *k, struct err *err)
{
    enum request_state state = REQUEST_FILED;
    struct buf text;
    buf_init(&text, ANSWER_MAX_BYTES);
    int rc = request_look(k->session->state, k->id, &state, &text, err);
    struct json_object *answer = rc == 0 ? json_tree_of(buf_text(&text)) : NULL;
    if (rc == 0 && state == REQUEST_FAILED) {
        rc = refusal_read(answer, "the holder did not permit it", err);
    } else if (rc == 0 && state == REQUEST_DONE) {
        rc = permit_fill(k, answer, err);
        rc = rc < 0 ? rc : 1;
    }
    json_object_put(answer);
    buf_release(&text);
    return rc;
}

static void permit_show(struct asking *k)
{
    struct live_progress work;
    struct err ignored;
    struct buf line;
    bool known = false;
    buf_init(&line, LINE_BYTES);
    buf_printf(&line, "%s: asked the one who holds it", k->session->pipeline->name);
    if (live_progress_read(k->session->state, &work, &known, &ignored) == 0 && known) {
        buf_push_literal(&line, ", ");
        holder_progress_push_stage(&line, &work);
    }
    progress_line_show(k->permit->progress, buf_text(&line));
    buf_release(&line);
}

static int permit_follow(struct asking *k, bool *held, struct err *err)
{
    for (;;) {
        struct err still;
        int rc = permit_look(k, err);
        if (rc != 0) {
            return rc < 0 ? rc : 0;
        }
        if (stop_is_set(k->permit->stop)) {
            k->result->stopped = true;
            return refusal_withdraw(k->session, k->id, err);
        }
        if (session_hold(k->session, &still) == 0) {
            rc = permit_look(k, err); /* the holder may have answered just before it ended */
            *held = rc != 0;
            return rc == 0 ? refusal_withdraw(k->session, k->id, err) : rc < 0 ? rc : 0;
        }
        permit_show(k);
        clock_sleep(PERMIT_LOOK_MS, k->permit->stop);
    }
}

/* Returns true if the holder waits because the guard refused operations. */
static bool permit_waits(const struct session *s)
{
    struct live_progress work;
    struct err ignored;
    bool known = false;
    return live_progress_read(s->state, &work, &known, &ignored) == 0 && known &&
           strcmp(work.stage, "guard") == 0;
}

int permit_ask(struct session *s, const struct permit *p, struct pipeline_result *result,
               bool *held, struct err *err)
{
    const struct err holder = *err;
    struct asking k = {.session = s, .permit = p, .result = result};
    struct guard_stop halt;
    bool halted;
    char when[32];
    *held = true;
    int rc = guard_stop_read(s->state, &halt, &halted, err);
    if (rc < 0) {
        return rc;
    }
    if (!p->deletes && !p->rejections && !permit_waits(s)) {
        *err = holder;
        return (int)holder.class;
    }
    bool rejections = p->rejections && (!p->deletes || halt.operations > 0);
    const char *request = !p->deletes && !p->rejections ? REQUEST_COUNT_AGAIN
                          : rejections                  ? REQUEST_ALLOW_REJECTIONS
                                                        : REQUEST_ALLOW_DELETES;
    snprintf(when, sizeof(when), "%lld", (long long)halt.at_us);
    const char *why_not = requests_why_not(request, when, halted, &halt);
    if (why_not != NULL) {
        *err = holder;
        return err_context(err, "%s", why_not);
    }
    rc = request_file(s->state, request, when, clock_wall_us(&s->clock), &k.id, err);
    if (rc == 0) {
        log_event(LOG_INFO, "request_filed", F_TEXT("pipeline", s->pipeline->name),
                  F_TEXT("command", request), F_TEXT("message", holder.message));
        rc = permit_follow(&k, held, err);
    }
    return rc;
}
