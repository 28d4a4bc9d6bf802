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
#include "rowferry/document/mapping/mapping.h"
#include "rowferry/document/model/row.h"

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

/* Not a refusal: nothing was written, the value has no form in JSON and counts as NULL. */
extern const char type_absent[];

struct type_rule;

/* How a column fills a property: a tree like the column's, made once. */
struct type_pair {
    type_converter convert;
    const struct property *property; /* borrowed */
    struct type_inner *inner;        /* what the value is made of; null where it is one value */
    const char *loss;                /* null, or what search loses (check shows it) */
    const struct type_rule *rule;    /* the table's line; of an array, its elements'; null where
                                        the property does not say how: convert_natural.h */
    char *name;                      /* of a composite's field, `"city":`, else null */
    size_t name_len;
};

/*
 * The inside of a value: one pair of an array's elements, a range's bounds or a multirange's
 * ranges, a pair for each field of a composite, one for each child that an hstore may fill. Its
 * scratch makes a plan one thread's.
 */
struct type_inner {
    struct buf scratch; /* a part without its escapes, until it is converted */
    char delimiter;     /* between an array's elements */
    bool drops_nulls;   /* an array whose property refuses null among values */
    bool one_value;     /* an array whose property takes a single value of a document */
    bool open;          /* an hstore may have keys that no child is named after */
    size_t count;
    struct type_pair pairs[];
};

void type_release(struct type_pair *pair);

static inline type_refusal type_convert(struct buf *out, const char *text, size_t len,
                                        const struct type_pair *pair)
{
    return pair->convert(out, text, len, pair);
}

#endif
