/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the guard refused when it stopped the pipeline. It is kept until a sync succeeds, for
 * `status` and for the permissions. `sync --allow-deletes` permits as many deletes as were counted,
 * `sync --allow-rejections` permits dead letters for the recorded reason.
 */
#pragma once

#include "rowferry/state/pipeline_row.h"

#define GUARD_STOP_REASON_BYTES 160

struct guard_stop {
    int64_t deletes;    /* counted deletes; 0 if rejections stopped it */
    int64_t documents;  /* in the index; negative: unknown */
    int64_t rejected;   /* operations refused for one reason */
    int64_t operations; /* total operations; 0 if deletes stopped it */
    int64_t at_us;      /* wall clock */
    char reason[GUARD_STOP_REASON_BYTES];
};

static inline MUST_CHECK int guard_stop_write(struct state *s, const struct guard_stop *stop,
                                              struct err *err)
{
    return pipeline_row_write(s, PIPELINE_ROW_GUARD_STOP, stop, err);
}

/* *known is false, and *out zero, if the guard has not stopped the pipeline. */
static inline MUST_CHECK int guard_stop_read(struct state *s, struct guard_stop *out, bool *known,
                                             struct err *err)
{
    return pipeline_row_read(s, PIPELINE_ROW_GUARD_STOP, out, known, err);
}

static inline MUST_CHECK int guard_stop_clear(struct state *s, struct err *err)
{
    return pipeline_row_delete(s, PIPELINE_ROW_GUARD_STOP, err);
}
