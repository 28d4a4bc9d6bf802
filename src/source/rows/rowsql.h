/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the statements that read rows. All return the key's text and the same columns; they differ
 * in how they choose the rows.
 *
 * If a query replaces the rows, two of them list keys of the table instead. The rows are then read
 * by key, so that the server aggregates only the rows that one statement requests.
 */
#pragma once

#include "rowferry/source/catalog/catalog.h"

/* Start of a page in the key's order, and its parameters before the limit: none, a key's parts, or
 * a value of the first part. */
enum rowsql_from { ROWSQL_FIRST, ROWSQL_AFTER, ROWSQL_BEYOND };

struct rowsql {
    char *blocks;      /* $1, $2: from ctid $1 to before $2; null with a query */
    char *range[3][2]; /* in the key's order, with a query only the keys; [][1] has one more
                        * parameter, the largest value of the key's first part */
    char *nulls;       /* rows with a NULL in the key */
    char *again;       /* $1..: an array of texts for each part of the key */
    char *present;     /* like again, but returns only the keys */
    char *texts;       /* like present, with $1: an array of the keys' texts */
    char *runs;        /* like present, for keys between an item of $1 and that of $2; null unless
                        * the key is one unique integer */
    char *runs_count;  /* counts the rows of `runs` */
};

struct rowsql_input {
    const struct table *table;
    const char *const *columns;
    size_t column_count;
    const char *where;        /* null: all rows */
    const char *const *zones; /* of the columns, null for none (plan.h); or null: all have none */
};

/* Returns ERR_REJECTED if a column does not exist. */
int rowsql_build(struct rowsql *out, const struct rowsql_input *in, struct err *err) MUST_CHECK;
int rowsql_check_columns(const struct rowsql_input *in, struct err *err) MUST_CHECK;
void rowsql_release(struct rowsql *s);

/* Appends the columns after the key's text: only names, because values are sent in their own text
 * form. A timestamp with a zone becomes an instant, if an instant of the years 1 to 9999 can
 * result; others stay as they are, because no document holds them and the conversion could fail. */
void rowsql_push_columns(struct buf *out, const struct rowsql_input *in);

/* The statements that list those keys of the table that another query finds, in the key's order.
 * The query has `parameters` parameters of its own; those of `first` and `after` follow. */
struct rowsql_keys {
    char *first;
    char *after;
};

struct rowsql_keys_input {
    const struct table *table;
    const char *query; /* returns the columns of the table's key */
    size_t parameters;
};

int rowsql_keys_build(struct rowsql_keys *out, const struct rowsql_keys_input *in,
                      struct err *err) MUST_CHECK;
void rowsql_keys_release(struct rowsql_keys *s);
