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

static bool is_stopped(const struct replica *r)
{
    return replica_order_of(r) == REPLICA_STOP;
}

/* Waits for `ms`, an order or a call of the lease thread. */
static void nap(struct replica *r, int64_t ms)
{
    struct pollfd wake = {.fd = r->wake_fd, .events = POLLIN};
    replica_note_alive(r);
    (void)poll(&wake, 1, (int)ms);
    if (!is_stopped(r)) { /* no round runs that the order could restart */
        replica_order_done(r);
    }
}

static void begin_waiting(struct replica *r, const struct err *why)
{
    if (!r->stood_by) {
        log_event(LOG_INFO, "standing_by", F_TEXT("pipeline", r->name),
                  F_TEXT("message", why->message));
    }
    r->stood_by = true;
    replica_enter(r, WORK_STANDING_BY);
}

/* --- on this host ----------------------------------------------------------------------------- */

static int hold_here(struct replica *r, struct err *err)
{
    int rc = session_hold(&r->session, err);
    while (rc == ERR_HELD && r->waits && !is_stopped(r)) {
        begin_waiting(r, err);
        nap(r, LOOK_MS + (int64_t)(clock_random(&r->session.clock) % LOOK_MS));
        rc = session_hold(&r->session, err);
    }
    return rc == ERR_HELD && is_stopped(r) ? 0 : rc;
}

/* --- among all hosts -------------------------------------------------------------------------- */

static void on_keeper(void *context, enum keeper_state state)
{
    struct replica *r = context;
    if (state == KEEPER_TAKEN && atomic_load(&r->works)) {
        atomic_store(&r->lost, true);
        replica_tell(r, REPLICA_BEGIN_ANEW);
    } else {
        (void)eventfd_write(r->wake_fd, 1);
    }
}

static int start_keeper(struct replica *r, struct err *err)
{
    const struct keeper_options options = {.pipeline = r->name,
                                           .command = r->command,
                                           .settings = r->settings,
                                           .call = on_keeper,
                                           .context = r};
    return r->keeper == NULL ? keeper_start(&r->keeper, &options, err) : 0;
}

/* Records for `status` that the worker stands by. No other process writes this state file. */
static void tell_waiting(struct replica *r, const struct err *why, int64_t *told_us)
{
    struct err err;
    int64_t now_us = clock_monotonic_us(&r->session.clock);
    struct working working = {.told_us = clock_wall_us(&r->session.clock),
                              .stage = WORK_STANDING_BY,
                              .share = -1,
                              .remaining_ms = -1,
                              .lag_rows = -1};
    if (*told_us != 0 && now_us - *told_us < TELL_US) {
        return;
    }
    *told_us = now_us;
    snprintf(working.frozen, sizeof(working.frozen), "%.127s", why->message);
    if (working_tell(r->session.state, &working, &err) < 0) {
        log_err(LOG_WARN, "not_told", r->name, &err);
    }
}

static bool has_mirror(const struct replica *r)
{
    return r->session.pipeline->from.capture_mode != CAPTURE_MODE_CURSOR;
}

static int refuse_standby(const struct replica *r, struct err *err)
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
static int hold_there(struct replica *r, struct err *err)
{
    int64_t told_us = 0;
    for (enum keeper_state state = KEEPER_ASKING; !is_stopped(r);) {
        state = keeper_look(r->keeper, err);
        if (state == KEEPER_HOLDS || (state == KEEPER_UNSURE && told_us == 0)) {
            return 0;
        }
        if (state == KEEPER_TAKEN && (!r->waits || !has_mirror(r))) {
            return refuse_standby(r, err);
        }
        if (state == KEEPER_TAKEN) {
            begin_waiting(r, err);
            tell_waiting(r, err, &told_us);
        }
        nap(r, SIGN_MS);
    }
    return 0;
}

int replica_hold(struct replica *r, struct err *err)
{
    bool again = atomic_load(&r->lost);
    atomic_store(&r->works, false);
    atomic_store(&r->lost, false);
    r->stood_by = false;
    int rc = again ? 0 : hold_here(r, err);
    if (rc == 0 && !is_stopped(r)) {
        rc = start_keeper(r, err);
    }
    if (rc == 0) {
        rc = hold_there(r, err);
    }
    if (rc < 0 || is_stopped(r)) {
        return rc;
    }
    r->fresh = true;
    r->session.fences = keeper_look(r->keeper, NULL) == KEEPER_HOLDS;
    r->stood_by = r->stood_by || again;
    atomic_store(&r->works, true);
    if (r->stood_by) {
        log_event(LOG_WARN, "took_over", F_TEXT("pipeline", r->name));
        replica_enter(r, "starting");
    }
    if (keeper_look(r->keeper, NULL) == KEEPER_TAKEN) { /* the lease was lost since the last look */
        on_keeper(r, KEEPER_TAKEN);
    }
    return 0;
}

int replica_tell_lost(struct replica *r, struct err *err)
{
    (void)keeper_look(r->keeper, err);
    err->class = ERR_HELD;
    (void)err_context(err, "the pipeline was lost to another holder");
    log_err(LOG_WARN, "lost", r->name, err);
    replica_order_done(r);
    return ERR_HELD;
}
