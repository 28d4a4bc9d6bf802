/* SPDX-License-Identifier: Apache-2.0 */
/* A pipeline worker that is paused: it holds the pipeline, keeps its entries in the change log,
 * and waits. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rowferry/base/log.h"
#include "rowferry/engine/pipeline/requests.h"
#include "rowferry/state/checkpoint.h"
#include "rowferry/state/notice.h"
#include "rowferry/state/pause.h"
#include "rowferry/state/request.h"
#include "worker/pipeline_worker_private.h"

#define STATE_LOOK_MS 10000     /* interval of looks at the state file if no notice arrives */
#define STATE_LOOK_SOON_MS 1000 /* the same if none can arrive, or after an error */

static bool pipeline_worker_pause_goes_on(const struct pipeline_worker *r)
{
    return !pipeline_worker_stopped(r) && !pipeline_worker_lost(r);
}

/* --- requests --------------------------------------------------------------------------------- */

static int pipeline_worker_pause_answer(struct pipeline_worker *r, int64_t id, int64_t since_us,
                                        bool changed, struct err *err)
{
    char text[96];
    snprintf(text, sizeof(text), "{\"since_us\":%lld,\"changed\":%s,\"again\":%s}",
             (long long)since_us, changed ? "true" : "false",
             r->rounds.broken_us != 0 ? "true" : "false");
    return request_answer(r->session.state, id, REQUEST_DONE, text, clock_wall_us(&r->ports.clock),
                          err);
}

/* Refuses a request that must wait for the end of the pause, with the reason. */
static int pipeline_worker_pause_refuse(struct pipeline_worker *r, int64_t id, struct err *err)
{
    struct err why;
    struct pending_replies one = {0};
    int rc = pause_expect_none(r->session.state, &why);
    if (rc == 0) { /* the pause has just ended */
        return request_answer(r->session.state, id, REQUEST_FILED, "{}",
                              clock_wall_us(&r->ports.clock), err);
    }
    pending_replies_push(&one, id);
    pending_replies_refuse(&one, r->session.state, r->name, &why, NULL);
    return 0;
}

static int pipeline_worker_pause_serve_one(struct pipeline_worker *r, int64_t id,
                                           const char *command, const char *arguments,
                                           int64_t since_us, struct err *err)
{
    struct session *s = &r->session;
    if (strcmp(command, REQUEST_PAUSE) == 0) {
        return pipeline_worker_pause_answer(r, id, since_us, false, err);
    }
    if (strcmp(command, REQUEST_RESUME) == 0) {
        int rc = pause_end(s->state, err);
        return rc == 0 ? pipeline_worker_pause_answer(r, id, since_us, true, err) : rc;
    }
    if (strcmp(command, REQUEST_DISCARD) == 0) {
        return requests_discard(s->state, &s->clock, id, arguments, err);
    }
    return pipeline_worker_pause_refuse(r, id, err);
}

int pipeline_worker_take_request(struct pipeline_worker *r, int64_t *id, struct buf *command,
                                 struct buf *arguments, struct err *err)
{
    buf_init(command, 64);
    buf_init(arguments, REQUEST_MAX_BYTES);
    return request_take(r->session.state, 0, id, command, arguments, err);
}

/* Serves one request. Returns 1 if there was one. */
static int pipeline_worker_pause_serve(struct pipeline_worker *r, int64_t since_us, struct err *err)
{
    struct buf command;
    struct buf arguments;
    int64_t id;
    int rc = pipeline_worker_take_request(r, &id, &command, &arguments, err);
    if (rc == 0 && id != 0) {
        rc = pipeline_worker_pause_serve_one(r, id, buf_text(&command), buf_text(&arguments),
                                             since_us, err);
        rc = rc == 0 ? 1 : rc;
    }
    buf_release(&command);
    buf_release(&arguments);
    return rc;
}

bool pipeline_worker_asked(void *context, int64_t id, const char *command, const char *arguments)
{
    struct pipeline_worker *r = context;
    struct err err;
    int rc = 0;
    if (!requests_about_pause(command)) {
        return rebuild_worker_asked(&r->rebuild_worker, id, command, arguments);
    }
    if (r->mode == PIPELINE_WORKER_UNTIL_REBUILT) {
        return false; /* it ends soon, and a pause would end with it */
    }
    if (strcmp(command, REQUEST_RESUME) == 0) {
        rc = pipeline_worker_pause_answer(r, id, 0, false, &err);
        if (r->rounds.broken_us != 0) {
            pipeline_worker_send_order(r, PIPELINE_WORKER_BEGIN_ANEW);
        }
    } else {
        rc = pause_begin(r->session.state, clock_wall_us(&r->ports.clock), &err);
        pending_replies_push(&r->pausers, id);
        pipeline_worker_send_order(r, PIPELINE_WORKER_BEGIN_ANEW);
    }
    if (rc < 0) {
        log_err(LOG_WARN, "not_answered", r->name, &err);
    }
    return true;
}

