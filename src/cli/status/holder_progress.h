/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress of a holder, as text and as JSON. Pure.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/state/live_progress.h"

/* Appends "copying, 41 % (50,000 rows, 5,000 a second, 14s left)". */
void holder_progress_push_stage(struct buf *out, const struct live_progress *w);
/* Appends ", " and that, if the state file has a record of it. */
void holder_progress_push_recorded(struct buf *out, struct state *state);
/* Appends "4 requests in flight, batches of 1.5 MiB". */
void holder_progress_push_limits(struct buf *out, const struct live_progress *w);
/* Appends the JSON member "working", an object; null if w is null. */
void holder_progress_push_json(struct buf *out, const struct live_progress *w);
