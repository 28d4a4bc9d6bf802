/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over the keys of an index, and the delete probe: parts of deletes.c. */
#pragma once

#include "guard/deletes.h"

void reconcile_begin(struct deletes *d, enum deletes_why why);

/* Resets the guard after the counted deletes were handled, permitted or not. */
void deletes_judged(struct deletes *d);

/* Skips the walk: a data stream keeps the documents of a table that left. */
void reconcile_spare(struct deletes *d);

/* Logs that documents without a row stay in a data stream; documents: -1 if not counted. */
void reconcile_report_spared(const struct deletes *d, int64_t documents);

/* Begins the walk of this phase at the index's first key. */
void reconcile_walk(struct deletes *d, enum deletes_phase phase);

/* Refreshes the index, so that settled operations are visible, and begins the listing. */
int reconcile_list(struct deletes *d, struct err *err) MUST_CHECK;

/* Lists the next page of the walk and passes it to the source reader, which looks up its rows.
 * Sets *more to false at the end of the walk. */
int reconcile_next(struct deletes *d, bool *more, struct err *err) MUST_CHECK;

/* Lists the next page while the source is busy. */
void reconcile_list_ahead(struct deletes *d);

/* Records a key of the walk that has no row. */
void reconcile_absent(struct deletes *d, struct span key);

/* Gives up an owed reconcile, because the service does not permit to list the index (reason in
 * *err). Without that permission no earlier walk can have ended, so none is owed. */
int reconcile_drop(struct deletes *d, struct err *err) MUST_CHECK;

/* Ends the reconcile after everything it sent is settled and committed. */
int reconcile_end(struct deletes *d, struct err *err) MUST_CHECK;

/* The delete probe queries the index by the keys of counted deletes, one page at a time. If there
 * are more keys than the guard counts exactly, it probes only the sample that the guard keeps. */

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
