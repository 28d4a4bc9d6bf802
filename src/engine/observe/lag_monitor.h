/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lag monitor. Measures how far the index is behind in time and in changes, and how old a change is
 * when it is acknowledged. Finds the transaction that holds the source's watermark, and whether the
 * pipeline makes progress.
 *
 * It costs an idle pipeline one short query every half minute. The lag in time is the time since
 * the last snapshot whose changes were all acknowledged (follow.equal_us).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "observe/change_age.h"

struct loop;
struct change;

struct lag_monitor {
    struct change_age change_age;
    int64_t held_us;    /* monotonic: last query for the holder of the watermark */
    int64_t counted_us; /* monotonic: last query for the number of unread changes */
    int64_t waiting;    /* number of unread changes; -1: unknown */
    bool holds_unseen;  /* the source does not provide it; also counts_unseen */
    bool counts_unseen;
    int64_t asked_us; /* monotonic and wall clock: before the current page began */
    int64_t asked_wall_us;
    uint64_t equals;  /* how often all changes were found to be acknowledged */
    bool heard;       /* the source returned data in this turn */
    int64_t heard_us; /* monotonic: last time it did */
    bool news;        /* a change must be reported at once */
};

/* Begins a part of the loop's work. */
void lag_monitor_begin(struct loop *l);

/* Called before the loop reads, and with the change it has read. */
void lag_monitor_reads(struct loop *l);
void lag_monitor_has_read(struct loop *l, const struct change *change);

/* Called between pages. Runs the queries to the source that are due. more: the source has more to
 * read. */
void lag_monitor_ask(struct loop *l, bool more);

/* Records the latency of an acknowledged operation of the page. */
void lag_monitor_acknowledged(struct loop *l, uint64_t page);

/* Called at the end of a successful turn. Updates the stall, and the facts it is derived from. */
void lag_monitor_turn(struct loop *l);
