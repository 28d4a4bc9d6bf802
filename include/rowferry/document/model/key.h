/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source_id: the text form of the key, which is the document's `_id` unless it is hashed.
 *
 * With one key column, it is that column's text. With several, the parts are joined by ':', with
 * '\' and ':' inside a part escaped as '\\' and '\:' ("eu:42"), so that it is injective, reversible
 * and readable. The trigger and every read compute the same form in SQL (source/catalog/keytext.h).
 * This module is the inverse, used to read rows again by key.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rowferry/base/err.h"
#include "rowferry/base/text.h"

struct buf;

/* How a key addresses its document: its _id, and the part of the key that decides in which shard
 * the document is stored. If count is 0, the whole _id decides. */
struct key_routing {
    size_t part;
    size_t count; /* number of parts of the key */
    bool hashed;  /* a key that is too long for an _id is hashed (option to.id) */
};

#define KEY_MAX_BYTES 512       /* both products refuse a bulk request with a longer _id */
#define KEY_LONG_MAX_BYTES 8192 /* with hashed ids; the change log cuts longer keys */
#define KEY_ID_BYTES 72         /* "sha256:", 64 digits and a NUL */
#define KEY_MAX_PARTS 32        /* PostgreSQL's limit for columns of an index */

/*
 * Splits a key's text into `count` parts, NUL-terminated one after the other in `out`; offsets[i]
 * is the start of part i. Returns ERR_REJECTED if the text does not have `count` parts.
 */
int key_split(struct buf *out, size_t *offsets, const char *text, size_t len, size_t count,
              struct err *err) MUST_CHECK;

static inline size_t key_max_bytes(const struct key_routing *routing)
{
    return routing->hashed ? KEY_LONG_MAX_BYTES : KEY_MAX_BYTES;
}

/* Returns true if the text has the form of a hashed id. */
bool key_is_hash(struct span text);

/* Use key_id instead. */
struct span key_hash(char out[KEY_ID_BYTES], struct span key);

/* Returns the _id of a key's document: the key itself, or its hash in `out`. With hashed ids, a key
 * is hashed if it is too long or has the form of a hash, so that two keys never share an _id. */
static inline struct span key_id(char out[KEY_ID_BYTES], const struct key_routing *routing,
                                 struct span key)
{
    return routing->hashed && (key.len > KEY_MAX_BYTES || key_is_hash(key)) ? key_hash(out, key)
                                                                            : key;
}

/* Writes the routing of a key's document to `out`, without a NUL. Returns its length. Returns 0 if
 * routing is not configured, the part is empty, or the key has another form (not one of our
 * documents). */
size_t key_route(char out[KEY_LONG_MAX_BYTES], const struct key_routing *routing, const char *text,
                 size_t len);
