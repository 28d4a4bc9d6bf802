/* SPDX-License-Identifier: Apache-2.0 */
/* The system's clock and randomness, and ISO 8601. */
#include "rowferry/base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "rowferry/base/stop.h"

#define US_PER_S 1000000
#define SLICE_US 50000 /* a stop is noticed so late */

static int64_t clock_read_us(clockid_t id)
{
    struct timespec now;
    if (clock_gettime(id, &now) != 0) {
        abort();
    }
    return (int64_t)now.tv_sec * US_PER_S + now.tv_nsec / 1000;
}

static int64_t clock_system_wall_us(void *context)
{
    (void)context;
    return clock_read_us(CLOCK_REALTIME);
}

static int64_t clock_system_monotonic_us(void *context)
{
    (void)context;
    return clock_read_us(CLOCK_MONOTONIC);
}

static uint64_t clock_system_random(void *context)
{
    (void)context;
    uint64_t value = 0;
    ssize_t got;
    do {
        got = getrandom(&value, sizeof(value), 0);
    } while (got < 0 && errno == EINTR);
    if (got != (ssize_t)sizeof(value)) {
        abort();
    }
    return value;
}

struct clock clock_system(void)
{
    return (struct clock){clock_system_wall_us, clock_system_monotonic_us, clock_system_random,
                          NULL};
}

void clock_sleep(int64_t ms, const volatile sig_atomic_t *stop)
{
    int64_t until_us = clock_read_us(CLOCK_MONOTONIC) + ms * 1000;
    int64_t left_us = ms * 1000;
    while (left_us > 0 && !stop_is_set(stop)) {
        int64_t step_us = stop != NULL && left_us > SLICE_US ? SLICE_US : left_us;
        const struct timespec step = {step_us / US_PER_S, step_us % US_PER_S * 1000};
        nanosleep(&step, NULL);
        left_us = until_us - clock_read_us(CLOCK_MONOTONIC);
    }
}

/* Limits s to the years 1 to 9999, which four digits can represent. */
static int64_t clock_clamp_s(int64_t s)
{
    const int64_t first = -62135596800; /* 0001-01-01T00:00:00Z */
    const int64_t last = 253402300799;  /* 9999-12-31T23:59:59Z */
    return s < first ? first : s > last ? last : s;
}

char *clock_iso(char *out, int64_t wall_us, int digits)
{
    int64_t s = wall_us / US_PER_S;
    int64_t fraction = wall_us % US_PER_S;
    if (fraction < 0) {
        fraction += US_PER_S;
        s--;
    }
    time_t when = (time_t)clock_clamp_s(s);
    struct tm tm;
    gmtime_r(&when, &tm);
    char whole[64];
    snprintf(whole, sizeof(whole), "%04d-%02d-%02dT%02d:%02d:%02d.%06d", tm.tm_year + 1900,
             tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)fraction);
    digits = digits < 0 ? 0 : digits > 6 ? 6 : digits;
    int kept = digits == 0 ? 19 : 20 + digits;
    snprintf(out, CLOCK_ISO_BYTES, "%.*sZ", kept, whole);
    return out;
}
