/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The distinct keys of one page, and which of them had a row. Pure; bounded by its buffer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

/* Whether an item is only the beginning of a key that is too long for a document. Such keys are not
 * looked up. */
enum keyset_cut { KEYSET_WHOLE, KEYSET_CUT_ROW, KEYSET_CUT_GONE };

struct keyset_item {
    size_t offset;
    size_t len;
    uint64_t hash;
    bool found;   /* a row with this key was read */
    bool strange; /* no row can have this key: not looked up by value */
    enum keyset_cut cut;
};

struct keyset {
    struct buf bytes; /* NUL-terminated keys, one after the other */
    struct keyset_item *items;
    size_t count;
    size_t capacity;
    size_t *slots; /* hash table: index + 1 into items, 0 = empty; its size is a power of two */
    size_t slot_count;
};

enum keyset_added { KEYSET_NEW, KEYSET_KNOWN, KEYSET_FULL };
enum keyset_match { KEYSET_FIRST, KEYSET_AGAIN, KEYSET_STRANGER };

void keyset_init(struct keyset *k, size_t max_bytes);
void keyset_release(struct keyset *k);
/* Empties the set, keeps the memory. */
void keyset_reset(struct keyset *k);

enum keyset_added keyset_add(struct keyset *k, struct span key);

/* Records that a key of the set is the beginning of one that is too long. */
void keyset_set_cut(struct keyset *k, struct span key, enum keyset_cut cut);

/* Records that a row with this key was read. Returns FIRST, AGAIN for a further row, or STRANGER if
 * the key is not among the items from index `from` to before `to`. */
enum keyset_match keyset_mark(struct keyset *k, struct span key, size_t from, size_t to);

/* Finds the index of a key; returns false if it is not in the set. */
bool keyset_place(const struct keyset *k, struct span key, size_t *index);

/* Borrowed until the next add; NUL-terminated. */
struct span keyset_get(const struct keyset *k, size_t index);
