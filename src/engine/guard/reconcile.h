/* SPDX-License-Identifier: Apache-2.0 */
/* The walks over an index's keys, for deletes.c alone. */
#ifndef ROWFERRY_ENGINE_RECONCILE_H
#define ROWFERRY_ENGINE_RECONCILE_H

#include "guard/deletes.h"

void reconcile_begin(struct loop *l, enum deletes_why why);

/* What the guard judged is done, permitted or not. */
void deletes_judged(struct deletes *d);

/* In place of a walk: a data stream keeps the documents of a table that left. */
void reconcile_spare(struct loop *l);

/* That documents without a row stay in a data stream; -1: nobody has counted them. */
void reconcile_tell_spared(const struct loop *l, int64_t documents);

/* Begins the walk of this phase at the index's first key. */
void reconcile_walk(struct deletes *d, enum deletes_phase phase);

/* The refresh has made all that is settled visible: the listing may begin. */
int reconcile_list(struct loop *l, struct err *err) MUST_CHECK;

/* The next page of the walk, handed to the intake where its rows are asked for; *more false at the
 * walk's end. */
int reconcile_next(struct loop *l, bool *more, struct err *err) MUST_CHECK;

/* While the source is at work: lists the next page. */
void reconcile_list_ahead(struct loop *l);

/* A key of the walk has no row. */
void reconcile_absent(struct deletes *d, struct span key);

/* The index may not be listed (*err says why): no walk can have ended before, so none is owed. */
int reconcile_drop(struct loop *l, struct err *err) MUST_CHECK;

/* All that it sent is settled and committed. */
int reconcile_end(struct loop *l, struct err *err) MUST_CHECK;

#endif
