/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reject guard of the loop: which operations count, when a stretch of them ends, and what happens
 * if too many are rejected (engine/guard/reject_stats.h).
 *
 * Nothing is committed while there may be too many. Dead letters beyond the first hundred are
 * dropped, and their operations are repeated. Operations of a request do not count, because
 * otherwise a retry of a thousand dead letters would be impossible.
 */
#pragma once

#include "core/loop_observers.h"
#include "core/pending_commit.h"
#include "guard/reject_stats.h"
#include "rowferry/document/model/operation.h"

struct reject_guard {
    const struct loop_view *view;
    struct pending_commit *pending_commit;
    bool building; /* the index is not live yet */
    struct reject_stats rejects;
    bool page_ended; /* nothing was read since the end of a stretch of the log */
    bool tripped;
};

/* The events it receives: it counts settled operations and finds the end of a stretch. */
struct loop_observer reject_guard_observer(struct reject_guard *g);

/* Called after answers were taken. LOOP_WAIT: nothing may be committed now. LOOP_END: too many
 * operations were rejected. closing: a reconcile is settled. */
enum loop_answer reject_guard_turn(struct reject_guard *g, bool closing, struct err *err);

/* Returns true while nothing may be committed. */
bool reject_guard_waits(const struct reject_guard *g);

/* Records what stopped the pipeline, so that a person can permit exactly this. */
void reject_guard_keep(struct state *state, const struct guard_stop *halt, const char *pipeline);
