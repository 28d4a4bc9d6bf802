/* SPDX-License-Identifier: Apache-2.0 */
/* A pipeline worker whose source has had no changes for a while: it leaves the source alone, so
 * that a database that suspends itself can. */
#include <sys/eventfd.h>
#include <unistd.h>

#include "rowferry/base/log.h"
#include "rowferry/state/notice.h"
#include "rowferry/state/request.h"
#include "worker/pipeline_worker_private.h"

#define LOOK_MS 10000     /* interval of heartbeats, and of looks if no notice arrives */
#define LOOK_SOON_MS 1000 /* interval of looks if none can arrive */
#define LEASE_LOOK_MS 1000

/* Returns true if a request waits; the next round carries it out. */
static bool pipeline_worker_quiet_asked(struct pipeline_worker *r)
{
    struct buf command;
    struct buf arguments;
    struct err err;
    int64_t id = 0;
    int rc = pipeline_worker_take_request(r, &id, &command, &arguments, &err);
    buf_release(&command);
    buf_release(&arguments);
    if (rc == 0 && id != 0) {
        rc = request_answer(r->session.state, id, REQUEST_FILED, "{}",
                            clock_wall_us(&r->ports.clock), &err);
    }
    if (rc < 0) {
        log_err(LOG_WARN, "not_answered", r->name, &err);
    }
    return rc < 0 || id != 0;
}

static void pipeline_worker_quiet_take_lease(struct pipeline_worker *r)
{
    r->ports.lease_rest(r->lease_holder, false);
    while (!pipeline_worker_stopped(r) && !pipeline_worker_lost(r) &&
           r->ports.lease_look(r->lease_holder, NULL) == LEASE_HOLDER_ASKING) {
        pipeline_worker_nap(r, -1, LEASE_LOOK_MS);
    }
}

/* Waits for `ms`, an order, or a write of the state file. */
static void pipeline_worker_quiet_wait(struct pipeline_worker *r, int notice_fd, int64_t ms)
{
    struct pollfd fds[] = {{.fd = r->shared.wake_fd, .events = POLLIN},
                           {.fd = notice_fd, .events = POLLIN}};
    eventfd_t ignored;
    pipeline_worker_note_alive(r);
    (void)r->ports.wait(r->ports.context, fds, 2, (int)ms);
    (void)notice_take(notice_fd);
    if (pipeline_worker_order_of(r) == PIPELINE_WORKER_GO_ON) {
        (void)eventfd_read(r->shared.wake_fd, &ignored);
    }
}

void pipeline_worker_stay_quiet(struct pipeline_worker *r)
{
    int64_t quiet_ms = r->session.config->source.quiet_ms;
    int64_t left_ms = quiet_ms;
    int64_t until_us = clock_monotonic_us(&r->ports.clock) + quiet_ms * 1000;
    int notice_fd = notice_open(r->session.state);
    int64_t look_ms = notice_fd >= 0 ? LOOK_MS : LOOK_SOON_MS;
    log_event(r->rounds.rested ? LOG_DEBUG : LOG_INFO, "quiet", F_TEXT("pipeline", r->name),
              F_INT("quiet_s", quiet_ms / 1000));
    r->ports.lease_rest(r->lease_holder, true);
    while (left_ms > 0 && pipeline_worker_order_of(r) == PIPELINE_WORKER_GO_ON &&
           !pipeline_worker_quiet_asked(r)) {
        pipeline_worker_quiet_wait(r, notice_fd, left_ms < look_ms ? left_ms : look_ms);
        left_ms = (until_us - clock_monotonic_us(&r->ports.clock)) / 1000;
    }
    if (notice_fd >= 0) {
        close(notice_fd);
    }
    pipeline_worker_quiet_take_lease(r);
}
