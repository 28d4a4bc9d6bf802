/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the last comparison by schedule found (`verify.every`), for `status` and to know when the
 * next one is due.
 */
#ifndef ROWFERRY_STATE_VERIFICATION_H
#define ROWFERRY_STATE_VERIFICATION_H

#include <stdbool.h>

#include "rowferry/state/store.h"

#define VERIFICATION_MESSAGE_BYTES 512

struct verification {
    int64_t ended_us; /* wall clock */
    int64_t took_ms;
    int64_t rows, documents; /* compared, listed by the index */
    int64_t missing, extra, altered;
    int64_t dead_letters;                     /* that stand between row and document */
    int64_t waiting;                          /* not yet synced */
    int64_t sent;                             /* differences that were sent again */
    bool restored;                            /* the index looks like an older copy */
    bool failed;                              /* it did not come to an end */
    char message[VERIFICATION_MESSAGE_BYTES]; /* why, or what was left; empty: nothing */
};

static inline int64_t verification_differences(const struct verification *v)
{
    return v->missing + v->extra + v->altered;
}

int verification_note(struct state *s, const struct verification *v, struct err *err) MUST_CHECK;
/* *known false where there was none; *out is zero then. */
int verification_look(struct state *s, struct verification *out, bool *known,
                      struct err *err) MUST_CHECK;

#endif
