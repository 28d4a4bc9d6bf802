/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source_id: the text form of the key, which is the document's `_id`.
 *
 * With one key column, it is that column's text. With several, the parts are joined by ':', with
 * '\' and ':' inside a part escaped as '\\' and '\:' ("eu:42"), so that it is injective, reversible
 * and readable. The trigger and every read compute the same form in SQL (source/catalog/keytext.h).
 * This module is the inverse, used to read rows again by key.
 */
#pragma once

#include <stddef.h>

#include "rowferry/base/err.h"

struct buf;

/* The part of a key that decides in which shard the document is stored. If count is 0, the whole
 * key decides. */
struct key_routing {
    size_t part;
    size_t count; /* number of parts of the key */
};

#define KEY_MAX_BYTES 512 /* both products refuse a bulk request with a longer _id */
#define KEY_MAX_PARTS 32  /* PostgreSQL's limit for columns of an index */

/*
 * Splits a key's text into `count` parts, NUL-terminated one after the other in `out`; offsets[i]
 * is the start of part i. Returns ERR_REJECTED if the text does not have `count` parts.
 */
int key_split(struct buf *out, size_t *offsets, const char *text, size_t len, size_t count,
              struct err *err) MUST_CHECK;

/* Writes the routing of a key's document to `out`, without a NUL. Returns its length. Returns 0 if
 * routing is not configured, the part is empty, or the key has another form (not one of our
 * documents). */
size_t key_route(char out[KEY_MAX_BYTES], const struct key_routing *routing, const char *text,
                 size_t len);
