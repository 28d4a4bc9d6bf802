/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Delete guard: decides whether a number of deletes may be sent. Pure.
 *
 * Deletes are counted by distinct keys before the first is sent. The count is exact up to 65,536
 * and accurate to about one percent above: only a part of the hashes is kept, halved whenever it
 * grows too large. So memory does not depend on the size of the table. The same keys always give
 * the same number.
 */
#pragma once

#include "core/hashset.h"
#include "rowferry/engine/guard/guard_limits.h"

struct guard {
    struct guard_limits limits;
    int64_t allowed;   /* number that a person permitted in addition to the limits */
    int64_t documents; /* live documents; negative: unknown, then only the count decides */
    struct hashset kept;
    unsigned level; /* keeps hashes whose `level` highest bits are 0 */
    bool judged;    /* the counted deletes may be sent */
};

void guard_init(struct guard *g, const struct guard_limits *limits, int64_t allowed);
void guard_release(struct guard *g);

/* Begins the next stretch of the log or reconcile: resets the count. */
void guard_begin(struct guard *g);

/* Counts a delete of the key with this hash, upcoming or sent. Returns true if it is in the sample
 * and was not counted before. */
bool guard_foresee(struct guard *g, uint64_t key_hash);

/* Returns the number of counted deletes. */
int64_t guard_count(const struct guard *g);

/* Returns true if the deletes exceed the count, so that the share decides. */
bool guard_matters(const struct guard *g);

/* Removes a counted key, because it has no document to delete. */
void guard_unsee(struct guard *g, uint64_t key_hash);

/* Returns true if the guard would trip without a permission. */
bool guard_needs_permission(const struct guard *g, bool always);

/* Returns true if they may not be sent. always: any delete that was not permitted is too many. */
bool guard_trips(const struct guard *g, bool always);
