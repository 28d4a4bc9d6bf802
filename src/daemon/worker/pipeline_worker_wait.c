/* SPDX-License-Identifier: Apache-2.0 */
/* What a pipeline worker does between its rounds: it waits and serves requests. */
#include <stdio.h>
#include <string.h>

#include "rowferry/base/log.h"
#include "rowferry/base/text.h"
#include "rowferry/daemon/run_record.h"
#include "rowferry/engine/pipeline/requests.h"
#include "rowferry/state/guard_stop.h"
#include "rowferry/state/request.h"
#include "worker/pipeline_worker_private.h"

#define REQUEST_LOOK_MS 100
#define RECOUNT_MS 30000      /* interval after which refused operations are counted again */
#define RECOUNT_SHARE 4       /* minimum pause, as a multiple of a count's duration */
#define RECOUNT_MAX_MS 900000 /* maximum of that interval */

/* The engine does not retry errors of the state file (a full disk). It also does not retry ERR_HELD
 * while a connection of the last round still has the consumer lock. */
bool pipeline_worker_is_transient(const struct pipeline_worker *r, int rc)
{
    return rc == ERR_TRANSIENT ||
           (rc == ERR_HELD && (r->rounds.count > 1 || r->mode == PIPELINE_WORKER_STANDS_BY));
}

bool pipeline_worker_is_final(const struct pipeline_worker *r, int rc)
{
    return rc == ERR_HELD || r->mode == PIPELINE_WORKER_UNTIL_REBUILT ||
           (rc == ERR_CONFIG && r->rounds.count <= 1);
}

static void pipeline_worker_wait_judge(struct pipeline_worker *r, const struct stall_facts *facts)
{
    stall_log(&r->stall, stall_judge(&r->stall, facts), r->name, facts->wall_us);
    status_snapshot_stalled(r->shared.snapshot, &r->stall);
}

/* Records a stall with its cause; the reason is r->err. Its hint is part of the reason if the cause
 * has no remedy of its own. */
static void pipeline_worker_wait_note_stall(struct pipeline_worker *r, enum stall_cause cause)
{
    char why[sizeof(r->err.message) + sizeof(r->err.hint) + 2];
    bool hint = cause == STALL_STOPPED && r->err.hint[0] != '\0';
    err_name_pipeline(&r->err, r->name);
    snprintf(why, sizeof(why), "%s%s%s", r->err.message, hint ? "; " : "", hint ? r->err.hint : "");
    const struct stall_facts facts = {.now_us = clock_monotonic_us(&r->ports.clock),
                                      .wall_us = clock_wall_us(&r->ports.clock),
                                      .waits = true,
                                      .stopped = cause,
                                      .why = why,
                                      .hint = hint ? r->err.hint : NULL};
    pipeline_worker_wait_judge(r, &facts);
}

