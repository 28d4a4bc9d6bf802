/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents of several tables: a query in place of a table's rows, and the tables it depends on.
 *
 * Which tables a statement reads is known from the locks that planning it takes: views are opened,
 * what the planner leaves out is there as well, what a function does inside is not.
 */
#ifndef ROWFERRY_SOURCE_QUERY_H
#define ROWFERRY_SOURCE_QUERY_H

#include "rowferry/source/catalog/catalog.h"

/* Another table that the query reads. */
struct dependency {
    char *table; /* "schema.table" or "table" (public) */
    char **key;  /* the columns whose old and new values are recorded */
    size_t key_count;
    char *keys; /* SQL: arrays of those values, $1.., to keys of the root */
};

/* Copies; null where there are none. */
struct dependency *query_copy_dependencies(const struct dependency *from, size_t count);
void query_free_dependencies(struct dependency *d, size_t count);

/* What is read, as configured. All borrowed. */
struct query_input {
    const struct table *root; /* with its query, where there is one (catalog_query) */
    const char *where;        /* null: no condition */
    const struct dependency *dependencies;
    size_t dependency_count;
    struct table *const *tables; /* one for each dependency; null: they are looked up */
};

/* Has everything planned, not run: ERR_REJECTED where the role may not read, where a statement is
 * wrong, or where a table is read whose changes nothing sees. views (null: not wanted) gets the
 * definitions of the views that are read: they decide what a row is. */
int query_require(struct pg *pg, const struct query_input *in, struct buf *views,
                  struct err *err) MUST_CHECK;

/* Appends a function that the rows' plan calls and whose result changes by itself, with time or at
 * random, so that no change of a table tells; nothing where there is none. */
int query_unsteady(struct pg *pg, const struct query_input *in, struct buf *function,
                   struct err *err) MUST_CHECK;

/* Looks up a dependency's table, with the recorded columns as its key. ERR_REJECTED also where
 * several columns are recorded and one may be NULL. */
int query_dependency(struct pg *pg, struct table **out, const struct dependency *dependency,
                     struct err *err) MUST_CHECK;

#endif
