/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delete probe, private to deletes.c: finds out which of the counted deletes have a document in the
 * index. Queries the index by keys, one page at a time. If there are more keys than the guard
 * counts exactly, it probes only the sample that the guard keeps.
 */
#pragma once

#include "guard/deletes.h"

/* Begins a prescan. */
void delete_probe_begin(struct deletes *d);

/* Counts and remembers the key of an upcoming delete. */
void delete_probe_foresee(struct deletes *d, struct span key);

/* Probes the next page: keys without a document no longer count. Sets *more to false after the
 * last page. No operation may be unsettled. Returns ERR_REJECTED if the service does not permit
 * the query. */
int delete_probe_next(struct deletes *d, bool *more, struct err *err) MUST_CHECK;

/* Probes a single key that was just counted. If the query fails, the key stays counted. */
void delete_probe_one(struct deletes *d, struct span key);
