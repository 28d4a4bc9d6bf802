/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of the deletes that were foreseen have a document to delete, for deletes.c alone: the index
 * is asked for them by their keys, a page at a time. Of more keys than the guard counts exactly
 * only those are asked that it keeps.
 */
#ifndef ROWFERRY_ENGINE_DELETE_PROBE_H
#define ROWFERRY_ENGINE_DELETE_PROBE_H

#include "guard/deletes.h"

/* A look ahead begins. */
void meet_begin(struct deletes *d);

/* The key of a delete to come: counted, and remembered. */
void meet_foresee(struct deletes *d, struct span key);

/* The next page: keys without a document no longer count; *more false after the last. Nothing may
 * be unsettled. ERR_REJECTED where the service does not let them be asked. */
int meet_next(struct loop *l, bool *more, struct err *err) MUST_CHECK;

/* The same for one key alone, that has just been counted. A failure leaves it counted. */
void meet_one(struct loop *l, struct span key);

#endif
