/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Result of the last scheduled comparison (`verify.every`), for `status` and to compute when the
 * next one is due.
 */
#pragma once

#include "rowferry/state/pipeline_row.h"

#define VERIFICATION_MESSAGE_BYTES 512

struct verification {
    int64_t ended_us; /* wall clock */
    int64_t took_ms;
    int64_t rows, documents; /* compared rows, documents listed by the index */
    int64_t missing, extra, altered;
    int64_t dead_letters; /* that explain a difference between row and document */
    int64_t waiting;      /* not yet synced */
    int64_t sent;         /* differences that were sent again */
    bool restored;        /* the index looks like an older copy */
    bool failed;          /* it did not finish */
    char message[VERIFICATION_MESSAGE_BYTES]; /* the reason, or what was skipped; empty: nothing */
};

static inline int64_t verification_differences(const struct verification *v)
{
    return v->missing + v->extra + v->altered;
}

static inline MUST_CHECK int verification_write(struct state *s, const struct verification *v,
                                                struct err *err)
{
    return pipeline_row_write(s, PIPELINE_ROW_VERIFICATION, v, err);
}

/* *known is false, and *out zero, if there was none. */
static inline MUST_CHECK int verification_read(struct state *s, struct verification *out,
                                               bool *known, struct err *err)
{
    return pipeline_row_read(s, PIPELINE_ROW_VERIFICATION, out, known, err);
}
