/* SPDX-License-Identifier: Apache-2.0 */
/* Time and reason of the last re-snapshot in place, for `status`. */
#pragma once

#include <stdio.h>

#include "rowferry/state/pipeline_row.h"

#define RESNAPSHOT_REASON_BYTES 512

struct resnapshot {
    int64_t begun_us; /* wall clock */
    char reason[RESNAPSHOT_REASON_BYTES];
};

static inline MUST_CHECK int resnapshot_write(struct state *s, const char *reason, int64_t begun_us,
                                              struct err *err)
{
    struct resnapshot r = {.begun_us = begun_us};
    snprintf(r.reason, sizeof(r.reason), "%s", reason);
    return pipeline_row_write(s, PIPELINE_ROW_RESNAPSHOT, &r, err);
}

/* *known is false, and *out zero, if there was none. */
static inline MUST_CHECK int resnapshot_read(struct state *s, struct resnapshot *out, bool *known,
                                             struct err *err)
{
    return pipeline_row_read(s, PIPELINE_ROW_RESNAPSHOT, out, known, err);
}
