/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop of one pipeline: read, map, batch, send, settle, checkpoint, wait.
 *
 * Back-pressure works through return values. Nothing is read while the window is full, no batch is
 * free, or an operation of the same key is unsettled.
 */
#pragma once

#include "generation/alias_watch.h"
#include "generation/consumer_retention.h"
#include "guard/deletes.h"
#include "guard/reject_guard.h"
#include "observe/growth_watch.h"
#include "observe/lag_monitor.h"
#include "pipeline/follow.h"
#include "pipeline/pending_commit.h"
#include "pipeline/requests_private.h"
#include "pipeline/retry_budget.h"
#include "pipeline/sender.h"
#include "pipeline/source_reader.h"
#include "pipeline/wakeup.h"
#include "pipeline/window.h"
#include "rowferry/engine/observe/status_snapshot.h"
#include "rowferry/engine/pipeline/pipeline.h"

struct loop {
    const struct pipeline_options *options;
    struct service_port service;
    struct state *state;
    struct clock clock;
    const struct plan *plan;
    struct counters counters;
    struct status_snapshot_moment
        moment; /* published state; also owns lag, xmin holder, stall and latency */
    struct retry_budget source_retry;
    struct retry_budget service_retry;
    struct window window;
    struct sender sender;
    struct pending_commit pending_commit;
    struct source_reader source_reader;
    struct requests requests;
    struct deletes deletes;
    struct reject_guard verdict;
    struct growth_watch watch;
    struct alias_watch aim; /* of the live generation; started by the caller */
    struct consumer_retention_watch former;
    struct follow follow;
    struct lag_monitor lag_monitor;
    struct wakeup wakeup; /* open while following */
    struct change change; /* the change that waits for its key, if held */
    bool held;
    struct err fatal;   /* class ERR_NONE until an error ends the work */
    int64_t started_us; /* all times are monotonic unless noted */
    int64_t committed_us;
    int64_t released_us;
    int64_t shown_us;
    int64_t told_us;
    int64_t logged_us;
    int64_t taken_us;       /* last read from the open page, or last time without one */
    int64_t let_go_us;      /* time after taken_us at which the page is given up */
    int64_t filled_us;      /* when the current batch got its first operation */
    bool told_following;    /* whether the last report was made while following */
    int64_t told_rows;      /* counters.rows_read at the last report */
    bool noted;             /* whether any report could be written */
    int64_t logged_present; /* counters.present at the last log line */
    int64_t logged_rows;    /* counters.rows_read at the last log line */
    int64_t well_by_us;     /* send time of the latest request that succeeded */
    int64_t answered_us;    /* wall clock: when answers were last taken */
    int64_t collected_us;   /* when answers were last taken */
    int64_t give_up_us;     /* while stopping: deadline for answers */
    char *committed;        /* owned: position of the last commit, of this run or an earlier one */
    struct buf letters;     /* dead letters for the checkpoint backup */
    uint64_t letters_revision; /* revision of the dead letters in `letters` */
    int64_t letters_us;        /* when `letters` was filled */
    uint64_t counted_revision; /* revision of the dead letters when they were last counted */
};

/* Initializes the loop. The caller sets plan, sender.index, source_reader.consumer and what
 * source_reader_init sets. */
int loop_init(struct loop *l, const struct pipeline_options *options,
              const struct pipeline_ports *ports, struct err *err) MUST_CHECK;
void loop_release(struct loop *l);

/*
 * Runs until everything that the source shows is settled and committed, hooks.stop is set (then
 * *stopped is true), or an error ends the work. With follow.on it does not end when caught up.
 * Settled operations are committed in every case.
 */
int loop_run(struct loop *l, bool *stopped, struct err *err) MUST_CHECK;

/* Returns true if hooks.stop is set or an error ended the work. */
bool loop_stopping(const struct loop *l);

/* Returns true if settled operations are not committed yet. */
bool loop_commit_pending(const struct loop *l);

/* Updates hooks.alive_us. */
void loop_note_alive(struct loop *l);

/* Reports the checkpoint to the source, at most once a second. */
int loop_release_source(struct loop *l, struct err *err) MUST_CHECK;

/* Ends the work with an error. Only the first reason is kept. */
void loop_end(struct loop *l, const struct err *why);
