/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the guard refused when it stopped the pipeline: kept until a sync ends well, for `status`
 * and for `sync --allow-deletes`, which permits as many deletes as were counted.
 */
#ifndef ROWFERRY_STATE_HALT_H
#define ROWFERRY_STATE_HALT_H

#include <stdbool.h>

#include "rowferry/state/store.h"

struct halt {
    int64_t deletes;   /* that were counted */
    int64_t documents; /* in the index; negative: unknown */
    int64_t at_us;     /* wall clock */
};

int halt_note(struct state *s, const struct halt *halt, struct err *err) MUST_CHECK;
/* *known false where the guard has not stopped the pipeline; *out is zero then. */
int halt_look(struct state *s, struct halt *out, bool *known, struct err *err) MUST_CHECK;
int halt_forget(struct state *s, struct err *err) MUST_CHECK;

#endif
