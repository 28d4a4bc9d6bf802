/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is read: columns as the catalogue describes them, and one row of borrowed values.
 *
 * value[0] of every row is the key's text (document/model/key.h); value[i + 1] is the plan's column
 * i. Values are PostgreSQL's text form under the session settings of source/pg/pg.h (ISO dates,
 * UTC, shortest exact floats, hex bytea). A row is valid until the next call to whoever handed it
 * out.
 */
#ifndef ROWFERRY_DOCUMENT_ROW_H
#define ROWFERRY_DOCUMENT_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct value {
    const char *text; /* undefined where null */
    size_t len;
    bool null;
};

struct row {
    const struct value *values;
    size_t count;
    const char *unreadable; /* why its values could not be read, borrowed; null: they were */
};

#define COLUMN_ARRAY 'a'

/*
 * A column, a composite's field, or what an array or range is made of: a tree. A domain counts as
 * its base type at every level.
 */
struct column {
    char *name;     /* of a column or field; else what messages call it: its declared type */
    char *type;     /* pg_type.typname of the base type: "int8", "text", "timestamptz" ... */
    char *declared; /* format_type(): "bigint", "character varying(20)[]", for messages */
    char category;  /* COLUMN_ARRAY, else pg_type.typtype of the base type: b, c, e, r, m */
    char delimiter; /* what parts an array's elements: ',' for all but box */
    bool not_null;
    uint32_t oid;         /* of the base type */
    struct column *parts; /* an array's element, a composite's fields, a range's bound, a
                             multirange's range; none of what is nested too deep to follow */
    size_t part_count;
};

/* Whether it is an array whose elements are known. */
static inline bool column_is_array(const struct column *c)
{
    return c->category == COLUMN_ARRAY && c->part_count == 1;
}

struct columns {
    struct column *items;
    size_t count;
};

void column_release(struct column *c);
void columns_release(struct columns *c);

/* The column of that name, or null. */
const struct column *columns_find(const struct columns *c, const char *name);

#endif
