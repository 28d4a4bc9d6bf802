/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The integers among a page's keys as runs without a gap ("7 to 11"). A unique column that has as
 * many rows in the runs as they are long has one for each of the keys. Pure.
 *
 * An index lists its keys in the order of their text, in which the integers of one length and sign
 * stand in their own order: so a run is found without sorting.
 */
#ifndef ROWFERRY_SOURCE_KEYRUNS_H
#define ROWFERRY_SOURCE_KEYRUNS_H

#include "rows/keyset.h"

struct keyruns {
    struct buf first; /* the runs' ends, as arrays */
    struct buf last;
    size_t runs;
    uint64_t keys; /* in them */
};

/* Marks as strange what is no integer as PostgreSQL writes it: no row can have such a key. */
void keyruns_make(struct keyruns *r, struct keyset *keys);
void keyruns_release(struct keyruns *r);

#endif
