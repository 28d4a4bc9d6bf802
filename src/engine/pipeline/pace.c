/* SPDX-License-Identifier: Apache-2.0 */
/* The interval between two polls. */
#include "pipeline/pace.h"

void pace_init(struct pace *p, int64_t min_ms, int64_t max_ms)
{
    *p = (struct pace){.min_ms = min_ms, .max_ms = max_ms, .interval_ms = min_ms};
}

int64_t pace_interval_ms(const struct pace *p, bool found)
{
    if (found) {
        return p->min_ms;
    }
    return p->interval_ms < p->max_ms / 2 ? p->interval_ms * 2 : p->max_ms;
}

void pace_ended(struct pace *p, int64_t now_us, bool found)
{
    p->interval_ms = pace_interval_ms(p, found);
    p->ended_us = now_us;
    p->called = false;
}

void pace_call(struct pace *p)
{
    p->called = true;
}

int64_t pace_due_us(const struct pace *p)
{
    int64_t wait_ms = p->interval_ms;
    if (p->called && wait_ms > PACE_CALLED_MS) {
        wait_ms = PACE_CALLED_MS;
    }
    return p->ended_us + wait_ms * 1000;
}
