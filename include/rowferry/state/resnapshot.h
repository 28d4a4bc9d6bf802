/* SPDX-License-Identifier: Apache-2.0 */
/* Time and reason of the last re-snapshot in place, for `status`. */
#ifndef ROWFERRY_STATE_RESNAPSHOT_H
#define ROWFERRY_STATE_RESNAPSHOT_H

#include <stdbool.h>

#include "rowferry/state/store.h"

#define COPIED_REASON_BYTES 512

struct copied {
    int64_t begun_us; /* wall clock */
    char reason[COPIED_REASON_BYTES];
};

int copied_note(struct state *s, const char *reason, int64_t begun_us, struct err *err) MUST_CHECK;
/* *known is false, and *out zero, if there was none. */
int copied_look(struct state *s, struct copied *out, bool *known, struct err *err) MUST_CHECK;

#endif
