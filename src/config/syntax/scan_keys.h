/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys of the JSON objects being read, compared by the meaning of their escapes.
 */
#pragma once

#include <stdbool.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

struct scan_key;

/* Must be zeroed; the caller frees items at the end. */
struct scan_keys {
    struct scan_key *items; /* an object's keys follow those of the enclosing object */
    size_t count;
    size_t room;
};

/* Adds a key, which is valid JSON without its quotes and is borrowed, and appends its meaning to
 * path. Returns false if that has a zero byte or an incomplete character. */
bool scan_keys_push(struct scan_keys *keys, struct buf *path, struct span key);

/* Removes the keys from `first` on, those of an object that ends. Returns the first duplicate in
 * the order of the text, or null. */
const char *scan_keys_end(struct scan_keys *keys, size_t first);
