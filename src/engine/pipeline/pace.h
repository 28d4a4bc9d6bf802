/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Polling interval of a source: short while changes arrive, growing while none do. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Minimum interval, even if the source sends notifications more often. */
#define PACE_CALLED_MS 5

struct pace {
    int64_t min_ms, max_ms;
    int64_t interval_ms; /* from the end of the last poll to the next one */
    int64_t ended_us;    /* monotonic: end of the last poll; 0 = none yet */
    bool called;         /* the source has sent a notification since then */
};

void pace_init(struct pace *p, int64_t min_ms, int64_t max_ms);

/* Returns the next interval: min_ms after a poll that found changes, else twice the last one up to
 * max_ms. */
int64_t pace_interval_ms(const struct pace *p, bool found);

/* Records the end of a poll. */
void pace_ended(struct pace *p, int64_t now_us, bool found);

/* Records a notification of the source: the next poll is due at once. */
void pace_call(struct pace *p);

/* Returns when the next poll is due, monotonic. */
int64_t pace_due_us(const struct pace *p);
