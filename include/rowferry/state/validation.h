/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Result of the last `validate` of a pipeline, with a hash of the definition that it judged.
 * Another definition counts as never validated.
 */
#pragma once

#include "rowferry/state/pipeline_row.h"

#define VALIDATION_DEFINITION_BYTES 17

struct validation {
    char definition[VALIDATION_DEFINITION_BYTES]; /* hash, hexadecimal */
    int64_t ended_us;                             /* wall clock */
    bool passed;
};

static inline MUST_CHECK int validation_write(struct state *s, const struct validation *v,
                                              struct err *err)
{
    return pipeline_row_write(s, PIPELINE_ROW_VALIDATION, v, err);
}

/* *known is false, and *out zero, if there was none. */
static inline MUST_CHECK int validation_read(struct state *s, struct validation *out, bool *known,
                                             struct err *err)
{
    return pipeline_row_read(s, PIPELINE_ROW_VALIDATION, out, known, err);
}
