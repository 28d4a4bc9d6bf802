/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guard over rejections, as the loop works: which operations count, when a stretch of them
 * ends, and what it means that too many are refused (engine/guard/reject_stats.h).
 *
 * While they may be too many nothing is committed: letters beyond the first hundred go away with
 * the work that is done again. What a request asked for does not count, or nobody could retry a
 * thousand dead letters.
 */
#ifndef ROWFERRY_ENGINE_REJECT_GUARD_H
#define ROWFERRY_ENGINE_REJECT_GUARD_H

#include "guard/reject_stats.h"
#include "rowferry/document/model/operation.h"

struct change;
struct loop;

struct verdict {
    struct rejects rejects;
    bool page_ended; /* nothing was read since the end of a window */
    bool tripped;
};

/* An operation of the page is settled; letter: null where it is done. */
void verdict_count(struct loop *l, uint64_t page, const struct letter *letter);

/* What was read decides where a stretch ends. */
void verdict_take(struct loop *l, const struct change *change);

/* Ends the work where too many are refused. */
int verdict_turn(struct loop *l, struct err *err) MUST_CHECK;

/* True while nothing may be committed. */
bool verdict_waits(const struct loop *l);

/* What stopped the pipeline is kept, so that a person may permit just this. */
void verdict_keep(struct state *state, const struct halt *halt, const char *pipeline);

#endif
