/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the tables that statements read, by planning them.
 */
#pragma once

#include "changelog/depend.h"
#include "rowferry/source/catalog/query.h"

struct read_table {
    uint32_t oid;
    char kind;    /* pg_class.relkind */
    bool allowed; /* the role may read it directly, not only through a view */
    bool tree;    /* has members */
    char *quoted;
    char *definition; /* of a view, else null */
};

struct reads {
    struct read_table *items;
    size_t count;
    struct buf plan; /* of the rows, as EXPLAIN VERBOSE tells it */
};

/* Plans the rows of the root and the keys of each dependency, in a separate transaction. Returns
 * ERR_REJECTED if a statement is invalid or a right is missing. */
int reads_find(struct reads *out, struct pg *pg, const struct query_input *in,
               const struct depends *depends, struct err *err) MUST_CHECK;
void reads_release(struct reads *r);

/* Returns ERR_REJECTED with the first table that is neither the root nor a dependency. */
int reads_check_covered(const struct reads *r, const struct query_input *in,
                        const struct depends *depends, struct err *err) MUST_CHECK;

/* Appends the statement that locks all of them against a rewrite. */
void reads_push_lock(struct buf *out, const struct reads *r, const struct table *root);
