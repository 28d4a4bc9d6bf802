/* SPDX-License-Identifier: Apache-2.0 */
/* How long a turn of the loop sleeps, and what wakes it. */
#include "pipeline/loop.h"

#define LOOP_WAIT_MAX_MS 250
#define LOOP_WAIT_WAKEUP_MAX_MS 1000 /* maximum if a wakeup descriptor is open */

static int64_t loop_wait_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Returns how much longer the current batch may wait for more changes. No limit during the initial
 * load, because the next rows follow at once. */
static int64_t loop_wait_linger_ms(const struct loop *l, int64_t now_us)
{
    int64_t until_us = l->reading.filled_us + l->options->follow.linger_ms * 1000;
    if (!l->view.following.on || l->reading.filled_us == 0 ||
        source_reader_copies(&l->source_reader)) {
        return INT64_MAX;
    }
    return until_us <= now_us ? 0 : (until_us - now_us + 999) / 1000;
}

void loop_wait_linger(struct loop *l)
{
    if (source_reader_fd(&l->source_reader) < 0 ||
        loop_wait_linger_ms(l, clock_monotonic_us(&l->view.clock)) == 0) {
        sender_flush(&l->sender);
        l->reading.filled_us = 0;
    }
}

/* Waits until the next poll is due or a wakeup arrives. */
static int loop_wait_until_due(struct loop *l, int64_t now_us, int64_t timeout_ms, struct err *err)
{
    int source_fd;
    int64_t due_ms = follow_wait_ms(l, now_us, &source_fd);
    int fd = wakeup_fd(&l->follow.wakeup, source_fd);
    bool readable;
    l->requests.belled = fd >= 0;
    if (fd >= 0 && timeout_ms == LOOP_WAIT_MAX_MS && !loop_commit_pending(l)) {
        timeout_ms = LOOP_WAIT_WAKEUP_MAX_MS;
    }
    int rc = l->view.service.ops->bulk.wait(l->view.service.self, fd >= 0 ? fd : source_fd,
                                            loop_wait_least(timeout_ms, due_ms), &readable, err);
    bool called = readable;
    if (rc == 0 && fd >= 0 && readable) {
        wakeup_ask(&l->follow.wakeup, &called, &l->requests.noticed);
    }
    if (rc == 0 && called) {
        follow_called(l);
    }
    return rc;
}

int loop_wait_sleep(struct loop *l, bool reading, bool waiting, struct err *err)
{
    int64_t now = clock_monotonic_us(&l->view.clock);
    int64_t timeout_ms = LOOP_WAIT_MAX_MS;
    int64_t due_us = sender_next_due_us(&l->sender, now);
    if (due_us != INT64_MAX && !loop_stopping(l)) {
        timeout_ms = loop_wait_least(timeout_ms, due_us <= now ? 1 : (due_us - now + 999) / 1000);
    }
    int fd = -1;
    l->requests.belled = false;
    if (waiting) {
        fd = source_reader_fd(&l->source_reader);
        if (fd < 0) {
            timeout_ms = loop_wait_least(timeout_ms, retry_budget_wait_ms(&l->source_retry, now));
        }
        timeout_ms = loop_wait_least(timeout_ms, loop_wait_linger_ms(l, now));
    } else if (reading) {
        timeout_ms = 0;
    } else if (loop_view_rests(&l->view) && !loop_stopping(l) &&
               l->options->mode != PIPELINE_REQUESTS) {
        return loop_wait_until_due(l, now, timeout_ms, err);
    }
    bool readable;
    return l->view.service.ops->bulk.wait(l->view.service.self, fd, timeout_ms, &readable, err);
}
