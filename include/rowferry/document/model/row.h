/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data read from PostgreSQL: columns as described by the catalogue, and one row of borrowed values.
 *
 * value[0] of a row is the key's text (document/model/key.h); value[i + 1] is the plan's column i.
 * Values have PostgreSQL's text form under the session settings of source/pg/pg.h (ISO dates, UTC,
 * shortest exact floats, hex bytea). A row is valid until the next call of the function that
 * returned it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct value {
    const char *text; /* undefined if null */
    size_t len;
    bool null;
};

struct row {
    const struct value *values;
    size_t count;
    const char *unreadable; /* why its values could not be read, borrowed; null if they were read */
};

#define COLUMN_ARRAY 'a'

/*
 * A column, a composite's field, or the element of an array or range: a tree. A domain is replaced
 * by its base type at every level.
 */
struct column {
    char *name;     /* of a column or field; else its declared type, for messages */
    char *type;     /* pg_type.typname of the base type: "int8", "text", "timestamptz" ... */
    char *declared; /* format_type(): "bigint", "character varying(20)[]", for messages */
    char category;  /* COLUMN_ARRAY, else pg_type.typtype of the base type: b, c, e, r, m */
    char delimiter; /* separator of an array's elements: ',' for all types but box */
    bool not_null;
    uint32_t oid;         /* of the base type */
    struct column *parts; /* an array's element, a composite's fields, a range's bound, a
                             multirange's range; empty if nested too deeply */
    size_t part_count;
};

/* Returns true if the column is an array whose element type is known. */
static inline bool column_is_array(const struct column *c)
{
    return c->category == COLUMN_ARRAY && c->part_count == 1;
}

struct columns {
    struct column *items;
    size_t count;
};

void row_column_release(struct column *c);
void row_columns_release(struct columns *c);

/* Returns the column of that name, or null. */
const struct column *row_columns_find(const struct columns *c, const char *name);
