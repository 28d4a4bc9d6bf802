/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that were delivered ahead of their time, so that they are recognised when they come again.
 * A table of fixed size: a row that was pushed out of it is merely delivered twice. Pure.
 */
#ifndef ROWFERRY_SOURCE_DEDUP_CACHE_H
#define ROWFERRY_SOURCE_DEDUP_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seen_slot {
    uint64_t key; /* hashes */
    uint64_t content;
    bool taken;
};

struct seen {
    struct seen_slot *slots;
    size_t count; /* a power of two */
};

/* At least so many slots. */
void seen_init(struct seen *s, size_t slots);
void seen_release(struct seen *s);
void seen_reset(struct seen *s);

/* Whether this was the last that was delivered of the key. */
bool seen_same(const struct seen *s, uint64_t key, uint64_t content);

/* This is delivered now, and will come again. */
void seen_note(struct seen *s, uint64_t key, uint64_t content);

/* Another state of the key is delivered now, which will not come again. */
void seen_forget(struct seen *s, uint64_t key);

#endif
