/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lag monitor. Measures how far the index is behind in time and in changes, and how old a change is
 * when it is acknowledged. Finds the transaction that holds the source's watermark, and whether the
 * pipeline makes progress.
 *
 * It costs an idle pipeline one short query every half minute. The lag in time is the time since
 * the last snapshot whose changes were all acknowledged (equal_us of the view).
 */
#pragma once

#include "core/loop_observers.h"
#include "observe/change_age.h"
#include "rowferry/engine/observe/status_snapshot.h"

struct lag_monitor {
    const struct loop_view *view;
    struct source_reader *reader;
    struct stall *stall;                   /* kept over several rounds; null: not observed */
    struct status_snapshot_moment *moment; /* receives lag, xmin holder, stall and latency */
    bool queries;                          /* the answers to its queries are shown */
    struct change_age change_age;
    int64_t held_us;    /* monotonic: last query for the holder of the watermark */
    int64_t counted_us; /* monotonic: last query for the number of unread changes */
    int64_t waiting;    /* number of unread changes; -1: unknown */
    bool holds_unseen;  /* the source does not provide it; also counts_unseen */
    bool counts_unseen;
    int64_t asked_us; /* as last seen in the view */
    bool heard;       /* the source returned data in this turn */
    int64_t heard_us; /* monotonic: last time it did */
    bool news;        /* a change must be reported at once */
};

/* Begins a part of the loop's work. */
void lag_monitor_begin(struct lag_monitor *g);

/* Updates the stall, and the facts it is derived from. Never fails. */
enum loop_answer lag_monitor_on_turn(void *self, struct err *why);

/* The events it receives. It queries the source between pages. */
struct loop_observer lag_monitor_observer(struct lag_monitor *g);
