/* SPDX-License-Identifier: Apache-2.0 */
/* Orders to a pipeline worker, its stage, its heartbeat, and the waits that an order ends. */
#include <string.h>
#include <sys/eventfd.h>

#include "rowferry/state/notice.h"
#include "worker/pipeline_worker_private.h"

#define HEARTBEAT_MAX_MS 10000 /* maximum time between two heartbeats */

enum pipeline_worker_order pipeline_worker_order_of(const struct pipeline_worker *r)
{
    return (enum pipeline_worker_order)__atomic_load_n(&r->shared.order, __ATOMIC_RELAXED);
}

bool pipeline_worker_stopped(const struct pipeline_worker *r)
{
    return pipeline_worker_order_of(r) == PIPELINE_WORKER_STOP;
}

bool pipeline_worker_lost(const struct pipeline_worker *r)
{
    return atomic_load(&r->shared.hold) == PIPELINE_WORKER_LOST;
}

void pipeline_worker_send_order(struct pipeline_worker *r, enum pipeline_worker_order order)
{
    sig_atomic_t before = __atomic_load_n(&r->shared.order, __ATOMIC_RELAXED);
    while (before < (sig_atomic_t)order &&
           !__atomic_compare_exchange_n(&r->shared.order, &before, (sig_atomic_t)order, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    if (order == PIPELINE_WORKER_STOP) {
        rebuild_worker_stop(&r->rebuild_worker);
    }
    (void)eventfd_write(r->shared.wake_fd, 1);
}

void pipeline_worker_order_done(struct pipeline_worker *r)
{
    sig_atomic_t before = PIPELINE_WORKER_BEGIN_ANEW;
    eventfd_t ignored;
    (void)eventfd_read(r->shared.wake_fd, &ignored);
    __atomic_compare_exchange_n(&r->shared.order, &before, PIPELINE_WORKER_GO_ON, false,
                                __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void pipeline_worker_enter(struct pipeline_worker *r, const char *stage)
{
    if (atomic_exchange(&r->shared.stage, stage) == stage) {
        return;
    }
    status_snapshot_enter(r->shared.snapshot, stage, clock_wall_us(&r->ports.clock));
    if (r->mode != PIPELINE_WORKER_UNTIL_REBUILT) {
        pthread_kill(r->watcher, SIGUSR1);
    }
}

const char *pipeline_worker_stage(const struct pipeline_worker *r)
{
    return atomic_load(&r->shared.stage);
}

void pipeline_worker_note_alive(struct pipeline_worker *r)
{
    __atomic_store_n(&r->shared.alive_us, clock_monotonic_us(&r->ports.clock), __ATOMIC_RELAXED);
}

int64_t pipeline_worker_silent_ms(const struct pipeline_worker *r, int64_t now_us)
{
    if (strcmp(pipeline_worker_stage(r), "ended") == 0) {
        return 0;
    }
    return (now_us - __atomic_load_n(&r->shared.alive_us, __ATOMIC_RELAXED)) / 1000;
}

/* Orders are stored before the descriptor is written, so no order is missed. */
void pipeline_worker_pause_for(struct pipeline_worker *r, int64_t ms)
{
    int64_t until_us = clock_monotonic_us(&r->ports.clock) + ms * 1000;
    int64_t left_us = ms * 1000;
    struct pollfd wake = {.fd = r->shared.wake_fd, .events = POLLIN};
    eventfd_t ignored;
    while (pipeline_worker_order_of(r) == PIPELINE_WORKER_GO_ON && left_us > 0) {
        pipeline_worker_note_alive(r);
        int64_t wait_ms = (left_us + 999) / 1000;
        (void)r->ports.wait(r->ports.context, &wake, 1,
                            (int)(wait_ms < HEARTBEAT_MAX_MS ? wait_ms : HEARTBEAT_MAX_MS));
        if (pipeline_worker_order_of(r) == PIPELINE_WORKER_GO_ON) {
            (void)eventfd_read(r->shared.wake_fd, &ignored);
        }
        left_us = until_us - clock_monotonic_us(&r->ports.clock);
    }
}

void pipeline_worker_nap(struct pipeline_worker *r, int notice_fd, int64_t ms)
{
    struct pollfd fds[] = {{.fd = r->shared.wake_fd, .events = POLLIN},
                           {.fd = notice_fd, .events = POLLIN}};
    pipeline_worker_note_alive(r);
    (void)r->ports.wait(r->ports.context, fds, 2, (int)ms);
    if (notice_fd >= 0) {
        (void)notice_take(notice_fd);
    }
    if (!pipeline_worker_stopped(r) && !pipeline_worker_lost(r)) {
        pipeline_worker_order_done(r);
    }
}
