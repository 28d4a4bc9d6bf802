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

static bool guard_above_count(const struct guard_limits *limits, int64_t n)
{
    return limits->share < 1 && n > limits->count;
}

/* documents negative: unknown. */
static bool guard_too_many(const struct guard_limits *limits, int64_t n, int64_t documents)
{
    bool much = documents < 0 || (double)n > limits->share * (double)documents;
    return guard_above_count(limits, n) && much;
}

bool guard_matters(const struct guard *g)
{
    return guard_above_count(&g->limits, guard_unpermitted(g));
}

bool guard_trips(const struct guard *g, bool always)
{
    int64_t n = guard_unpermitted(g);
    return n > 0 && (always || guard_too_many(&g->limits, n, g->documents));
}

bool guard_refuses_swap(const struct guard_limits *limits, int64_t allowed, int64_t before,
                        int64_t after)
{
    if (before < 0 || after < 0) {
        return false;
    }
    int64_t n = before - after - allowed;
    return n > 0 && (after == 0 || guard_too_many(limits, n, before));
}

bool guard_needs_permission(const struct guard *g, bool always)
{
    struct guard alone = *g; /* borrows the set */
    alone.allowed = 0;
    return guard_trips(&alone, always);
}
