/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents from several tables: a query replaces a table's rows, and depends on other tables.
 *
 * The tables that a statement reads are known from the locks that planning it takes. This includes
 * the tables behind views, and tables that the planner leaves out, but not those used inside
 * functions.
 */
#pragma once

#include "rowferry/source/catalog/catalog.h"

/* Another table that the query reads. */
struct dependency {
    char *table; /* "schema.table" or "table" (public) */
    char **key;  /* the columns whose old and new values are recorded */
    size_t key_count;
    char *keys; /* SQL: from arrays of those values ($1..) to keys of the root */
};

/* Copies the dependencies; returns null if count is 0. */
struct dependency *depend_copy_all(const struct dependency *from, size_t count);
void depend_free_all(struct dependency *d, size_t count);

/* What is read, as configured. All borrowed. */
struct query_input {
    const struct table *root; /* with its query, if there is one (query_describe_columns) */
    const char *where;        /* null: no condition */
    const struct dependency *dependencies;
    size_t dependency_count;
    struct table *const *tables; /* one for each dependency; null: they are looked up */
};

/* Has everything planned, not run: ERR_REJECTED where the role may not read, where a statement is
 * wrong, or where a table is read whose changes nothing sees. views (null: not wanted) gets the
 * definitions of the views that are read, functions (null with it) a line "public.f(text) 7131.."
 * for each function of a user that they or the statements call by name, with a hash of what it
 * does: they decide what a row is. */
int depend_require(struct pg *pg, const struct query_input *in, struct buf *views,
                   struct buf *functions, struct err *err) MUST_CHECK;

/* Appends a volatile function that the plan of the rows calls: its result changes with time or at
 * random, without a change of a table. Appends nothing if there is none. */
int reads_volatile(struct pg *pg, const struct query_input *in, struct buf *function,
                   struct err *err) MUST_CHECK;

/* Looks up a dependency's table, with the recorded columns as its key. Also returns ERR_REJECTED if
 * several columns are recorded and one may be NULL. */
int depend_of_query(struct pg *pg, struct table **out, const struct dependency *dependency,
                    struct err *err) MUST_CHECK;
