/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the guard refused when it stopped the pipeline. It is kept until a sync succeeds, for
 * `status` and for the permissions. `sync --allow-deletes` permits as many deletes as were counted,
 * `sync --allow-rejections` permits dead letters for the recorded reason.
 */
#pragma once

#include <stdbool.h>

#include "rowferry/state/store.h"

#define GUARD_STOP_REASON_BYTES 160

struct guard_stop {
    int64_t deletes;    /* counted deletes; 0 if rejections stopped it */
    int64_t documents;  /* in the index; negative: unknown */
    int64_t rejected;   /* operations refused for one reason */
    int64_t operations; /* total operations; 0 if deletes stopped it */
    int64_t at_us;      /* wall clock */
    char reason[GUARD_STOP_REASON_BYTES];
};

int guard_stop_write(struct state *s, const struct guard_stop *halt, struct err *err) MUST_CHECK;
/* *known is false, and *out zero, if the guard has not stopped the pipeline. */
int guard_stop_read(struct state *s, struct guard_stop *out, bool *known,
                    struct err *err) MUST_CHECK;
int guard_stop_clear(struct state *s, struct err *err) MUST_CHECK;
