/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The type table: the converter from each PostgreSQL type to each mapping type, and what is lost.
 * It has one line per pair; docs/types.md shows the same table.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rowferry/base/buf.h"
#include "rowferry/document/mapping/mapping.h"
#include "rowferry/document/model/row.h"

struct type_pair;

/* The reason why a value does not fit, for a dead letter; null if it fits. It is a static text, or
 * was written behind the value and is valid until the buffer's next append. */
typedef const char *type_refusal;

/*
 * Writes one non-null value as JSON. Has no state except the pair's scratch, and allocates only in
 * the buffers. Returns null, or why the field cannot hold the value; then the caller rolls the
 * operation back.
 */
typedef type_refusal type_converter(struct buf *out, const char *text, size_t len,
                                    const struct type_pair *pair);

/* Returned instead of a refusal: nothing was written. The value has no JSON form and counts as
 * NULL. */
extern const char type_absent[];

struct type_rule;

/* How a column fills a property: a tree like the column's, built once. */
struct type_pair {
    type_converter *convert;
    const struct property *property; /* borrowed */
    struct type_inner *inner;        /* the parts of the value; null if it is a single value */
    const char *loss;                /* null, or what is lost for searches (shown by `check`) */
    const struct type_rule *rule; /* the table's line; for an array, that of its elements; null if
                                     the property does not determine it (convert_natural.h) */
    char *name;                   /* name of a composite's field, `"city":`, else null */
    size_t name_len;
};

/*
 * The parts of a value. One pair for an array's elements, a range's bounds or a multirange's
 * ranges; one pair per field of a composite; one per child that an hstore may fill. Because of its
 * scratch, a plan belongs to one thread.
 */
struct type_inner {
    struct buf scratch; /* an unescaped part, until it is converted */
    char delimiter;     /* separates an array's elements */
    bool drops_nulls;   /* for an array whose property refuses null among values */
    bool one_value;     /* for an array whose property takes a single value per document */
    bool open;          /* an hstore may have keys without a child of that name */
    size_t count;
    struct type_pair pairs[];
};

void type_release(struct type_pair *pair);

static inline type_refusal type_convert(struct buf *out, const char *text, size_t len,
                                        const struct type_pair *pair)
{
    return pair->convert(out, text, len, pair);
}
