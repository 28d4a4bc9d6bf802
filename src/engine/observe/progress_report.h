/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Progress reports of the loop. Each function reports only if it is due.
 */
#ifndef ROWFERRY_ENGINE_PROGRESS_REPORT_H
#define ROWFERRY_ENGINE_PROGRESS_REPORT_H

#include "rowferry/base/err.h"

struct loop;

/* Reports to the state file; `status` shows it while this process holds the pipeline. */
int telling_note(struct loop *l, struct err *err) MUST_CHECK;

/* Publishes to options.board. */
void telling_board(struct loop *l);

/* Reports while nothing is read or sent because a side is unreachable. */
void telling_of_patience(struct loop *l);

/* Checks the growth of an index that is being filled (engine/observe/growth_watch). */
void telling_watch(struct loop *l);

/* Reports to options.progress and to the log. */
void telling_show(struct loop *l);

/* Reports at the end when the index was last up to date. */
void telling_end(struct loop *l);

#endif
