/* SPDX-License-Identifier: Apache-2.0 */
/* Files a permission and follows it. */
#include "client/permit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/holder_client.h"
#include "rowferry/engine/pipeline/requests.h"
#include "rowferry/state/checkpoint.h"
#include "rowferry/state/deadletter.h"
#include "rowferry/state/live_progress.h"
#include "rowferry/state/request.h"
#include "status/holder_progress.h"

struct asking {
    struct session *session;
    struct pipeline_result *result;
};

/* Fills the result. The counters are in the reply, the rest in the state file. */
static int permit_take(void *context, const struct holder_reply *reply, struct err *err)
{
    const struct asking *k = context;
    struct pipeline_result *out = k->result;
    struct checkpoint checkpoint = {0};
    if (reply->state != REQUEST_DONE) {
        return 0;
    }
    out->counters.upserts = holder_reply_number(reply, "upserts");
    out->counters.deletes = holder_reply_number(reply, "deletes");
    out->counters.rejected = holder_reply_number(reply, "rejected");
    out->counters.bytes = holder_reply_number(reply, "bytes");
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

static void permit_show(void *context, struct buf *line)
{
    const struct asking *k = context;
    holder_progress_push_recorded(line, k->session->state);
}

/* Returns true if the holder waits because the guard or an error stopped the pipeline. */
static bool permit_waits(const struct session *s)
{
    struct live_progress work;
    struct err ignored;
    bool known = false;
    return live_progress_read(s->state, &work, &known, &ignored) == 0 && known &&
           (strcmp(work.stage, "guard") == 0 || strcmp(work.stage, "stopped") == 0);
}

int permit_ask(struct session *s, const struct permit *p, struct pipeline_result *result,
               bool *held, struct err *err)
{
    const struct err holder = *err;
    struct asking k = {s, result};
    struct holder_client client = {.session = s,
                                   .stop = p->stop,
                                   .progress = p->progress,
                                   .take = permit_take,
                                   .show = permit_show,
                                   .context = &k};
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
    client.request = !p->deletes && !p->rejections ? REQUEST_TRY_AGAIN
                     : rejections                  ? REQUEST_ALLOW_REJECTIONS
                                                   : REQUEST_ALLOW_DELETES;
    snprintf(when, sizeof(when), "%lld", (long long)halt.at_us);
    bool again = strcmp(client.request, REQUEST_TRY_AGAIN) == 0;
    const char *why_not = again ? NULL : requests_why_not(client.request, when, halted, &halt);
    if (why_not != NULL) {
        *err = holder;
        if (halted && (halt.operations > 0) != rejections) {
            err_hint(err, halt.operations > 0
                              ? "run: rowferry sync --allow-rejections " ERR_PIPELINE
                              : "run: rowferry sync --allow-deletes " ERR_PIPELINE);
        }
        return err_context(err, "%s", why_not);
    }
    rc = holder_client_file(&client, when, err);
    rc = rc == 0 ? holder_client_follow(&client, err) : rc;
    result->stopped = client.stopped;
    *held = !client.holding || client.answered > 0;
    holder_client_release(&client);
    return rc;
}

void permit_try_again(const struct config *config, const struct pipeline_config *pipeline)
{
    struct session s = {0};
    struct err ignored;
    int64_t id;
    if (access(config->state_path, F_OK) != 0) {
        return;
    }
    int rc = session_init(&s, config, pipeline, "retry", &ignored);
    rc = rc == 0 ? session_open_state(&s, &ignored) : rc;
    if (rc == 0 && permit_waits(&s)) { /* if it has ended, the next holder refuses the request */
        (void)!request_file(s.state, REQUEST_TRY_AGAIN, "", clock_wall_us(&s.clock), &id, &ignored);
    }
    session_release(&s);
}
