/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides an initial load by key ranges, using only the planner's statistics: the table is not
 * read.
 */
#pragma once

#include "copy/snapshot_ranges.h"
#include "rowferry/source/catalog/catalog.h"

/* Finds values of the key's first part that divide the rest of the range into parts of about the
 * same number of rows. Returns at most parts - 1 values, in order, owned by the caller; none if the
 * server has no statistics. */
int split_find(struct pg *pg, const struct table *t, const struct copy_range *range, size_t parts,
               char **values, size_t *count, struct err *err) MUST_CHECK;

/* Sets *share to the share of rows that the ranges have still to read; 1 if the server has no
 * statistics. */
int split_left(struct pg *pg, const struct table *t, const struct snapshot_ranges *left,
               double *share, struct err *err) MUST_CHECK;
