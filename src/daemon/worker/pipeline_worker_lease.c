/* SPDX-License-Identifier: Apache-2.0 */
/* How a pipeline worker becomes the holder, stands by until then, and loses the pipeline. */
#include <sys/eventfd.h>

#include "rowferry/base/log.h"
#include "worker/pipeline_worker_private.h"

#define LOCK_TRY_MS                                                                                \
    1000 /* interval of tries of the lock beside the state file, plus a random part */
#define PUBLISH_US INT64_C(60000000) /* interval at which the standby state is recorded */
#define LEASE_LOOK_MS 10000

static void pipeline_worker_lease_begin_waiting(struct pipeline_worker *r, const struct err *why)
{
    if (r->rivals != RIVALS_ACTIVE) {
        log_event(LOG_INFO, "standing_by", F_TEXT("pipeline", r->name),
                  F_TEXT("message", why->message));
    }
    r->rivals = RIVALS_ACTIVE;
    pipeline_worker_enter(r, LIVE_PROGRESS_STANDING_BY);
}

/* --- on this host ----------------------------------------------------------------------------- */

static int pipeline_worker_lease_hold_here(struct pipeline_worker *r, struct err *err)
{
    int rc = session_hold(&r->session, err);
    while (rc == ERR_HELD && r->mode == PIPELINE_WORKER_STANDS_BY && !pipeline_worker_stopped(r)) {
        pipeline_worker_lease_begin_waiting(r, err);
        pipeline_worker_nap(r, -1,
                            LOCK_TRY_MS + (int64_t)(clock_random(&r->ports.clock) % LOCK_TRY_MS));
        rc = session_hold(&r->session, err);
    }
    return rc == ERR_HELD && pipeline_worker_stopped(r) ? 0 : rc;
}

/* --- among all hosts -------------------------------------------------------------------------- */

static void pipeline_worker_lease_on_state(void *context, enum lease_holder_state state)
{
    struct pipeline_worker *r = context;
    int holds = PIPELINE_WORKER_HOLDS;
    if (state == LEASE_HOLDER_TAKEN &&
        atomic_compare_exchange_strong(&r->shared.hold, &holds, PIPELINE_WORKER_LOST)) {
        pipeline_worker_send_order(r, PIPELINE_WORKER_BEGIN_ANEW);
    } else {
        (void)eventfd_write(r->shared.wake_fd, 1);
    }
}

static int pipeline_worker_lease_start_holder(struct pipeline_worker *r, struct err *err)
{
    const struct lease_holder_options options = {.keeper = r->lease_keeper,
                                                 .pipeline = r->name,
                                                 .call = pipeline_worker_lease_on_state,
                                                 .context = r};
    return r->lease_holder == NULL ? r->ports.lease_start(&r->lease_holder, &options, err) : 0;
}

/* Records for `status` that the worker stands by. No other process writes this state file. */
static void pipeline_worker_lease_report_waiting(struct pipeline_worker *r, const struct err *why,
                                                 int64_t *published_us)
{
    int64_t now_us = clock_monotonic_us(&r->ports.clock);
    if (*published_us == 0 || now_us - *published_us >= PUBLISH_US) {
        *published_us = now_us;
        pipeline_worker_publish(r, LIVE_PROGRESS_STANDING_BY, why->message);
    }
}

static int pipeline_worker_lease_refuse_standby(const struct pipeline_worker *r, struct err *err)
{
    if (r->mode == PIPELINE_WORKER_STANDS_BY) {
        err_context(err, "cannot stand by with a state file of its own: capture mode cursor keeps "
                         "no position in the source");
        return err_hint(
            err,
            "stand by on the holder's host, with its state file; or use capture mode changelog");
    }
    return (int)err->class;
}

/* Waits for the lease. If the source is unreachable, returns 0 so that the first round reports the
 * error. Continues to wait if another process is known to have held the lease last. */
static int pipeline_worker_lease_hold_there(struct pipeline_worker *r, struct err *err)
{
    /* with a state file of its own, it can take over only if the source keeps the position */
    bool waits = r->mode == PIPELINE_WORKER_STANDS_BY &&
                 capture_traits(r->session.pipeline->from.capture_mode)->keeps;
    int64_t published_us = 0;
    while (!pipeline_worker_stopped(r)) {
        enum lease_holder_state state = r->ports.lease_look(r->lease_holder, err);
        if (state == LEASE_HOLDER_HOLDS || (state == LEASE_HOLDER_UNSURE && published_us == 0)) {
            return 0;
        }
        if (state == LEASE_HOLDER_TAKEN && !waits) {
            return pipeline_worker_lease_refuse_standby(r, err);
        }
        if (state == LEASE_HOLDER_TAKEN) {
            pipeline_worker_lease_begin_waiting(r, err);
            pipeline_worker_lease_report_waiting(r, err, &published_us);
        }
        pipeline_worker_nap(r, -1, LEASE_LOOK_MS);
    }
    return 0;
}

bool pipeline_worker_has_lease(const struct pipeline_worker *r)
{
    return r->lease_holder != NULL &&
           r->ports.lease_look(r->lease_holder, NULL) == LEASE_HOLDER_HOLDS;
}

int pipeline_worker_hold(struct pipeline_worker *r, struct err *err)
{
    bool lost = pipeline_worker_lost(r); /* then the lock on this host is still held */
    atomic_store(&r->shared.hold, PIPELINE_WORKER_HOLDS_NOTHING);
    r->rivals = RIVALS_POSSIBLE;
    int rc = lost ? 0 : pipeline_worker_lease_hold_here(r, err);
    if (rc == 0 && !pipeline_worker_stopped(r)) {
        rc = pipeline_worker_lease_start_holder(r, err);
    }
    if (rc == 0) {
        rc = pipeline_worker_lease_hold_there(r, err);
    }
    if (rc < 0 || pipeline_worker_stopped(r)) {
        return rc;
    }
    r->session.fences = pipeline_worker_has_lease(r);
    atomic_store(&r->shared.hold, PIPELINE_WORKER_HOLDS);
    if (lost || r->rivals == RIVALS_ACTIVE) {
        r->rivals = RIVALS_ACTIVE;
        log_event(LOG_WARN, "took_over", F_TEXT("pipeline", r->name));
        pipeline_worker_enter(r, "starting");
    }
    if (r->ports.lease_look(r->lease_holder, NULL) == LEASE_HOLDER_TAKEN) {
        pipeline_worker_lease_on_state(r, LEASE_HOLDER_TAKEN); /* lost since the last look */
    }
    return 0;
}

int pipeline_worker_report_lost(struct pipeline_worker *r, struct err *err)
{
    (void)r->ports.lease_look(r->lease_holder, err);
    err->class = ERR_HELD;
    (void)err_context(err, "the pipeline was lost to another holder");
    log_err(LOG_WARN, "lost", r->name, err);
    pipeline_worker_order_done(r);
    return ERR_HELD;
}
