/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time and randomness, passed as an argument so that the simulation can control both.
 *
 * wall_us may jump in either direction; it is used for versions and displayed times. monotonic_us
 * never goes back; it is used for waits and rates. Both are in microseconds.
 */
#pragma once

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

struct clock {
    int64_t (*wall_us)(void *context);
    int64_t (*monotonic_us)(void *context);
    uint64_t (*random_u64)(void *context); /* uniform over all 64 bits */
    void *context;
};

/* Returns the system's clock: CLOCK_REALTIME, CLOCK_MONOTONIC and getrandom. */
struct clock clock_system(void);

static inline int64_t clock_wall_us(const struct clock *c)
{
    return c->wall_us(c->context);
}

static inline int64_t clock_monotonic_us(const struct clock *c)
{
    return c->monotonic_us(c->context);
}

static inline uint64_t clock_random(const struct clock *c)
{
    return c->random_u64(c->context);
}

/* Sleeps for `ms`, or until shortly after *stop is set; stop may be null. */
void clock_sleep(int64_t ms, const volatile sig_atomic_t *stop);

#define CLOCK_ISO_BYTES 28 /* "2026-11-21T10:00:00.123456Z" and NUL */

/* Writes wall_us as ISO 8601 in UTC, with `digits` (0 to 6) digits of the fraction, into
 * out[CLOCK_ISO_BYTES]. Returns out. */
char *clock_iso(char *out, int64_t wall_us, int digits);
