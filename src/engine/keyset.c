/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing; a removal moves the followers up, so no tombstones. */
#include "keyset.h"

#include <stdlib.h>

#include "rowferry/base/text.h"

void keyset_init(struct keyset *k)
{
    *k = (struct keyset){0};
}

void keyset_release(struct keyset *k)
{
    free(k->slots);
    keyset_init(k);
}

/* The slot that holds the hash, or the empty one where it belongs. */
static size_t keyset_slot(const struct keyset *k, uint64_t hash)
{
    size_t i = (size_t)hash & (k->capacity - 1);
    while (k->slots[i] != 0 && k->slots[i] != hash) {
        i = (i + 1) & (k->capacity - 1);
    }
    return i;
}

bool keyset_has(const struct keyset *k, uint64_t hash)
{
    return k->count > 0 && k->slots[keyset_slot(k, hash)] == hash;
}

static void keyset_grow(struct keyset *k)
{
    struct keyset bigger = {.capacity = k->capacity == 0 ? 256 : k->capacity * 2};
    bigger.slots = mem_zero(bigger.capacity, sizeof(*bigger.slots));
    for (size_t i = 0; i < k->capacity; i++) {
        if (k->slots[i] != 0) {
            bigger.slots[keyset_slot(&bigger, k->slots[i])] = k->slots[i];
            bigger.count++;
        }
    }
    keyset_release(k);
    *k = bigger;
}

bool keyset_add(struct keyset *k, uint64_t hash)
{
    if (k->count * 2 >= k->capacity) {
        keyset_grow(k);
    }
    size_t i = keyset_slot(k, hash);
    if (k->slots[i] == hash) {
        return false;
    }
    k->slots[i] = hash;
    k->count++;
    return true;
}

bool keyset_remove(struct keyset *k, uint64_t hash)
{
    if (!keyset_has(k, hash)) {
        return false;
    }
    size_t mask = k->capacity - 1;
    size_t hole = keyset_slot(k, hash);
    k->slots[hole] = 0;
    k->count--;
    for (size_t i = (hole + 1) & mask; k->slots[i] != 0; i = (i + 1) & mask) {
        size_t home = (size_t)k->slots[i] & mask;
        /* may it move into the hole: is its home not cyclically within (hole, i]? */
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            k->slots[hole] = k->slots[i];
            k->slots[i] = 0;
            hole = i;
        }
    }
    return true;
}
