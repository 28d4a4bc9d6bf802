/* SPDX-License-Identifier: Apache-2.0 */
/* Exponential back-off with full jitter. */
#include "rowferry/base/backoff.h"

#include <limits.h>

void backoff_init(struct backoff *b, int64_t base_ms, int64_t max_ms)
{
    *b = (struct backoff){.base_ms = base_ms, .max_ms = max_ms};
}

static int64_t backoff_ceiling_ms(const struct backoff *b)
{
    int64_t ceiling = b->base_ms > 0 ? b->base_ms : 1;
    for (unsigned i = 0; i < b->attempt && ceiling < b->max_ms; i++) {
        if (__builtin_mul_overflow(ceiling, 2, &ceiling)) {
            ceiling = INT64_MAX;
        }
    }
    ceiling = ceiling < b->max_ms ? ceiling : b->max_ms;
    return ceiling > 0 ? ceiling : 1;
}

int64_t backoff_next_ms(struct backoff *b, uint64_t random)
{
    uint64_t ceiling = (uint64_t)backoff_ceiling_ms(b);
    if (b->attempt < UINT_MAX) {
        b->attempt++;
    }
    return 1 + (int64_t)(random % ceiling);
}

void backoff_reset(struct backoff *b)
{
    b->attempt = 0;
}
