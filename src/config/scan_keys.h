/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys of JSON objects that are being read, compared by what their escapes mean.
 */
#ifndef ROWFERRY_CONFIG_SCAN_KEYS_H
#define ROWFERRY_CONFIG_SCAN_KEYS_H

#include <stdbool.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

struct scan_key;

/* Zeroed at first; the caller frees items at last. */
struct scan_keys {
    struct scan_key *items; /* an object's after those of the object around it */
    size_t count;
    size_t room;
};

/* Adds a key, which is valid JSON without its quotes and is borrowed, and appends what it means to
 * path. Returns false if that has a zero byte or half of a character. */
bool scan_keys_push(struct scan_keys *keys, struct buf *path, struct span key);

/* Takes off the keys from `first` on, those of an object that ends. Returns the first of them, in
 * the order of the text, that is there a second time, or null. */
const char *scan_keys_end(struct scan_keys *keys, size_t first);

#endif
