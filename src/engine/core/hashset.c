/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing. Removal shifts the following entries; tombstones are not
 * needed. */
#include "core/hashset.h"

#include <stdlib.h>

#include "rowferry/base/text.h"

void hashset_init(struct hashset *k)
{
    *k = (struct hashset){0};
}

void hashset_release(struct hashset *k)
{
    free(k->slots);
    hashset_init(k);
}

/* Returns the slot that holds the hash, or the empty slot for it. */
static size_t hashset_slot(const struct hashset *k, uint64_t hash)
{
    size_t i = (size_t)hash & (k->capacity - 1);
    while (k->slots[i] != 0 && k->slots[i] != hash) {
        i = (i + 1) & (k->capacity - 1);
    }
    return i;
}

bool hashset_has(const struct hashset *k, uint64_t hash)
{
    return k->count > 0 && k->slots[hashset_slot(k, hash)] == hash;
}

static void hashset_grow(struct hashset *k)
{
    struct hashset bigger = {.capacity = k->capacity == 0 ? 256 : k->capacity * 2};
    bigger.slots = mem_zero(bigger.capacity, sizeof(*bigger.slots));
    for (size_t i = 0; i < k->capacity; i++) {
        if (k->slots[i] != 0) {
            bigger.slots[hashset_slot(&bigger, k->slots[i])] = k->slots[i];
            bigger.count++;
        }
    }
    hashset_release(k);
    *k = bigger;
}

bool hashset_add(struct hashset *k, uint64_t hash)
{
    if (k->count * 2 >= k->capacity) {
        hashset_grow(k);
    }
    size_t i = hashset_slot(k, hash);
    if (k->slots[i] == hash) {
        return false;
    }
    k->slots[i] = hash;
    k->count++;
    return true;
}

bool hashset_remove(struct hashset *k, uint64_t hash)
{
    if (!hashset_has(k, hash)) {
        return false;
    }
    size_t mask = k->capacity - 1;
    size_t hole = hashset_slot(k, hash);
    k->slots[hole] = 0;
    k->count--;
    for (size_t i = (hole + 1) & mask; k->slots[i] != 0; i = (i + 1) & mask) {
        size_t home = (size_t)k->slots[i] & mask;
        /* an entry may move into the hole if its home is not cyclically within (hole, i] */
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            k->slots[hole] = k->slots[i];
            k->slots[i] = 0;
            hole = i;
        }
    }
    return true;
}