/* --- waiting ---------------------------------------------------------------------------------- */

/* Keeps the consumer's claim alive, so that its entries in the change log are not dropped. */
static void pipeline_worker_pause_keep_consumer(struct pipeline_worker *r)
{
    struct checkpoint c = {0};
    struct err ignored;
    if (r->lease_holder != NULL && capture_traits(r->session.pipeline->from.capture_mode)->keeps &&
        checkpoint_load(r->session.state, &c, &ignored) == 0 && c.index_uuid != NULL) {
        char consumer[512];
        snprintf(consumer, sizeof(consumer), "%s/%s/%.8s", r->name, c.generation, c.index_uuid);
        r->ports.lease_attend(r->lease_holder, consumer);
    }
    checkpoint_release(&c);
}

/* Replies to the pause requests. All operations in flight are settled and committed now. */
static void pipeline_worker_pause_answer_pausers(struct pipeline_worker *r, int64_t since_us)
{
    struct err err;
    for (size_t i = 0; i < r->pausers.count; i++) {
        if (pipeline_worker_pause_answer(r, r->pausers.ids[i], since_us, true, &err) < 0) {
            log_err(LOG_WARN, "not_answered", r->name, &err);
        }
    }
    r->pausers.count = 0;
}

/* Warns once that the change log grows past source.retain, because the claim of a paused
 * pipeline is kept. */
static void pipeline_worker_pause_warn_of_log(struct pipeline_worker *r, int64_t since_us,
                                              bool *warned)
{
    int64_t most_ms = r->session.config->source.retain_age_ms;
    int64_t ms = (clock_wall_us(&r->ports.clock) - since_us) / 1000;
    if (!*warned && most_ms > 0 && ms > most_ms &&
        capture_traits(r->session.pipeline->from.capture_mode)->keeps) {
        log_event(LOG_WARN, "paused_long", F_TEXT("pipeline", r->name),
                  F_INT("paused_s", ms / 1000),
                  F_TEXT("message", "the change log is kept for it past source.retain"));
        *warned = true;
    }
}

static void pipeline_worker_pause_wait_for_end(struct pipeline_worker *r, int64_t since_us)
{
    int64_t now_us = since_us;
    bool warned = false;
    int notice_fd = notice_open(r->session.state);
    pipeline_worker_note_pause(r);
    pipeline_worker_publish(r, LIVE_PROGRESS_PAUSED, NULL);
    while (now_us != 0 && pipeline_worker_pause_goes_on(r)) {
        struct err err;
        int rc = pipeline_worker_pause_serve(r, since_us, &err);
        rc = rc == 0 ? pause_read(r->session.state, &now_us, &err) : rc;
        pipeline_worker_pause_warn_of_log(r, since_us, &warned);
        if (rc <= 0 && now_us != 0) {
            pipeline_worker_nap(r, notice_fd,
                                rc < 0 || notice_fd < 0 ? STATE_LOOK_SOON_MS : STATE_LOOK_MS);
        }
    }
    if (notice_fd >= 0) {
        close(notice_fd);
    }
}

/* Ends a rebuild too; its requesters get a refusal with the reason. */
static int pipeline_worker_pause_stay(struct pipeline_worker *r, int64_t since_us, struct err *err)
{
    char iso[CLOCK_ISO_BYTES];
    log_event(LOG_INFO, "paused", F_TEXT("pipeline", r->name),
              F_TEXT("since", clock_iso(iso, since_us, 0)));
    rebuild_worker_release(&r->rebuild_worker);
    pipeline_worker_init_rebuild(r, NULL, NULL);
    pipeline_worker_pause_answer_pausers(r, since_us);
    pipeline_worker_pause_keep_consumer(r);
    pipeline_worker_pause_wait_for_end(r, since_us);
    if (r->lease_holder != NULL) {
        r->ports.lease_attend(r->lease_holder, NULL);
    }
    if (!pipeline_worker_pause_goes_on(r)) {
        return 0;
    }
    log_event(LOG_INFO, "resumed", F_TEXT("pipeline", r->name),
              F_INT("paused_s", (clock_wall_us(&r->ports.clock) - since_us) / 1000000));
    return rebuild_worker_go_on(&r->rebuild_worker, err);
}

bool pipeline_worker_is_paused(struct pipeline_worker *r)
{
    struct err ignored;
    int64_t since_us;
    return pause_read(r->session.state, &since_us, &ignored) < 0 || since_us != 0;
}

int pipeline_worker_stay_paused(struct pipeline_worker *r, struct err *err)
{
    int64_t since_us = 0;
    int rc =
        r->mode == PIPELINE_WORKER_UNTIL_REBUILT ? 0 : pause_read(r->session.state, &since_us, err);
    return rc == 0 && since_us != 0 ? pipeline_worker_pause_stay(r, since_us, err) : rc;
}
