/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The type table: which PostgreSQL type fills which mapping type, by which converter, and what is
 * lost. One line a pair; docs/types.md shows the same table.
 */
#ifndef ROWFERRY_DOCUMENT_TYPE_H
#define ROWFERRY_DOCUMENT_TYPE_H

#include <stdbool.h>
#include <stddef.h>

#include "rowferry/base/buf.h"
#include "rowferry/document/mapping.h"
#include "rowferry/document/row.h"

struct type_pair;

/* What a value could not be, for a dead letter: a static text, or one behind what was written,
 * valid until the buffer's next append; null where it fits. */
typedef const char *type_refusal;

/*
 * Writes one value that is not null as JSON. No state but the pair's scratch, no allocation but the
 * buffers'. Returns null, or why the field cannot hold the value (the caller rolls the operation
 * back).
 */
typedef type_refusal (*type_converter)(struct buf *out, const char *text, size_t len,
                                       const struct type_pair *pair);

struct type_rule;

/* How a column fills a property: a tree like the column's, made once. */
struct type_pair {
    type_converter convert;
    const struct property *property; /* borrowed */
    struct type_inner *inner;        /* what the value is made of; null where it is one value */
    const char *loss;                /* null, or what search loses (check shows it) */
    const struct type_rule *rule;    /* the table's line; of an array, its elements' */
};

/* The inside of an array (one pair, of its elements). Its scratch makes a plan one thread's. */
struct type_inner {
    struct buf scratch; /* a part without its escapes, until it is converted */
    char delimiter;     /* between an array's elements */
    size_t count;
    struct type_pair pairs[];
};

/* True where the column can fill the property: release the pair. Else `why` says what would be
 * needed. */
bool type_find(struct type_pair *out, const struct column *column, const struct property *property,
               struct buf *why);
void type_release(struct type_pair *pair);

static inline type_refusal type_convert(struct buf *out, const char *text, size_t len,
                                        const struct type_pair *pair)
{
    return pair->convert(out, text, len, pair);
}

#endif
