/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often a source is polled: often while changes arrive, less and less often while none do.
 * Pure.
 */
#ifndef ROWFERRY_ENGINE_PACE_H
#define ROWFERRY_ENGINE_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* Not more often than this, however often the source calls. */
#define PACE_CALLED_MS 5

struct pace {
    int64_t min_ms, max_ms;
    int64_t interval_ms; /* between the last poll's end and the next one */
    int64_t ended_us;    /* monotonic: the last poll's end; 0 = none yet */
    bool called;         /* the source has said since that something is there */
};

void pace_init(struct pace *p, int64_t min_ms, int64_t max_ms);

/* After a poll that found changes it is min_ms, else twice what it was before, at most max_ms. */
int64_t pace_interval_ms(const struct pace *p, bool found);

/* A poll has ended. */
void pace_ended(struct pace *p, int64_t now_us, bool found);

/* The source calls: the next poll need not wait for its time. */
void pace_call(struct pace *p);

/* When the next poll is due, monotonic. */
int64_t pace_due_us(const struct pace *p);

#endif
