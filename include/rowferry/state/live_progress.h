/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the pipeline's holder is at, told while it works, for `status`. What stands here means
 * something only while the pipeline is held (state/lock.h), and the next holder wipes it; but
 * equal_us, which only grows, stays.
 */
#ifndef ROWFERRY_STATE_LIVE_PROGRESS_H
#define ROWFERRY_STATE_LIVE_PROGRESS_H

#include <stdbool.h>

#include "rowferry/state/store.h"

/* A sentence of a guard with its numbers fits. */
#define WORKING_WHY_BYTES 320

#define WORK_FAILED "failed" /* a rebuild that is not tried again unasked */
#define WORK_PAUSED "paused"
#define WORK_STANDING_BY "standing by" /* a stage: `frozen` names the process that is waited for   \
                                        */

struct working {
    int64_t told_us; /* wall clock */
    char stage[16];  /* "copying", "replaying", "settling" */
    int64_t rows;    /* read so far */
    int64_t rows_per_second;
    double share;         /* of the copy, 0 to 1; negative where unknown */
    int64_t remaining_ms; /* of the copy; negative where unknown */
    int64_t in_flight;    /* requests that may be in flight, */
    int64_t batch_bytes;  /* and how large a batch aims at */
    char frozen[128];     /* why batches grow no more; empty: they may */
    int64_t equal_us;     /* wall clock: all that was committed then is in the index; 0 = not yet */
    int64_t lag_rows;     /* changes that the source has and the index has not; -1: not known */
    int64_t hold_us;    /* when the oldest transaction that is open in the source began (wall clock,
                           source/catalog/xmin_holder.h); 0: there is none, */
    int64_t hold_pid;   /* its session's process; 0: it has none, */
    char hold_who[160]; /* and whose it is */
    char stall[24];     /* why nothing goes on while the source has changes, in one word; empty:
                           it does, or there is nothing to do */
    char stall_why[WORKING_WHY_BYTES]; /* the same in a sentence, */
    int64_t stall_us;                  /* and since when (wall clock) */
};

/* The holder. */
int working_tell(struct state *s, const struct working *w, struct err *err) MUST_CHECK;
/* *known false where nothing was told since the holder began: then only equal_us counts. */
int working_look(struct state *s, struct working *out, bool *known, struct err *err) MUST_CHECK;

#endif
