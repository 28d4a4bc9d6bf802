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

#include "guard/reject_stats.h"
#include "rowferry/document/model/operation.h"

struct change;
struct loop;

struct reject_guard {
    struct reject_stats rejects;
    bool page_ended; /* nothing was read since the end of a window */
    bool tripped;
};

/* Counts a settled operation of the page. letter: null if it succeeded. */
void reject_guard_count(struct loop *l, uint64_t page, const struct letter *letter);

/* Notes a change that was read, to find the end of a stretch. */
void reject_guard_take(struct loop *l, const struct change *change);

/* Ends the work if too many operations were rejected. */
int reject_guard_turn(struct loop *l, struct err *err) MUST_CHECK;

/* Returns true while nothing may be committed. */
bool reject_guard_waits(const struct loop *l);

/* Records what stopped the pipeline, so that a person can permit exactly this. */
void reject_guard_keep(struct state *state, const struct guard_stop *halt, const char *pipeline);
