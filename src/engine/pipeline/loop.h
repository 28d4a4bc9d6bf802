/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop of one pipeline, private to engine/pipeline: read, map, batch, send, settle,
 * checkpoint, wait. What watches it is registered with it (core/loop_observers.h).
 *
 * Back-pressure works through return values. Nothing is read while the window is full, no batch is
 * free, or an operation of the same key is unsettled.
 */
#pragma once

#include "core/checkpoint_backup.h"
#include "core/loop_observers.h"
#include "core/pending_commit.h"
#include "generation/alias_watch.h"
#include "generation/consumer_retention.h"
#include "guard/deletes.h"
#include "guard/reject_guard.h"
#include "observe/batch_limit.h"
#include "observe/progress_report.h"
#include "pipeline/follow.h"
#include "pipeline/requests_private.h"
#include "pipeline/sender.h"
#include "rowferry/document/bulk/encode.h"
#include "rowferry/engine/pipeline/pipeline.h"

#define LOOP_LET_GO_US INT64_C(5000000) /* time after which an unread open page is given up */

/* The change that was read last. Times are monotonic. */
struct loop_reading {
    struct change change; /* waits for its key while view.held */
    int64_t taken_us;     /* last read from the open page, or last time without one */
    int64_t let_go_us;    /* time after taken_us at which the page is given up */
    int64_t filled_us;    /* when the current batch got its first operation */
};

/* Monotonic times of what was done last; give_up_us: deadline for answers while stopping. */
struct loop_times {
    int64_t committed_us;
    int64_t released_us;
    int64_t well_by_us; /* send time of the latest request that succeeded */
    int64_t give_up_us;
};

/* Those that only watch. */
struct loop_watchers {
    struct lag_monitor lag_monitor;
    struct progress_report report;
    struct growth_watch growth;
    struct batch_limit batch_limit;
    struct alias_watch alias; /* of the live generation; started by the caller */
    struct consumer_retention retention;
};

struct loop {
    const struct pipeline_options *options;
    const struct plan *plan;
    struct loop_view view; /* also holds what the loop itself needs of it */
    struct counters counters;
    struct retry_budget source_retry;
    struct retry_budget service_retry;
    struct source_reader source_reader;
    struct window window;
    struct sender sender;
    struct pending_commit pending_commit;
    struct checkpoint_backup backup;
    struct requests requests;
    struct follow follow;
    struct deletes deletes;
    struct reject_guard reject_guard;
    struct loop_watchers watchers;
    struct loop_observers observers;
    struct loop_reading reading;
    struct loop_times times;
    struct err fatal; /* class ERR_NONE until an error ends the work */
};

/* Initializes the loop, which must not move afterwards. The caller sets plan, view.target.index,
 * source_reader.consumer and what source_reader_init sets. */
int loop_init(struct loop *l, const struct pipeline_options *options,
              const struct pipeline_ports *ports, struct err *err) MUST_CHECK;
void loop_release(struct loop *l);

/*
 * Runs until everything that the source shows is settled and committed, hooks.stop is set (then
 * *stopped is true), or an error ends the work. While following it does not end when caught up.
 * Settled operations are committed in every case.
 */
int loop_run(struct loop *l, bool *stopped, struct err *err) MUST_CHECK;

/* Notes that the loop is alive although a side is unreachable, and reports that. */
void loop_note_away(struct loop *l);

/* Returns true if hooks.stop is set or an error ended the work. */
static inline bool loop_stopping(const struct loop *l)
{
    return loop_view_stopping(&l->view);
}

/* Returns true if settled operations are not committed yet. */
static inline bool loop_commit_pending(const struct loop *l)
{
    return l->window.reached != NULL || pending_commit_any(&l->pending_commit);
}

/* Reports the checkpoint to the source, at most once a second. */
int loop_release_source(struct loop *l, struct err *err) MUST_CHECK;

/* Ends the work with an error. Only the first reason is kept. */
void loop_end(struct loop *l, const struct err *why);

/* --- steps of a turn -------------------------------------------------------------------------- */

/* No more rows for now: flushes the current batch after `linger_ms`, or at once if the source is
 * unreachable. */
void loop_wait_linger(struct loop *l);

/* The end of a turn: sleeps until an answer arrives, the source has more, a wakeup arrives, or a
 * timer is due. reading: more rows may be available at once; waiting: the source has none now. */
int loop_wait_sleep(struct loop *l, bool reading, bool waiting, struct err *err) MUST_CHECK;

/* Applies the outcome of one operation (done, rejected, conflict, fatal) to the window, dead
 * letters, counters and the request that asked for it (a sender_settle; context is the loop). */
int apply_outcome_operation(void *context, const struct batch *batch, const struct operation *o,
                            struct err *err);

/* Settles the current change, which could not be encoded: an upsert becomes a dead letter, a
 * delete counts as done. */
void apply_outcome_refusal(struct loop *l, uint64_t page, const struct refusal *refusal);
