/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the loop tells of itself while it works; each of these says something only when it is time.
 */
#ifndef ROWFERRY_ENGINE_PROGRESS_REPORT_H
#define ROWFERRY_ENGINE_PROGRESS_REPORT_H

#include "rowferry/base/err.h"

struct loop;

/* For `status`, which shows it while this process holds the pipeline. */
int telling_note(struct loop *l, struct err *err) MUST_CHECK;

/* To options.board. */
void telling_board(struct loop *l);

/* While nothing is read or sent, because a side is away. */
void telling_of_patience(struct loop *l);

/* How an index grows that is being filled (engine/observe/growth_watch). */
void telling_watch(struct loop *l);

/* To options.progress and to the log. */
void telling_show(struct loop *l);

/* The work ends: as of when the index was equal last. */
void telling_end(struct loop *l);

#endif
