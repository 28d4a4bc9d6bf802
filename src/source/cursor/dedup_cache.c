/* SPDX-License-Identifier: Apache-2.0 */
/* A direct-mapped table: one slot for each key's hash. */
#include "cursor/dedup_cache.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/base/text.h"

void dedup_cache_init(struct dedup_cache *s, size_t slots)
{
    s->count = 1;
    while (s->count < slots) {
        s->count *= 2;
    }
    s->slots = mem_zero(s->count, sizeof(*s->slots));
}

void dedup_cache_release(struct dedup_cache *s)
{
    free(s->slots);
    *s = (struct dedup_cache){0};
}

void dedup_cache_reset(struct dedup_cache *s)
{
    memset(s->slots, 0, s->count * sizeof(*s->slots));
}

static struct dedup_cache_slot *dedup_cache_slot_of(const struct dedup_cache *s, uint64_t key)
{
    return &s->slots[(size_t)key & (s->count - 1)];
}

bool dedup_cache_same(const struct dedup_cache *s, uint64_t key, uint64_t content)
{
    const struct dedup_cache_slot *slot = dedup_cache_slot_of(s, key);
    return slot->taken && slot->key == key && slot->content == content;
}

void dedup_cache_note(struct dedup_cache *s, uint64_t key, uint64_t content)
{
    *dedup_cache_slot_of(s, key) = (struct dedup_cache_slot){key, content, true};
}

void dedup_cache_forget(struct dedup_cache *s, uint64_t key)
{
    struct dedup_cache_slot *slot = dedup_cache_slot_of(s, key);
    slot->taken = slot->taken && slot->key != key;
}
