/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The distinct keys of one page, and which of them had a row. Pure; bounded by its buffer.
 */
#ifndef ROWFERRY_SOURCE_KEYSET_H
#define ROWFERRY_SOURCE_KEYSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

/* Whether it is the beginning of a key that is too long for a document, which is not asked for. */
enum keyset_cut { KEYSET_WHOLE, KEYSET_CUT_ROW, KEYSET_CUT_GONE };

struct keyset_item {
    size_t offset;
    size_t len;
    uint64_t hash;
    bool found;   /* a row came for it */
    bool strange; /* none can: not asked for by value */
    enum keyset_cut cut;
};

struct keyset {
    struct buf bytes; /* NUL-terminated keys, one after the other */
    struct keyset_item *items;
    size_t count;
    size_t capacity;
    size_t *slots; /* index + 1 into items, 0 = empty; a power of two of them */
    size_t slot_count;
};

enum keyset_added { KEYSET_NEW, KEYSET_KNOWN, KEYSET_FULL };
enum keyset_match { KEYSET_FIRST, KEYSET_AGAIN, KEYSET_STRANGER };

void keyset_init(struct keyset *k, size_t max_bytes);
void keyset_release(struct keyset *k);
/* Empties it, keeps the memory. */
void keyset_reset(struct keyset *k);

enum keyset_added keyset_add(struct keyset *k, struct span key);

/* Notes that a key, which was added, is the beginning of one that is too long. */
void keyset_set_cut(struct keyset *k, struct span key, enum keyset_cut cut);

/* Notes that a row with this key came: for the first time, again, or for a key that is not one of
 * those asked for, the ones from index `from` to before `to`. */
enum keyset_match keyset_mark(struct keyset *k, struct span key, size_t from, size_t to);

/* The place of a key; false where it is not in the set. */
bool keyset_place(const struct keyset *k, struct span key, size_t *index);

/* Borrowed until the next add; NUL-terminated. */
struct span keyset_get(const struct keyset *k, size_t index);

#endif
