/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the index was last walked for documents without a row (engine/guard/deletes), and what makes
 * the next walk due. Times are of the wall clock.
 */
#ifndef ROWFERRY_STATE_RECONCILE_H
#define ROWFERRY_STATE_RECONCILE_H

#include <stdbool.h>

#include "rowferry/state/store.h"

struct reconcile {
    int64_t finished_us; /* when the last one ended; 0: never */
    int64_t owed_us;     /* one is owed from then on; 0: none */
    int64_t late_us;     /* until then requests of a holder that was killed may arrive */
    bool flying;         /* a holder sent requests, and has not seen the end of all of them */
};

int reconcile_note(struct state *s, const struct reconcile *r, struct err *err) MUST_CHECK;
/* *known false where nothing was noted yet; *out is zero then. */
int reconcile_look(struct state *s, struct reconcile *out, bool *known, struct err *err) MUST_CHECK;

#endif
