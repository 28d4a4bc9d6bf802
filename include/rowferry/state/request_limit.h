/* SPDX-License-Identifier: Apache-2.0 */
/* The size of a batch that the service takes: asked, or learned from refusals (413). */
#pragma once

#include "rowferry/state/pipeline_row.h"

struct request_limit {
    int64_t bytes;
    int64_t learned_us; /* wall clock */
};

static inline MUST_CHECK int request_limit_write(struct state *s, const struct request_limit *l,
                                                 struct err *err)
{
    return pipeline_row_write(s, PIPELINE_ROW_REQUEST_LIMIT, l, err);
}

/* *known is false, and *out zero, if nothing was learned. */
static inline MUST_CHECK int request_limit_read(struct state *s, struct request_limit *out,
                                                bool *known, struct err *err)
{
    return pipeline_row_read(s, PIPELINE_ROW_REQUEST_LIMIT, out, known, err);
}
