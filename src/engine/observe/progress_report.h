/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Progress reports of the loop. Each function reports only if it is due.
 */
#pragma once

#include "observe/growth_watch.h"
#include "observe/lag_monitor.h"
#include "rowferry/engine/observe/status_snapshot.h"

/* When something was reported, and counters.rows_read at that time. */
struct progress_point {
    int64_t at_us; /* monotonic */
    int64_t rows;
};

struct progress_report {
    const struct loop_view *view;
    struct lag_monitor *lag_monitor;
    const struct growth_watch *growth_watch;
    const struct flow *flow;
    struct status_snapshot *snapshot;                                 /* null: not published */
    void (*progress)(void *context, const struct progress *progress); /* null: none */
    void *progress_context;
    struct status_snapshot_moment moment; /* published state */
    struct progress_point written;        /* to the state file */
    struct progress_point logged;
    int64_t shown_us;
    bool written_following;    /* the last report to the state file was made while following */
    bool noted;                /* the last report could be written */
    int64_t logged_present;    /* counters.present at the last log line */
    uint64_t counted_revision; /* revision of the dead letters when they were last counted */
};

/* Reports to the state file (`status` shows it while this process holds the pipeline), to the
 * snapshot, to the progress function and to the log; see struct loop_observer. */
enum loop_answer progress_report_on_turn(void *self, struct err *why);

/* Computes rate, share and remaining time; the latter two are unknown if no initial load runs. */
void progress_report_compute(struct progress *out, const struct counters *counters,
                             const struct capture_progress *copy, int64_t elapsed_ms);

/* Reports while nothing is read or sent because a side is unreachable. */
void progress_report_retry_budget(struct progress_report *r);

/* Reports at the end when the index was last up to date. */
void progress_report_end(struct progress_report *r);
