/* SPDX-License-Identifier: Apache-2.0 */
/* Time and reason of the last re-snapshot in place, for `status`. */
#pragma once

#include <stdbool.h>

#include "rowferry/state/store.h"

#define RESNAPSHOT_REASON_BYTES 512

struct resnapshot {
    int64_t begun_us; /* wall clock */
    char reason[RESNAPSHOT_REASON_BYTES];
};

int resnapshot_write(struct state *s, const char *reason, int64_t begun_us,
                     struct err *err) MUST_CHECK;
/* *known is false, and *out zero, if there was none. */
int resnapshot_read(struct state *s, struct resnapshot *out, bool *known,
                    struct err *err) MUST_CHECK;
