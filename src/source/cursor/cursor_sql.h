/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the statement that reads rows in the order of (column, key), matching or not. It returns
 * the key's text, the columns, the cursor's value, and whether the row matches.
 */
#pragma once

#include "rowferry/document/model/key.h"
#include "rows/rowsql.h"

/* The range to read; null: no such bound. All borrowed. */
struct cursor_range {
    bool nulls;              /* rows without a value, in the key's order */
    const char *after_value; /* with after_key; not with nulls */
    const char *after_key;
    const char *from;   /* inclusive lower bound */
    const char *before; /* exclusive upper bound */
    bool included;      /* makes `before` inclusive and `from` exclusive */
    const char *until;  /* below this value only rows that match */
    bool gone;          /* only rows that do not match */
    bool count;         /* only counts the rows that do not match */
    size_t limit;
};

struct cursor_sql {
    struct buf text;
    struct buf parts; /* of the key */
    char limit[24];
    const char *params[KEY_MAX_PARTS + 6];
    size_t count;
};

/* Returns the type to which a value's text is cast; null if the column's type is unsuitable. */
const char *cursor_sql_type(const struct column *column);

/* Release it after an error too. */
int cursor_sql_build(struct cursor_sql *s, const struct rowsql_input *in, const char *column,
                     const struct cursor_range *range, struct err *err) MUST_CHECK;
void cursor_sql_release(struct cursor_sql *s);

/* Appends the statement that returns the largest value of the column. */
void cursor_sql_push_largest(struct buf *out, const struct table *t, const char *column);
