/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes back-off delays: exponential, with full jitter. Pure arithmetic, no I/O.
 *
 * The n-th delay is uniform in (0, min(max_ms, base_ms * 2^n)], so that clients that failed at the
 * same time do not all retry at the same time. The caller decides whether to retry; this module
 * only computes how long to wait.
 */
#pragma once

#include <stdint.h>

struct backoff {
    int64_t base_ms;
    int64_t max_ms;
    unsigned attempt; /* delays returned since the last success */
};

void backoff_init(struct backoff *b, int64_t base_ms, int64_t max_ms);

/* Returns the next delay in ms (at least 1). `random` is uniform over all 64 bits. */
int64_t backoff_next_ms(struct backoff *b, uint64_t random);

/* Starts again with a short delay; to be called after a success. */
void backoff_reset(struct backoff *b);
