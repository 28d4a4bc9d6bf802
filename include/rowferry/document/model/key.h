/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source_id: the key's text form, the document's `_id`.
 *
 * One key column: its text as it is. Several: the parts joined by ':', with '\' and ':' inside a
 * part written as '\\' and '\:' ("eu:42"), which is injective, reversible and readable. The same
 * form is computed in SQL by the trigger and by every read (source/catalog/keytext.h); this is the
 * inverse, used to look rows up again.
 */
#ifndef ROWFERRY_DOCUMENT_KEY_H
#define ROWFERRY_DOCUMENT_KEY_H

#include <stddef.h>

#include "rowferry/base/err.h"

struct buf;

/* Which part of a key decides on which shard its document lies; count 0: none, the whole key does.
 */
struct key_routing {
    size_t part;
    size_t count; /* how many parts the key has */
};

#define KEY_MAX_BYTES 512 /* both products refuse a longer _id, and with it the whole bulk */
#define KEY_MAX_PARTS 32  /* PostgreSQL's limit of columns in an index */

/*
 * Splits a key's text into count parts, NUL-terminated one after the other in `out`;
 * offsets[i] is the start of part i. ERR_REJECTED where the text does not have that many parts.
 */
int key_split(struct buf *out, size_t *offsets, const char *text, size_t len, size_t count,
              struct err *err) MUST_CHECK;

/* The routing of a key's document as it stands in `out`, without a NUL; 0 where there is none: not
 * asked for, an empty part, or a key of another form (of somebody else's document). */
size_t key_route(char out[KEY_MAX_BYTES], const struct key_routing *routing, const char *text,
                 size_t len);

#endif
