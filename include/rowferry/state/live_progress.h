/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress of the pipeline's lock holder, published while it works, for `status`. It is valid
 * only while the pipeline is held (state/lock.h), and the next holder deletes it. equal_us is an
 * exception: it is kept and only grows.
 */
#pragma once

#include "rowferry/state/pipeline_row.h"

/* Room for a sentence of a guard with its numbers. */
#define LIVE_PROGRESS_WHY_BYTES 320

#define LIVE_PROGRESS_FAILED "failed" /* a rebuild that is only retried on request */
#define LIVE_PROGRESS_PAUSED "paused"
#define LIVE_PROGRESS_STANDING_BY "standing by"
#define LIVE_PROGRESS_TEXT_BYTES 128

struct live_progress {
    int64_t told_us; /* wall clock of the update */
    char stage[16];  /* "copying", "replaying", "settling" */
    int64_t rows;    /* read so far */
    int64_t rows_per_second;
    double share;         /* progress of the initial load, 0 to 1; negative: unknown */
    int64_t remaining_ms; /* of the initial load; negative: unknown */
    int64_t in_flight;    /* permitted requests in flight */
    int64_t batch_bytes;  /* target size of a batch */
    char growth_stopped[LIVE_PROGRESS_TEXT_BYTES]; /* why batches do not grow any more, or empty */
    char holder[LIVE_PROGRESS_TEXT_BYTES];         /* of the lock; if STANDING_BY */
    char failed_why[LIVE_PROGRESS_TEXT_BYTES]; /* why the rebuild does not continue; if FAILED */
    int64_t equal_us;   /* wall clock: the index contains all commits up to then; 0 = not yet */
    int64_t lag_rows;   /* changes in the source that are not in the index yet; -1: unknown */
    int64_t hold_us;    /* start of the oldest open transaction in the source (wall clock,
                           source/catalog/xmin_holder.h); 0: none */
    int64_t hold_pid;   /* process id of its session; 0: none */
    char hold_who[160]; /* owner of that transaction */
    char stall[24];     /* cause of a stall in one word; empty: progressing, or nothing to do */
    char stall_why[LIVE_PROGRESS_WHY_BYTES]; /* the cause as a sentence */
    char stall_hint[256];                    /* what to do about this very cause; or empty */
    int64_t stall_us;                        /* start of the stall (wall clock) */
    char away[LIVE_PROGRESS_WHY_BYTES]; /* why a server does not work, as a sentence; or empty */
};

/* Returns how long ago the index last equaled the table; negative if it never did. */
static inline int64_t live_progress_lag_us(int64_t equal_us, int64_t now_us)
{
    return equal_us == 0 ? -1 : now_us > equal_us ? now_us - equal_us : 0;
}

/* Publishes the progress; called by the lock holder. */
static inline MUST_CHECK int live_progress_write(struct state *s, const struct live_progress *w,
                                                 struct err *err)
{
    return pipeline_row_write(s, PIPELINE_ROW_LIVE_PROGRESS, w, err);
}

/* *known is false if the holder has not published anything yet; then only equal_us is valid. */
static inline MUST_CHECK int live_progress_read(struct state *s, struct live_progress *out,
                                                bool *known, struct err *err)
{
    int result = pipeline_row_read(s, PIPELINE_ROW_LIVE_PROGRESS, out, known, err);
    *known = *known && out->stage[0] != '\0';
    return result;
}
