/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Set of key hashes (base/text.h text_hash, never 0). Two keys with the same hash count as one.
 * That is acceptable because a collision only makes its users wait a little longer.
 */
#pragma once

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
/* Returns false if the hash was already in the set. */
bool hashset_add(struct hashset *k, uint64_t hash);
/* Returns false if the hash was not in the set. */
bool hashset_remove(struct hashset *k, uint64_t hash);
