/* SPDX-License-Identifier: Apache-2.0 */
/* How a pipeline worker becomes the holder, stands by until then, and loses the pipeline. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>

#include "pipeline_worker_private.h"
#include "rowferry/base/log.h"
#include "rowferry/state/live_progress.h"

#define LOOK_MS 1000 /* interval of tries of the lock beside the state file, plus a random part */
#define TELL_US INT64_C(60000000) /* interval at which the standby state is recorded */
#define SIGN_MS 10000

static bool pipeline_worker_lease_is_stopped(const struct pipeline_worker *r)
{
    return pipeline_worker_order_of(r) == PIPELINE_WORKER_STOP;
}

/* Waits for `ms`, an order or a call of the lease thread. */
static void pipeline_worker_lease_nap(struct pipeline_worker *r, int64_t ms)
{
    struct pollfd wake = {.fd = r->wake_fd, .events = POLLIN};
    pipeline_worker_note_alive(r);
    (void)poll(&wake, 1, (int)ms);
    if (!pipeline_worker_lease_is_stopped(r)) { /* no round runs that the order could restart */
        pipeline_worker_order_done(r);
    }
}

static void pipeline_worker_lease_begin_waiting(struct pipeline_worker *r, const struct err *why)
{
    if (!r->stood_by) {
        log_event(LOG_INFO, "standing_by", F_TEXT("pipeline", r->name),
                  F_TEXT("message", why->message));
    }
    r->stood_by = true;
    pipeline_worker_enter(r, LIVE_PROGRESS_STANDING_BY);
}

/* --- on this host ----------------------------------------------------------------------------- */

static int pipeline_worker_lease_hold_here(struct pipeline_worker *r, struct err *err)
{
    int rc = session_hold(&r->session, err);
    while (rc == ERR_HELD && r->waits && !pipeline_worker_lease_is_stopped(r)) {
        pipeline_worker_lease_begin_waiting(r, err);
        pipeline_worker_lease_nap(r,
                                  LOOK_MS + (int64_t)(clock_random(&r->session.clock) % LOOK_MS));
        rc = session_hold(&r->session, err);
    }
    return rc == ERR_HELD && pipeline_worker_lease_is_stopped(r) ? 0 : rc;
}

/* --- among all hosts -------------------------------------------------------------------------- */

static void pipeline_worker_lease_on_state(void *context, enum lease_holder_state state)
{
    struct pipeline_worker *r = context;
    if (state == LEASE_HOLDER_TAKEN && atomic_load(&r->works)) {
        atomic_store(&r->lost, true);
        pipeline_worker_send_order(r, PIPELINE_WORKER_BEGIN_ANEW);
    } else {
        (void)eventfd_write(r->wake_fd, 1);
    }
}

static int pipeline_worker_lease_start_holder(struct pipeline_worker *r, struct err *err)
{
    const struct lease_holder_options options = {.pipeline = r->name,
                                                 .command = r->command,
                                                 .settings = r->settings,
                                                 .call = pipeline_worker_lease_on_state,
                                                 .context = r};
    return r->lease_holder == NULL ? lease_holder_start(&r->lease_holder, &options, err) : 0;
}

/* Records for `status` that the worker stands by. No other process writes this state file. */
static void pipeline_worker_lease_report_waiting(struct pipeline_worker *r, const struct err *why,
                                                 int64_t *told_us)
{
    struct err err;
    int64_t now_us = clock_monotonic_us(&r->session.clock);
    struct live_progress working = {.told_us = clock_wall_us(&r->session.clock),
                                    .stage = LIVE_PROGRESS_STANDING_BY,
                                    .share = -1,
                                    .remaining_ms = -1,
                                    .lag_rows = -1};
    if (*told_us != 0 && now_us - *told_us < TELL_US) {
        return;
    }
    *told_us = now_us;
    snprintf(working.frozen, sizeof(working.frozen), "%.127s", why->message);
    if (live_progress_write(r->session.state, &working, &err) < 0) {
        log_err(LOG_WARN, "not_told", r->name, &err);
    }
}

static bool pipeline_worker_lease_has_mirror(const struct pipeline_worker *r)
{
    return capture_traits(r->session.pipeline->from.capture_mode)->keeps;
}

static int pipeline_worker_lease_refuse_standby(const struct pipeline_worker *r, struct err *err)
{
    if (r->waits) {
        err_context(err, "cannot stand by with a state file of its own: capture mode cursor keeps "
                         "no position in the source");
        return err_hint(err, "stand by on the holder's host, with its state file; or use capture "
                             "mode changelog");
    }
    return (int)err->class;
}

/* Waits for the lease. If the source is unreachable, returns 0 so that the first round reports the
 * error. Continues to wait if another process is known to have held the lease last. */
static int pipeline_worker_lease_hold_there(struct pipeline_worker *r, struct err *err)
{
    int64_t told_us = 0;
    for (enum lease_holder_state state = LEASE_HOLDER_ASKING;
         !pipeline_worker_lease_is_stopped(r);) {
        state = lease_holder_look(r->lease_holder, err);
        if (state == LEASE_HOLDER_HOLDS || (state == LEASE_HOLDER_UNSURE && told_us == 0)) {
            return 0;
        }
        if (state == LEASE_HOLDER_TAKEN && (!r->waits || !pipeline_worker_lease_has_mirror(r))) {
            return pipeline_worker_lease_refuse_standby(r, err);
        }
        if (state == LEASE_HOLDER_TAKEN) {
            pipeline_worker_lease_begin_waiting(r, err);
            pipeline_worker_lease_report_waiting(r, err, &told_us);
        }
        pipeline_worker_lease_nap(r, SIGN_MS);
    }
    return 0;
}

int pipeline_worker_hold(struct pipeline_worker *r, struct err *err)
{
    bool again = atomic_load(&r->lost);
    atomic_store(&r->works, false);
    atomic_store(&r->lost, false);
    r->stood_by = false;
    int rc = again ? 0 : pipeline_worker_lease_hold_here(r, err);
    if (rc == 0 && !pipeline_worker_lease_is_stopped(r)) {
        rc = pipeline_worker_lease_start_holder(r, err);
    }
    if (rc == 0) {
        rc = pipeline_worker_lease_hold_there(r, err);
    }
    if (rc < 0 || pipeline_worker_lease_is_stopped(r)) {
        return rc;
    }
    r->fresh = true;
    r->session.fences = lease_holder_look(r->lease_holder, NULL) == LEASE_HOLDER_HOLDS;
    r->stood_by = r->stood_by || again;
    atomic_store(&r->works, true);
    if (r->stood_by) {
        log_event(LOG_WARN, "took_over", F_TEXT("pipeline", r->name));
        pipeline_worker_enter(r, "starting");
    }
    if (lease_holder_look(r->lease_holder, NULL) ==
        LEASE_HOLDER_TAKEN) { /* the lease was lost since the last look */
        pipeline_worker_lease_on_state(r, LEASE_HOLDER_TAKEN);
    }
    return 0;
}

int pipeline_worker_report_lost(struct pipeline_worker *r, struct err *err)
{
    (void)lease_holder_look(r->lease_holder, err);
    err->class = ERR_HELD;
    (void)err_context(err, "the pipeline was lost to another holder");
    log_err(LOG_WARN, "lost", r->name, err);
    pipeline_worker_order_done(r);
    return ERR_HELD;
}
