/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of key hashes (base/text.h text_hash, never 0). Two keys with one hash count as one: the
 * users of this set only wait a little longer for that, they never decide on it.
 */
#ifndef ROWFERRY_ENGINE_KEYSET_H
#define ROWFERRY_ENGINE_KEYSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct keyset {
    uint64_t *slots; /* 0 = empty */
    size_t capacity; /* a power of two, or 0 */
    size_t count;
};

void keyset_init(struct keyset *k);
void keyset_release(struct keyset *k);
bool keyset_has(const struct keyset *k, uint64_t hash);
/* False where it was there already. */
bool keyset_add(struct keyset *k, uint64_t hash);
/* False where it was not there. */
bool keyset_remove(struct keyset *k, uint64_t hash);

#endif
