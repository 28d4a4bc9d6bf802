/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Back-off as pure arithmetic: full jitter over a doubling ceiling.
 *
 * The n-th wait is uniform in (0, min(max_ms, base_ms * 2^n)]: many clients that failed together
 * do not come back together. Why to retry is decided elsewhere; this says only how long to wait.
 */
#ifndef ROWFERRY_BASE_BACKOFF_H
#define ROWFERRY_BASE_BACKOFF_H

#include <stdint.h>

struct backoff {
    int64_t base_ms;
    int64_t max_ms;
    unsigned attempt; /* waits handed out since the last success */
};

void backoff_init(struct backoff *b, int64_t base_ms, int64_t max_ms);

/* The next wait in ms (at least 1). random: uniform over all 64 bits. */
int64_t backoff_next_ms(struct backoff *b, uint64_t random);

/* After a success: the next wait is short again. */
void backoff_reset(struct backoff *b);

#endif