void pipeline_worker_note_pause(struct pipeline_worker *r)
{
    const struct stall_facts facts = {.now_us = clock_monotonic_us(&r->ports.clock),
                                      .wall_us = clock_wall_us(&r->ports.clock),
                                      .paused = true};
    pipeline_worker_wait_judge(r, &facts);
    status_snapshot_works(r->shared.snapshot);
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

/* Records the error that has stopped the pipeline, or with null that none does any more. If the
 * process is killed, it is known by this record alone. */
static void pipeline_worker_wait_record(struct pipeline_worker *r, const struct err *why)
{
    struct err err;
    if (r->run == 0) {
        return;
    }
    r->outcome.err = why;
    r->outcome.exit_code = why != NULL ? err_exit_code(why->class) : EXIT_DONE;
    if (run_record_stop(&r->session, r->run, &r->outcome, &err) < 0) {
        log_err(LOG_WARN, "not_recorded", r->name, &err);
    }
}

void pipeline_worker_note_better(struct pipeline_worker *r, bool works)
{
    struct pipeline_worker_rounds *rounds = &r->rounds;
    int64_t stopped_us = rounds->broken_us != 0 ? rounds->broken_us : rounds->guarded_us;
    int64_t since_us = stopped_us != 0 ? stopped_us : rounds->failing_us;
    rounds->recounts = rounds->recounts && !works;
    if (since_us == 0 || (stopped_us != 0 && !works)) {
        return;
    }
    if (rounds->broken_us != 0) {
        pipeline_worker_wait_record(r, NULL);
    }
    log_event(LOG_INFO, "goes_on", F_TEXT("pipeline", r->name),
              F_INT("stalled_ms", (clock_monotonic_us(&r->ports.clock) - since_us) / 1000));
    status_snapshot_works(r->shared.snapshot);
    rounds->failing_us = 0;
    rounds->broken_us = rounds->guarded_us = 0;
    rounds->stopped_hash = 0;
    rounds->stopped_drift = false;
    backoff_reset(&rounds->backoff);
    backoff_reset(&rounds->repair);
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

void pipeline_worker_refuse_permission(struct pipeline_worker *r, const struct err *why)
{
    enum request_state state = REQUEST_DONE;
    struct buf answer;
    struct err err;
    int64_t id = r->permission.request;
    if (id == 0) {
        return;
    }
    buf_init(&answer, REQUEST_MAX_BYTES);
    int rc = request_look(r->session.state, id, &state, &answer, &err);
    if (rc == 0 && state == REQUEST_TAKEN) {
        rc = pipeline_worker_wait_refuse(r, id, why->message, why->hint, &err);
    }
    if (rc < 0) {
        log_err(LOG_WARN, "not_answered", r->name, &err);
    }
    buf_release(&answer);
}

/* Lets the next round do the permitted operations and reply to the request. */
static int pipeline_worker_wait_permit(struct pipeline_worker *r, int64_t id, const char *command,
                                       const char *arguments, struct err *err)
{
    struct guard_stop halt;
    bool halted;
    bool again = strcmp(command, REQUEST_TRY_AGAIN) == 0;
    int rc = guard_stop_read(r->session.state, &halt, &halted, err);
    if (rc < 0) {
        return rc;
    }
    const char *why = again ? NULL : requests_why_not(command, arguments, halted, &halt);
    if (why != NULL) {
        return pipeline_worker_wait_refuse(r, id, why, "", err);
    }
    r->permission = (struct pipeline_permission){.request = id,
                                                 .deletes = !again && halt.operations == 0,
                                                 .rejections = !again && halt.operations > 0};
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
         strcmp(name, REQUEST_TRY_AGAIN) == 0)) {
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
    int64_t now_us = clock_monotonic_us(&r->ports.clock);
    r->rounds.guarded_us = r->rounds.guarded_us == 0 ? now_us : r->rounds.guarded_us;
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

/* Logs the error unless it is the one that was logged before. That the definition has changed is
 * one error, although a reader and an opening name it by different words. So is a credential that
 * is not accepted, whichever request shows it. */
static void pipeline_worker_wait_report_stopped(struct pipeline_worker *r)
{
    struct pipeline_worker_rounds *rounds = &r->rounds;
    uint64_t hash =
        r->err.http_status == 401 ? 401 : text_hash(r->err.message, strlen(r->err.message));
    if (hash != rounds->stopped_hash) {
        pipeline_worker_wait_record(r, &r->err);
    }
    if (hash != rounds->stopped_hash && !(rounds->stopped_drift && r->err.drift)) {
        log_err(LOG_ERROR, "stopped", r->name, &r->err);
    }
    rounds->stopped_hash = hash;
    rounds->stopped_drift = r->err.drift;
}

void pipeline_worker_wait_for_repair(struct pipeline_worker *r, bool serves)
{
    int64_t now_us = clock_monotonic_us(&r->ports.clock);
    int64_t pause_ms = backoff_next_ms(&r->rounds.repair, clock_random(&r->ports.clock));
    r->rounds.broken_us = r->rounds.broken_us == 0 ? now_us : r->rounds.broken_us;
    status_snapshot_over(r->shared.snapshot, (int)err_exit_code(r->err.class), &r->err);
    pipeline_worker_wait_note_stall(r, STALL_STOPPED);
    if (serves) {
        pipeline_worker_publish(r, "stopped", NULL);
    }
    pipeline_worker_enter(r, "stopped");
    pipeline_worker_wait_report_stopped(r);
    if (serves) {
        pipeline_worker_wait_until(r, now_us + pause_ms * 1000, false);
    } else {
        pipeline_worker_pause_for(r, pause_ms);
    }
}
