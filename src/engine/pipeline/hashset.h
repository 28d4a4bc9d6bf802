/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of key hashes (base/text.h text_hash, never 0). Two keys with one hash count as one: the
 * users of this set only wait a little longer for that, they never decide on it.
 */
#ifndef ROWFERRY_ENGINE_HASHSET_H
#define ROWFERRY_ENGINE_HASHSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hashset {
    uint64_t *slots; /* 0 = empty */
    size_t capacity; /* a power of two, or 0 */
    size_t count;
};

void hashset_init(struct hashset *k);
void hashset_release(struct hashset *k);
bool hashset_has(const struct hashset *k, uint64_t hash);
/* False where it was there already. */
bool hashset_add(struct hashset *k, uint64_t hash);
/* False where it was not there. */
bool hashset_remove(struct hashset *k, uint64_t hash);

#endif
