/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The type table: which PostgreSQL type fills which mapping type, by which converter, and what is
 * lost. One line a pair; docs/types.md shows the same table.
 */
#ifndef ROWFERRY_DOCUMENT_TYPE_H
#define ROWFERRY_DOCUMENT_TYPE_H

#include <stdbool.h>
#include <stddef.h>

#include "rowferry/document/mapping.h"
#include "rowferry/document/row.h"

struct buf;

/* What a value could not be, for a dead letter: a static text; null where it fits. */
typedef const char *type_refusal;

/*
 * Writes one value that is not null as JSON. Pure: no state, no allocation but the buffer's.
 * Returns null, or why the field cannot hold the value (the caller rolls the operation back).
 */
typedef type_refusal (*type_converter)(struct buf *out, const char *text, size_t len,
                                       const struct property *property);

struct type_rule;

struct type_pair {
    const struct type_rule *rule; /* the table's line */
    type_converter convert;       /* of the value, or of an array's element */
    bool array;                   /* the column is an array: the converter is for its elements */
    const char *loss;             /* null, or what search loses (check shows it) */
};

/* True where the column can fill the property; else `why` says what would be needed. */
bool type_find(struct type_pair *out, const struct column *column, const struct property *property,
               struct buf *why);

#endif
