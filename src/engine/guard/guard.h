/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether so many deletes may be sent. Pure.
 *
 * Deletes are counted before the first is sent, by distinct keys: exactly up to 65,536 of them,
 * above to within about a percent (of the keys' hashes only a part is kept, half of it each time
 * that there are too many), so that memory stays the same whatever the table's size. The same keys
 * always give the same number.
 */
#ifndef ROWFERRY_ENGINE_GUARD_H
#define ROWFERRY_ENGINE_GUARD_H

#include "pipeline/hashset.h"

/* More than both stop. */
struct guard_limits {
    double share; /* of the live documents; 1: deletes are not limited */
    int64_t count;
};

struct guard {
    struct guard_limits limits;
    int64_t allowed;   /* so many a person has permitted, beside what the limits let pass */
    int64_t documents; /* live; negative: unknown, then the count decides alone */
    struct hashset kept;
    unsigned level; /* hashes are kept whose `level` highest bits are 0 */
    bool judged;    /* what was foreseen may be sent */
};

void guard_init(struct guard *g, const struct guard_limits *limits, int64_t allowed);
void guard_release(struct guard *g);

/* A window or reconcile of its own begins: nothing is foreseen. */
void guard_begin(struct guard *g);

/* A delete of the key with this hash is to come, or was sent. True where it counts from now on. */
bool guard_foresee(struct guard *g, uint64_t key_hash);

/* How many were foreseen. */
int64_t guard_count(const struct guard *g);

/* True where it is for the share to decide: they are more than the count. */
bool guard_matters(const struct guard *g);

/* It counted, and there is nothing to delete. */
void guard_unsee(struct guard *g, uint64_t key_hash);

/* True where it would trip, had nobody permitted anything. */
bool guard_needs_permission(const struct guard *g, bool always);

/* True where they may not be sent. always: any delete that was not permitted is too many. */
bool guard_trips(const struct guard *g, bool always);

#endif
