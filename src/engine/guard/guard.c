/* SPDX-License-Identifier: Apache-2.0 */
/* Counts deletes by distinct keys and decides. */
#include "guard/guard.h"

#define GUARD_EXACT ((size_t)65536)

void guard_init(struct guard *g, const struct guard_limits *limits, int64_t allowed)
{
    *g = (struct guard){.limits = *limits, .allowed = allowed, .documents = -1};
    hashset_init(&g->kept);
}

void guard_release(struct guard *g)
{
    hashset_release(&g->kept);
}

void guard_begin(struct guard *g)
{
    hashset_release(&g->kept);
    g->level = 0;
    g->judged = false;
    g->documents = -1;
}

/* The high bits select the sample, because the set uses the low ones for placement. */
static bool guard_keeps(const struct guard *g, uint64_t hash)
{
    return g->level == 0 || hash >> (64 - g->level) == 0;
}

static void guard_halve(struct guard *g)
{
    struct hashset all = g->kept;
    hashset_init(&g->kept);
    g->level++;
    for (size_t i = 0; i < all.capacity; i++) {
        if (all.slots[i] != 0 && guard_keeps(g, all.slots[i])) {
            hashset_add(&g->kept, all.slots[i]);
        }
    }
    hashset_release(&all);
}

bool guard_foresee(struct guard *g, uint64_t key_hash)
{
    if (!guard_keeps(g, key_hash) || !hashset_add(&g->kept, key_hash)) {
        return false;
    }
    while (g->kept.count > GUARD_EXACT) {
        guard_halve(g);
    }
    return guard_keeps(g, key_hash);
}

void guard_unsee(struct guard *g, uint64_t key_hash)
{
    hashset_remove(&g->kept, key_hash);
}

int64_t guard_count(const struct guard *g)
{
    return (int64_t)g->kept.count << g->level;
}

static int64_t guard_unpermitted(const struct guard *g)
{
    return guard_count(g) - g->allowed;
}

bool guard_matters(const struct guard *g)
{
    return g->limits.share < 1 && guard_unpermitted(g) > g->limits.count;
}

bool guard_trips(const struct guard *g, bool always)
{
    int64_t n = guard_unpermitted(g);
    if (n <= 0) {
        return false;
    }
    bool much = g->documents < 0 || (double)n > g->limits.share * (double)g->documents;
    return always || (guard_matters(g) && much);
}

bool guard_needs_permission(const struct guard *g, bool always)
{
    struct guard alone = *g; /* borrows the set */
    alone.allowed = 0;
    return guard_trips(&alone, always);
}
