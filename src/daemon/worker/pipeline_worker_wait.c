/* SPDX-License-Identifier: Apache-2.0 */
/* What a pipeline worker does between its rounds: it waits and serves requests. */
#include <stdio.h>
#include <string.h>

#include "rowferry/base/log.h"
#include "rowferry/engine/pipeline/requests.h"
#include "rowferry/state/guard_stop.h"
#include "rowferry/state/request.h"
#include "worker/pipeline_worker_private.h"

#define REQUEST_LOOK_MS 100
#define RECOUNT_MS 30000      /* interval after which refused operations are counted again */
#define RECOUNT_SHARE 20      /* minimum pause, as a multiple of a count's duration */
#define RECOUNT_MAX_MS 900000 /* maximum of that interval */

/* The engine does not retry errors of the state file (a full disk). It also does not retry ERR_HELD
 * while a connection of the last round still has the consumer lock. */
bool pipeline_worker_is_transient(const struct pipeline_worker *r, int rc)
{
    return rc == ERR_TRANSIENT ||
           (rc == ERR_HELD && (r->rounds.count > 1 || r->mode == PIPELINE_WORKER_STANDS_BY));
}

static void pipeline_worker_wait_judge(struct pipeline_worker *r, const struct stall_facts *facts)
{
    stall_log(&r->stall, stall_judge(&r->stall, facts), r->name, facts->wall_us);
    status_snapshot_stalled(r->shared.snapshot, &r->stall);
}

/* Records a stall with its cause; the reason is r->err. */
static void pipeline_worker_wait_note_stall(struct pipeline_worker *r, enum stall_cause cause)
{
    const struct stall_facts facts = {.now_us = clock_monotonic_us(&r->ports.clock),
                                      .wall_us = clock_wall_us(&r->ports.clock),
                                      .waits = true,
                                      .stopped = cause,
                                      .why = r->err.message};
    pipeline_worker_wait_judge(r, &facts);
}

void pipeline_worker_note_pause(struct pipeline_worker *r)
{
    const struct stall_facts facts = {.now_us = clock_monotonic_us(&r->ports.clock),
                                      .wall_us = clock_wall_us(&r->ports.clock),
                                      .paused = true};
    pipeline_worker_wait_judge(r, &facts);
}

/* Only transient errors of the state file and of locks get here. */
static enum stall_cause pipeline_worker_wait_cause(const struct pipeline_worker *r)
{
    return r->err.class == ERR_HELD  ? STALL_LOCK
           : r->err.sqlite_code != 0 ? STALL_STATE_FILE
                                     : STALL_UNKNOWN;
}

void pipeline_worker_wait_for_better(struct pipeline_worker *r)
{
    pipeline_worker_wait_note_stall(r, pipeline_worker_wait_cause(r));
    if (r->rounds.failing_us == 0) {
        log_err(LOG_WARN, "stalled", r->name, &r->err);
        r->rounds.failing_us = clock_monotonic_us(&r->ports.clock);
    }
    pipeline_worker_enter(r, "waiting");
    pipeline_worker_pause_for(r,
                              backoff_next_ms(&r->rounds.backoff, clock_random(&r->ports.clock)));
}

void pipeline_worker_note_better(struct pipeline_worker *r)
{
    if (r->rounds.failing_us == 0) {
        return;
    }
    log_event(
        LOG_INFO, "goes_on", F_TEXT("pipeline", r->name),
        F_INT("stalled_ms", (clock_monotonic_us(&r->ports.clock) - r->rounds.failing_us) / 1000));
    r->rounds.failing_us = 0;
    backoff_reset(&r->rounds.backoff);
}

void pipeline_worker_publish(struct pipeline_worker *r, const char *stage, const char *holder)
{
    struct err err;
    struct live_progress progress = {
        .told_us = clock_wall_us(&r->ports.clock), .share = -1, .remaining_ms = -1, .lag_rows = -1};
    snprintf(progress.stage, sizeof(progress.stage), "%s", stage);
    snprintf(progress.holder, sizeof(progress.holder), "%.127s", holder != NULL ? holder : "");
    if (holder == NULL) {
        stall_show(&r->stall, &progress);
    }
    pipeline_worker_enter(r, stage);
    if (live_progress_write(r->session.state, &progress, &err) < 0) {
        log_err(LOG_WARN, "not_told", r->name, &err);
    }
}

bool pipeline_worker_stopped_by_guard(struct pipeline_worker *r, int rc)
{
    struct guard_stop halt;
    struct err ignored;
    bool halted = false;
    return rc == ERR_STATE && guard_stop_read(r->session.state, &halt, &halted, &ignored) == 0 &&
           halted;
}

static int pipeline_worker_wait_refuse(struct pipeline_worker *r, int64_t id, const char *why,
                                       const char *hint, struct err *err)
{
    return request_refuse(r->session.state, id, why, hint, clock_wall_us(&r->ports.clock), err);
}

