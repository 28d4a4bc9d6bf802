/* SPDX-License-Identifier: Apache-2.0 */
/* Files a request for a rebuild and follows it. */
#include "client/rebuild_client.h"

#include <json-c/json.h>
#include <string.h>

#include "output/refusal.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/log.h"
#include "rowferry/base/stop.h"
#include "rowferry/document/json/json_tree.h"
#include "rowferry/engine/pipeline/requests.h"
#include "rowferry/state/live_progress.h"
#include "rowferry/state/request.h"
#include "status/holder_progress.h"

#define LOOK_MS 100
#define HOLD_US INT64_C(1000000)
#define ANSWER_MAX_BYTES ((size_t)64 * 1024)
#define LINE_BYTES 4096

/* *final: there is a reply. */
static int rebuild_client_look(struct rebuild_client *k, bool *final, struct err *err)
{
    enum request_state state = REQUEST_FILED;
    struct buf text;
    buf_init(&text, ANSWER_MAX_BYTES);
    int rc = request_look(k->session->state, k->id, &state, &text, err);
    *final = rc == 0 && (state == REQUEST_DONE || state == REQUEST_FAILED);
    k->taken = state == REQUEST_TAKEN;
    if (*final && state == REQUEST_FAILED) {
        struct json_object *answer = json_tree_of(buf_text(&text));
        rc = refusal_read(answer, "the request failed", err);
        json_object_put(answer);
        (void)rebuild_outcome_read_answer(&k->rebuilt, buf_text(&text)); /* progress before the
                                                                          * failure, if any */
    } else if (*final && !rebuild_outcome_read_answer(&k->rebuilt, buf_text(&text))) {
        rc = err_set(err, ERR_STATE, "the holder's answer cannot be read");
    }
    buf_release(&text);
    return rc;
}

/* Stops following. Withdraws a request that no holder has taken, so that it is not carried out
 * later. */
static int rebuild_client_leave(struct rebuild_client *k, struct err *err)
{
    k->stopped = true;
    return k->taken ? 0 : refusal_withdraw(k->session, k->id, err);
}

/* Appends the progress of the next generation, if the state file records it. */
static void rebuild_client_push_stage(struct rebuild_client *k, struct buf *line)
{
    struct state *next = NULL;
    struct live_progress work;
    struct err ignored;
    bool known = false;
    if (rebuild_open(k->session->state, &next, &ignored) == 0 && next != NULL &&
        live_progress_read(next, &work, &known, &ignored) == 0 && known) {
        buf_push_literal(line, ", ");
        holder_progress_push_stage(line, &work);
    }
    state_close(next);
}

static void rebuild_client_show(struct rebuild_client *k)
{
    struct buf line;
    buf_init(&line, LINE_BYTES);
    buf_printf(&line, "%s: %s", k->session->pipeline->name,
               k->taken ? "asked the one who holds it" : "waits for the one who holds it");
    if (k->taken && k->progress->wanted) {
        rebuild_client_push_stage(k, &line);
    }
    progress_line_show(k->progress, buf_text(&line));
    buf_release(&line);
}

/* Becomes the holder if there is none any more and the request has no reply. */
static int rebuild_client_take(struct rebuild_client *k, bool *final, struct err *err)
{
    struct session *s = k->session;
    int rc = session_hold(s, err);
    if (rc == 0) {
        rc = rebuild_client_look(k, final,
                                 err); /* the holder may have answered just before it ended */
        k->held = rc == 0 && !*final;
        if (k->held) {
            rc =
                request_answer(s->state, k->id, REQUEST_TAKEN, "{}", clock_wall_us(&s->clock), err);
        }
    }
    return rc;
}

static int rebuild_client_follow(struct rebuild_client *k, struct err *err)
{
    int64_t hold_us = 0;
    for (;;) {
        bool final;
        int rc = rebuild_client_look(k, &final, err);
        if (rc < 0 || final) {
            return rc;
        }
        if (stop_is_set(k->stop)) {
            return rebuild_client_leave(k, err);
        }
        int64_t now = clock_monotonic_us(&k->session->clock);
        if (now >= hold_us) {
            hold_us = now + HOLD_US;
            rc = rebuild_client_take(k, &final, err);
            if (rc != ERR_HELD) {
                return rc;
            }
            rebuild_client_show(k);
        }
        clock_sleep(LOOK_MS, k->stop);
    }
}

int rebuild_client(struct rebuild_client *k, struct err *err)
{
    struct session *s = k->session;
    const struct err holder = *err;
    struct buf arguments;
    buf_init(&arguments, 4096);
    rebuild_arguments_push(&arguments, s->pipeline, &k->terms);
    int rc = request_file(s->state, k->request, buf_text(&arguments), clock_wall_us(&s->clock),
                          &k->id, err);
    buf_release(&arguments);
    if (rc == 0) {
        log_event(LOG_INFO, "request_filed", F_TEXT("pipeline", s->pipeline->name),
                  F_TEXT("command", k->request), F_TEXT("message", holder.message));
        rc = rebuild_client_follow(k, err);
    }
    return rc;
}
