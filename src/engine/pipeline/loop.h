/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop of one pipeline: read, map, batch, send, settle, checkpoint, wait.
 *
 * Back-pressure is a return value all the way: where the window is full, or no batch is free, or
 * an operation of the same key is unsettled, nothing is read.
 */
#ifndef ROWFERRY_ENGINE_LOOP_H
#define ROWFERRY_ENGINE_LOOP_H

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
    struct board_moment moment; /* what is told; lag, hold, stall and latency are kept in it */
    struct patience source_patience;
    struct patience service_patience;
    struct window window;
    struct sender sender;
    struct settling settling;
    struct intake intake;
    struct requests requests;
    struct deletes deletes;
    struct verdict verdict;
    struct watch watch;
    struct aim aim; /* at the live generation; the caller's to begin */
    struct former_watch former;
    struct follow follow;
    struct gauge gauge;
    struct bell bell;     /* open while it follows */
    struct change change; /* the one that waits for its key, where held */
    bool held;
    struct err fatal;   /* class ERR_NONE until something ends the work */
    int64_t started_us; /* all times monotonic */
    int64_t committed_us;
    int64_t released_us;
    int64_t shown_us;
    int64_t told_us;
    int64_t logged_us;
    int64_t taken_us;          /* when the open page was read from last, or none was open, */
    int64_t let_go_us;         /* and how long after that it is given up */
    int64_t filled_us;         /* when the batch that is being filled got its first operation */
    bool told_following;       /* as was told last: that it follows, */
    int64_t told_rows;         /* and the rows read; */
    bool noted;                /* that could be written down; */
    int64_t logged_present;    /* the same of counters.present */
    int64_t logged_rows;       /* the same as was logged */
    int64_t well_by_us;        /* when the latest request that found the service well was sent */
    int64_t answered_us;       /* wall clock: when answers were taken last, */
    int64_t collected_us;      /* and monotonic */
    int64_t give_up_us;        /* while stopping: answers are waited for until then */
    char *committed;           /* owned: the position of the last commit, of this run or another */
    struct buf letters;        /* the dead letters that the source is told, */
    uint64_t letters_revision; /* as they were then, */
    int64_t letters_us;        /* monotonic */
    uint64_t counted_revision; /* the letters as they were counted for the board */
};

/* Everything but plan, sender.index, intake.consumer and what intake_init sets: the caller's. */
int loop_init(struct loop *l, const struct pipeline_options *options,
              const struct pipeline_ports *ports, struct err *err) MUST_CHECK;
void loop_release(struct loop *l);

/*
 * Until everything that the source shows is settled and committed (where follow.on: for ever), or
 * options.stop is set (then *stopped), or something ends it. What was settled is committed in every
 * case.
 */
int loop_run(struct loop *l, bool *stopped, struct err *err) MUST_CHECK;

/* True once options.stop is set, or something ends the work. */
bool loop_stopping(const struct loop *l);

/* True where something is settled that is not committed. */
bool loop_commit_pending(const struct loop *l);

/* For options.alive_us. */
void loop_note_alive(struct loop *l);

/* Tells the source where the checkpoint is, once a second at most. */
int loop_release_source(struct loop *l, struct err *err) MUST_CHECK;

/* Something ends the work; the first reason counts. */
void loop_end(struct loop *l, const struct err *why);

#endif
