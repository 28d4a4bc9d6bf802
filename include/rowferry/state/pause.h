/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The paused state of a pipeline: no process writes its index until it is resumed.
 */
#pragma once

#include "rowferry/state/pipeline_row.h"

struct pause {
    int64_t since_us; /* wall clock; 0: not paused */
};

/* Pauses the pipeline; keeps the time if it is already paused. */
static inline MUST_CHECK int pause_begin(struct state *s, int64_t wall_us, struct err *err)
{
    return pipeline_row_write(s, PIPELINE_ROW_PAUSE, &(struct pause){wall_us}, err);
}

static inline MUST_CHECK int pause_end(struct state *s, struct err *err)
{
    return pipeline_row_delete(s, PIPELINE_ROW_PAUSE, err);
}

/* *since_us is 0 if it is not paused. */
static inline MUST_CHECK int pause_read(struct state *s, int64_t *since_us, struct err *err)
{
    struct pause pause;
    bool known;
    int result = pipeline_row_read(s, PIPELINE_ROW_PAUSE, &pause, &known, err);
    *since_us = pause.since_us;
    return result;
}

/* Returns ERR_STATE, with a hint, if it is paused. */
int pause_expect_none(struct state *s, struct err *err) MUST_CHECK;
