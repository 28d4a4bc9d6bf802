/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deduplication cache: remembers rows that were delivered from above the horizon, to recognise them
 * when they are read again. Its size is fixed; a row that was evicted is merely delivered twice.
 * Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dedup_cache_slot {
    uint64_t key; /* hash */
    uint64_t content;
    bool taken;
};

struct dedup_cache {
    struct dedup_cache_slot *slots;
    size_t count; /* a power of two */
};

/* Makes a cache of at least `slots` slots. */
void dedup_cache_init(struct dedup_cache *s, size_t slots);
void dedup_cache_release(struct dedup_cache *s);
void dedup_cache_reset(struct dedup_cache *s);

/* Returns true if this content was the last one delivered for the key. */
bool dedup_cache_same(const struct dedup_cache *s, uint64_t key, uint64_t content);

/* Records a row that is delivered now and will be read again. */
void dedup_cache_note(struct dedup_cache *s, uint64_t key, uint64_t content);

/* Removes the key, because a row is delivered now that will not be read again. */
void dedup_cache_forget(struct dedup_cache *s, uint64_t key);
