/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups the integers among a page's keys into runs without a gap ("7 to 11"). If a unique column
 * has as many rows in the runs as they are long, every key has a row. Pure.
 *
 * An index lists its keys in the order of their text. In that order integers of the same length and
 * sign are sorted by value, so runs are found without sorting.
 */
#pragma once

#include "rows/keyset.h"

struct keyruns {
    struct buf first; /* first and last value of each run, as arrays */
    struct buf last;
    size_t runs;
    uint64_t keys; /* number of keys in the runs */
};

/* Marks a key as strange if it is not an integer in PostgreSQL's notation: no row can have it. */
void keyruns_make(struct keyruns *r, struct keyset *keys);
void keyruns_release(struct keyruns *r);
