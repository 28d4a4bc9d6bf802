/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the guard refused when it stopped the pipeline: kept until a sync ends well, for `status`
 * and for the permissions: `sync --allow-deletes` of as many deletes as were counted, `sync
 * --allow-rejections` of dead letters for the reason that was named.
 */
#ifndef ROWFERRY_STATE_GUARD_STOP_H
#define ROWFERRY_STATE_GUARD_STOP_H

#include <stdbool.h>

#include "rowferry/state/store.h"

#define HALT_REASON_BYTES 160

struct halt {
    int64_t deletes;    /* that were counted; 0 where rejections stopped it */
    int64_t documents;  /* in the index; negative: unknown */
    int64_t rejected;   /* refused for one reason, */
    int64_t operations; /* of so many; 0 where deletes stopped it */
    int64_t at_us;      /* wall clock */
    char reason[HALT_REASON_BYTES];
};

int halt_note(struct state *s, const struct halt *halt, struct err *err) MUST_CHECK;
/* *known false where the guard has not stopped the pipeline; *out is zero then. */
int halt_look(struct state *s, struct halt *out, bool *known, struct err *err) MUST_CHECK;
int halt_forget(struct state *s, struct err *err) MUST_CHECK;

#endif