/* Lets the next round do the permitted operations and reply to the request. */
static int pipeline_worker_wait_permit(struct pipeline_worker *r, int64_t id, const char *command,
                                       const char *arguments, struct err *err)
{
    struct guard_stop halt;
    bool halted;
    int rc = guard_stop_read(r->session.state, &halt, &halted, err);
    if (rc < 0) {
        return rc;
    }
    const char *why = requests_why_not(command, arguments, halted, &halt);
    if (why != NULL) {
        return pipeline_worker_wait_refuse(r, id, why, "", err);
    }
    bool recount = strcmp(command, REQUEST_COUNT_AGAIN) == 0;
    r->permission = (struct pipeline_permission){.request = id,
                                                 .deletes = !recount && halt.operations == 0,
                                                 .rejections = !recount && halt.operations > 0};
    return 0;
}

/* Serves requests while no round runs: permits operations or discards dead letters. */
static int pipeline_worker_wait_serve(struct pipeline_worker *r, struct err *err)
{
    struct session *s = &r->session;
    struct buf command;
    struct buf arguments;
    int64_t id;
    int rc = pipeline_worker_take_request(r, &id, &command, &arguments, err);
    const char *name = buf_text(&command);
    if (rc == 0 && id != 0 &&
        (strcmp(name, REQUEST_ALLOW_DELETES) == 0 || strcmp(name, REQUEST_ALLOW_REJECTIONS) == 0 ||
         strcmp(name, REQUEST_COUNT_AGAIN) == 0)) {
        rc = pipeline_worker_wait_permit(r, id, name, buf_text(&arguments), err);
    } else if (rc == 0 && id != 0 && (requests_about_rebuild(name) || requests_about_pause(name))) {
        (void)pipeline_worker_asked(r, id, name, buf_text(&arguments));
    } else if (rc == 0 && id != 0 && strcmp(name, REQUEST_DISCARD) == 0) {
        rc = requests_discard(s->state, &s->clock, id, buf_text(&arguments), err);
    } else if (rc == 0 && id != 0) {
        rc = pipeline_worker_wait_refuse(r, id, r->err.message, r->err.hint, err);
    }
    buf_release(&command);
    buf_release(&arguments);
    return rc;
}

/* Counts again periodically because rows may be restored at any time. A count may scan the whole
 * index, so the interval depends on its duration. */
static int64_t pipeline_worker_wait_recount_us(const struct pipeline_worker *r)
{
    int64_t ms = r->rounds.recounts ? r->rounds.took_ms * RECOUNT_SHARE : 0;
    ms = ms < RECOUNT_MS ? RECOUNT_MS : ms;
    ms = ms > RECOUNT_MAX_MS ? RECOUNT_MAX_MS : ms;
    return clock_monotonic_us(&r->ports.clock) + ms * 1000;
}

/* Logs the refusal unless it is the one that was logged before. */
static void pipeline_worker_wait_report_refused(struct pipeline_worker *r)
{
    struct guard_stop halt;
    struct err ignored;
    bool halted = false;
    int rc = guard_stop_read(r->session.state, &halt, &halted, &ignored);
    if (rc < 0 || halt.at_us != r->rounds.refused_us) {
        log_err(LOG_ERROR, "guard", r->name, &r->err);
    }
    r->rounds.refused_us = rc < 0 ? 0 : halt.at_us;
}

/* Serves requests until `until_us`, an order, a permission, or the end of the rebuild if
 * `rebuilding`. */
static void pipeline_worker_wait_until(struct pipeline_worker *r, int64_t until_us, bool rebuilding)
{
    while (r->permission.request == 0 && pipeline_worker_order_of(r) == PIPELINE_WORKER_GO_ON &&
           (!rebuilding || rebuild_worker_busy(&r->rebuild_worker)) &&
           clock_monotonic_us(&r->ports.clock) < until_us) {
        struct err err;
        int rc = pipeline_worker_wait_serve(r, &err);
        pipeline_worker_pause_for(r, rc < 0                       ? PIPELINE_WORKER_MAX_MS
                                     : r->permission.request != 0 ? 0
                                                                  : REQUEST_LOOK_MS);
    }
}

/* Waits until the operations are permitted, a new count is due, or an order comes. */
void pipeline_worker_wait_for_permission(struct pipeline_worker *r)
{
    int64_t until_us = pipeline_worker_wait_recount_us(r);
    pipeline_worker_wait_note_stall(r, STALL_GUARD);
    pipeline_worker_publish(r, "guard", NULL);
    pipeline_worker_wait_report_refused(r); /* logged last, so that a reader of the log finds the
                                             * state recorded */
    pipeline_worker_wait_until(r, until_us, false);
    r->rounds.recounts = true;
    if (r->permission.deletes || r->permission.rejections) {
        log_event(LOG_WARN, "permitted", F_TEXT("pipeline", r->name));
    }
}

/* The live generation cannot be written. Waits until the rebuild has ended, an order comes, or
 * it is time to try again. */
void pipeline_worker_wait_for_rebuild(struct pipeline_worker *r)
{
    if (r->rounds.blocked == 1) { /* not in the first round, when the rebuild may not be recorded
                                   * yet */
        log_err(LOG_WARN, "stands_still", r->name, &r->err);
    }
    int64_t ms = r->rounds.blocked++ == 0 ? PIPELINE_WORKER_BASE_MS : PIPELINE_WORKER_MAX_MS;
    int64_t until_us = clock_monotonic_us(&r->ports.clock) + ms * 1000;
    pipeline_worker_wait_note_stall(r, STALL_REBUILD);
    pipeline_worker_publish(r, "standing still", NULL);
    pipeline_worker_wait_until(r, until_us, true);
}
