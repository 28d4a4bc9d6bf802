/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statements that read rows: the same columns, the key's text first, by five ways to choose
 * rows.
 */
#ifndef ROWFERRY_SOURCE_ROWSQL_H
#define ROWFERRY_SOURCE_ROWSQL_H

#include "rowferry/source/catalog.h"

struct rowsql {
    char *blocks; /* $1, $2: from this ctid to before that one */
    char *first;  /* $1: how many; in the key's order */
    char *after;  /* $1..: a key's parts, then how many */
    char *nulls;  /* rows whose key has a part that is null */
    char *again;  /* $1..: an array of texts for each part of the key */
};

struct rowsql_input {
    const struct table *table;
    const char *const *columns;
    size_t column_count;
    const char *where; /* null: all rows */
};

/* ERR_REJECTED where a column does not exist or names cannot be quoted. */
int rowsql_build(struct rowsql *out, struct pg *pg, const struct rowsql_input *in,
                 struct err *err) MUST_CHECK;
void rowsql_release(struct rowsql *s);

#endif
