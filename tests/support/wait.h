/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Polling with a deadline, instead of sleeping for a fixed time.
 *
 *     struct deadline d = deadline_after(WAIT_MS);
 *     while (!condition()) {
 *         ck_assert(deadline_wait(&d));
 *     }
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* For events that certainly occur. Waits end with the event; a busy machine may take long. */
#define WAIT_MS 120000

/* The same for a command until its end. */
#define RUN_MS 240000

struct deadline {
    int64_t end_ms;
};

static inline int64_t deadline_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static inline struct deadline deadline_after(int64_t ms)
{
    return (struct deadline){deadline_now_ms() + ms};
}

/* Pauses briefly. Returns false once the deadline has passed. */
static inline bool deadline_wait(const struct deadline *d)
{
    const struct timespec pause = {0, 2000000};
    nanosleep(&pause, NULL);
    return deadline_now_ms() < d->end_ms;
}
