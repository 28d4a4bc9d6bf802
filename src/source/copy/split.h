/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a copy by key ranges may be divided, as the planner's statistics know it: nothing of the
 * table is read to find out.
 */
#ifndef ROWFERRY_SOURCE_SPLIT_H
#define ROWFERRY_SOURCE_SPLIT_H

#include "copy/snapshot_ranges.h"
#include "rowferry/source/catalog/catalog.h"

/* Values of the key's first part that divide what comes after the range's beginning into parts of
 * about the same number of rows: at most parts - 1, in order, owned by the caller; none where the
 * server knows nothing. */
int split_find(struct pg *pg, const struct table *t, const struct copy_range *range, size_t parts,
               char **values, size_t *count, struct err *err) MUST_CHECK;

/* The share of the rows that the parts of a copy have still to read; 1 where the server knows
 * nothing. */
int split_left(struct pg *pg, const struct table *t, const struct parts *left, double *share,
               struct err *err) MUST_CHECK;

#endif
