/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last scan of the index for documents without a row (engine/guard/deletes), and what makes the
 * next one due. Times are wall clock.
 */
#pragma once

#include "rowferry/state/pipeline_row.h"

struct reconcile {
    int64_t finished_us; /* end of the last scan; 0: never */
    int64_t owed_us;     /* a scan is due from then on, whatever the interval; 0: none */
    int64_t late_us;     /* until then requests of a killed holder may arrive */
    bool flying;         /* a holder sent requests and does not know the result of all of them */
};

static inline MUST_CHECK int reconcile_write(struct state *s, const struct reconcile *r,
                                             struct err *err)
{
    return pipeline_row_write(s, PIPELINE_ROW_RECONCILE, r, err);
}

/* *known is false, and *out zero, if nothing was recorded yet. */
static inline MUST_CHECK int reconcile_read(struct state *s, struct reconcile *out, bool *known,
                                            struct err *err)
{
    return pipeline_row_read(s, PIPELINE_ROW_RECONCILE, out, known, err);
}
