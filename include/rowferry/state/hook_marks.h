/* SPDX-License-Identifier: Apache-2.0 */
/* What the hooks of a pipeline were told last, so that they are told each change at least once. */
#pragma once

#include "rowferry/state/pipeline_row.h"

struct hook_marks {
    int64_t guard_us;     /* time of the guard stop; 0: none */
    int64_t dead_letters; /* open */
    char stopped[17];     /* hash of the error that stopped it; empty: none */
    bool troubled;        /* a guard stop or an error was told, and not yet that it is over */
    char generation[256]; /* the live index; empty: none */
};

static inline MUST_CHECK int hook_marks_write(struct state *s, const struct hook_marks *m,
                                              struct err *err)
{
    return pipeline_row_write(s, PIPELINE_ROW_HOOK_MARKS, m, err);
}

/* *known is false, and *out zero, if the hooks were never looked at. */
static inline MUST_CHECK int hook_marks_read(struct state *s, struct hook_marks *out, bool *known,
                                             struct err *err)
{
    return pipeline_row_read(s, PIPELINE_ROW_HOOK_MARKS, out, known, err);
}
