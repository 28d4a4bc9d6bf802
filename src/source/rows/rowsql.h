/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statements that read rows: the same columns, the key's text first, by several ways to
 * choose rows.
 *
 * Where a query takes the rows' place, two of them list keys of the table instead: the rows are
 * then read by key, so that the server aggregates no more than what one statement asks for.
 */
#ifndef ROWFERRY_SOURCE_ROWSQL_H
#define ROWFERRY_SOURCE_ROWSQL_H

#include "rowferry/source/catalog/catalog.h"

/* Where a page in the key's order begins, and its parameters before "how many": none, a key's
 * parts, or a value of the first part. */
enum rowsql_from { ROWSQL_FIRST, ROWSQL_AFTER, ROWSQL_BEYOND };

struct rowsql {
    char *blocks;      /* $1, $2: from this ctid to before that one; null with a query */
    char *range[3][2]; /* in the key's order, with a query the keys alone; [][1] has as its last
                          parameter a value of the first part, with which it ends */
    char *nulls;       /* rows whose key has a part that is null */
    char *again;       /* $1..: an array of texts for each part of the key */
    char *present;     /* the same, of the rows the keys alone */
    char *texts;       /* the same, by $1: an array of the keys' texts */
    char *runs;        /* the same, by keys from one of $1 to that of $2; null where the key is more
                          or other than an integer without repeats */
    char *runs_count;  /* how many those are */
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

/* Appends the columns after the key's text. They go out in their own text form, so the list is
 * names and nothing else. */
int rowsql_push_columns(struct pg *pg, struct buf *out, const struct rowsql_input *in,
                        struct err *err) MUST_CHECK;

/* The statements that list keys of the table which another query finds, in the key's order. The
 * query has so many parameters of its own; those of `first` and `after` follow. */
struct rowsql_keys {
    char *first;
    char *after;
};

struct rowsql_keys_input {
    const struct table *table;
    const char *query; /* gives the columns of the table's key */
    size_t parameters;
};

int rowsql_keys_build(struct rowsql_keys *out, struct pg *pg, const struct rowsql_keys_input *in,
                      struct err *err) MUST_CHECK;
void rowsql_keys_release(struct rowsql_keys *s);

#endif
