/* SPDX-License-Identifier: Apache-2.0 */
/* The distinct keys of one page: a hash table with open addressing over keys in one buffer. */
#include "rows/keyset.h"

#include <stdlib.h>
#include <string.h>

void keyset_init(struct keyset *k, size_t max_bytes)
{
    *k = (struct keyset){0};
    buf_init(&k->bytes, max_bytes);
}

void keyset_release(struct keyset *k)
{
    buf_release(&k->bytes);
    free(k->items);
    free(k->slots);
    *k = (struct keyset){0};
}

void keyset_reset(struct keyset *k)
{
    buf_reset(&k->bytes);
    k->count = 0;
    if (k->slot_count > 0) {
        memset(k->slots, 0, k->slot_count * sizeof(*k->slots));
    }
}

struct span keyset_get(const struct keyset *k, size_t index)
{
    const struct keyset_item *item = &k->items[index];
    return span_make(buf_text(&k->bytes) + item->offset, item->len);
}

/* Returns the slot of the key, or the empty slot for it. */
static size_t *keyset_find(const struct keyset *k, struct span key, uint64_t hash)
{
    size_t mask = k->slot_count - 1;
    for (size_t i = (size_t)hash & mask;; i = (i + 1) & mask) {
        size_t place = k->slots[i];
        if (place == 0 ||
            (k->items[place - 1].hash == hash && span_equal(keyset_get(k, place - 1), key))) {
            return &k->slots[i];
        }
    }
}

/* Keeps the table at most half full, so that a search is short and always ends. */
static void keyset_grow(struct keyset *k)
{
    if (k->count * 2 < k->slot_count) {
        return;
    }
    size_t slots = k->slot_count > 0 ? k->slot_count * 2 : 64;
    free(k->slots);
    k->slots = mem_zero(slots, sizeof(*k->slots));
    k->slot_count = slots;
    for (size_t i = 0; i < k->count; i++) {
        *keyset_find(k, keyset_get(k, i), k->items[i].hash) = i + 1;
    }
}

enum keyset_added keyset_add(struct keyset *k, struct span key)
{
    keyset_grow(k);
    uint64_t hash = text_hash(key.data, key.len);
    size_t *slot = keyset_find(k, key, hash);
    if (*slot != 0) {
        return KEYSET_KNOWN;
    }
    size_t offset = k->bytes.len;
    buf_push(&k->bytes, key.data, key.len);
    buf_push_char(&k->bytes, '\0');
    if (k->bytes.failed) {
        buf_truncate(&k->bytes, offset);
        return KEYSET_FULL;
    }
    if (k->count == k->capacity) {
        k->capacity = k->capacity > 0 ? k->capacity * 2 : 64;
        k->items = mem_grow(k->items, k->capacity, sizeof(*k->items));
    }
    k->items[k->count++] = (struct keyset_item){.offset = offset, .len = key.len, .hash = hash};
    *slot = k->count;
    return KEYSET_NEW;
}

void keyset_set_cut(struct keyset *k, struct span key, enum keyset_cut cut)
{
    size_t index;
    if (keyset_place(k, key, &index)) {
        k->items[index].cut = cut;
    }
}

bool keyset_place(const struct keyset *k, struct span key, size_t *index)
{
    size_t place = k->slot_count > 0 ? *keyset_find(k, key, text_hash(key.data, key.len)) : 0;
    *index = place > 0 ? place - 1 : 0;
    return place > 0;
}

enum keyset_match keyset_mark(struct keyset *k, struct span key, size_t from, size_t to)
{
    if (k->slot_count == 0) {
        return KEYSET_STRANGER;
    }
    size_t place = *keyset_find(k, key, text_hash(key.data, key.len));
    if (place == 0 || place - 1 < from || place - 1 >= to) {
        return KEYSET_STRANGER;
    }
    bool again = k->items[place - 1].found;
    k->items[place - 1].found = true;
    return again ? KEYSET_AGAIN : KEYSET_FIRST;
}
