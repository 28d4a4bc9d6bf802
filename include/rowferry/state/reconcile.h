/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last scan of the index for documents without a row (engine/guard/deletes), and what makes the
 * next one due. Times are wall clock.
 */
#pragma once

#include <stdbool.h>

#include "rowferry/state/store.h"

struct reconcile {
    int64_t finished_us; /* end of the last scan; 0: never */
    int64_t owed_us;     /* a scan is due from then on, whatever the interval; 0: none */
    int64_t late_us;     /* until then requests of a killed holder may arrive */
    bool flying;         /* a holder sent requests and does not know the result of all of them */
};

int reconcile_note(struct state *s, const struct reconcile *r, struct err *err) MUST_CHECK;
/* *known is false, and *out zero, if nothing was recorded yet. */
int reconcile_look(struct state *s, struct reconcile *out, bool *known, struct err *err) MUST_CHECK;
