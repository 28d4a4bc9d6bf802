/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Progress reports of the loop. Each function reports only if it is due.
 */
#pragma once

#include "rowferry/base/err.h"

struct loop;

/* Reports to the state file; `status` shows it while this process holds the pipeline. */
int progress_report_write(struct loop *l, struct err *err) MUST_CHECK;

/* Publishes to follow.snapshot. */
void progress_report_publish(struct loop *l);

/* Reports while nothing is read or sent because a side is unreachable. */
void progress_report_retry_budget(struct loop *l);

/* Checks the growth of an index that is being filled (engine/observe/growth_watch). */
void progress_report_watch(struct loop *l);

/* Reports to hooks.progress and to the log. */
void progress_report_show(struct loop *l);

/* Reports at the end when the index was last up to date. */
void progress_report_end(struct loop *l);
