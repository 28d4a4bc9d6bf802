/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the loop measures of itself: how far the index is behind, in time and in changes, how old a
 * change is when it is acknowledged, who holds the source's watermark, and whether it gets on.
 *
 * It costs an idle pipeline one short question in half a minute. Lag in time is the time since the
 * snapshot whose changes were all acknowledged last (follow.equal_us).
 */
#ifndef ROWFERRY_ENGINE_LAG_MONITOR_H
#define ROWFERRY_ENGINE_LAG_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

#include "observe/change_age.h"

struct loop;
struct change;

struct gauge {
    struct vintage vintage;
    int64_t held_us;    /* monotonic: when the holder of the watermark was asked for last, */
    int64_t counted_us; /* and how many changes wait: */
    int64_t waiting;    /* of those that are not read; -1: not known */
    bool holds_unseen;  /* the source does not say */
    bool counts_unseen;
    int64_t asked_us; /* monotonic, wall clock: before the page in work was begun */
    int64_t asked_wall_us;
    uint64_t equals;  /* how often all was found to be acknowledged */
    bool heard;       /* from the source in this turn, */
    int64_t heard_us; /* and monotonic: when last */
    bool news;        /* to be told at once */
};

/* A part of the loop's work begins. */
void gauge_begin(struct loop *l);

/* Before the loop reads, and what it has read. */
void gauge_reads(struct loop *l);
void gauge_has_read(struct loop *l, const struct change *change);

/* Between pages: asks the source what it is time to ask. more: it has more to read. */
void gauge_ask(struct loop *l, bool more);

/* An operation of the page is acknowledged. */
void gauge_acknowledged(struct loop *l, uint64_t page);

/* At the end of a turn that went well: whether the pipeline gets on, and what that is told by. */
void gauge_turn(struct loop *l);

#endif
