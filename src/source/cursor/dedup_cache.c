/* SPDX-License-Identifier: Apache-2.0 */
/* A direct-mapped table: one slot for each key's hash. */
#include "cursor/dedup_cache.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/base/text.h"

void seen_init(struct seen *s, size_t slots)
{
    s->count = 1;
    while (s->count < slots) {
        s->count *= 2;
    }
    s->slots = mem_zero(s->count, sizeof(*s->slots));
}

void seen_release(struct seen *s)
{
    free(s->slots);
    *s = (struct seen){0};
}

void seen_reset(struct seen *s)
{
    memset(s->slots, 0, s->count * sizeof(*s->slots));
}

static struct seen_slot *slot_of(const struct seen *s, uint64_t key)
{
    return &s->slots[(size_t)key & (s->count - 1)];
}

bool seen_same(const struct seen *s, uint64_t key, uint64_t content)
{
    const struct seen_slot *slot = slot_of(s, key);
    return slot->taken && slot->key == key && slot->content == content;
}

void seen_note(struct seen *s, uint64_t key, uint64_t content)
{
    *slot_of(s, key) = (struct seen_slot){key, content, true};
}

void seen_forget(struct seen *s, uint64_t key)
{
    struct seen_slot *slot = slot_of(s, key);
    slot->taken = slot->taken && slot->key != key;
}
