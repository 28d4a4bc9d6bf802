/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the pipeline's holder is at, told while it works, for `status`. What stands here means
 * something only while the pipeline is held (state/lock.h); the next holder wipes it.
 */
#ifndef ROWFERRY_STATE_WORKING_H
#define ROWFERRY_STATE_WORKING_H

#include <stdbool.h>

#include "rowferry/state/store.h"

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
};

/* The holder. */
int working_tell(struct state *s, const struct working *w, struct err *err) MUST_CHECK;
/* *known false where nothing was told since the holder began. */
int working_look(struct state *s, struct working *out, bool *known, struct err *err) MUST_CHECK;

#endif
