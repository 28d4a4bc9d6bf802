/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time and chance as arguments, so that the simulation can own both.
 *
 * wall_us may jump either way (it feeds versions and what people read); monotonic_us never goes
 * back (it feeds waits and rates). Both in microseconds.
 */
#ifndef ROWFERRY_BASE_CLOCK_H
#define ROWFERRY_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

struct clock {
    int64_t (*wall_us)(void *context);
    int64_t (*monotonic_us)(void *context);
    uint64_t (*random_u64)(void *context); /* uniform over all 64 bits */
    void *context;
};

/* The machine's own: CLOCK_REALTIME, CLOCK_MONOTONIC, getrandom. */
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

#define CLOCK_ISO_BYTES 28 /* "2026-11-21T10:00:00.123456Z" and NUL */

/* ISO 8601 UTC with `digits` (0 to 6) of the fraction, into out[CLOCK_ISO_BYTES]; returns out. */
char *clock_iso(char *out, int64_t wall_us, int digits);

#endif
