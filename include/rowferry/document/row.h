/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is read: columns as the catalogue describes them, and one row of borrowed values.
 *
 * value[0] of every row is the key's text (document/key.h); value[i + 1] is the plan's column i.
 * Values are PostgreSQL's text form under the session settings of source/pg.h (ISO dates, UTC,
 * shortest exact floats, hex bytea). A row is valid until the next call to whoever handed it out.
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
};

struct column {
    char *name;
    char *type;         /* pg_type.typname of the base type: "int8", "text", "timestamptz" ... */
    char *element_type; /* the same of an array's element, else null */
    char *declared;     /* format_type(): "bigint", "character varying(20)[]", for messages */
    char category;      /* pg_type.typtype of the base type: b, c, e, r, m */
    bool not_null;
};

struct columns {
    struct column *items;
    size_t count;
};

void columns_release(struct columns *c);

/* The column of that name, or null. */
const struct column *columns_find(const struct columns *c, const char *name);

#endif
