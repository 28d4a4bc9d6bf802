/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the catalogue says of a table: columns, key, definition, size.
 */
#ifndef ROWFERRY_SOURCE_CATALOG_H
#define ROWFERRY_SOURCE_CATALOG_H

#include "rowferry/base/buf.h"
#include "rowferry/document/model/row.h"
#include "rowferry/source/pg/pg.h"

struct table {
    uint32_t oid;
    char *schema;
    char *name;
    char *quoted;           /* "public"."articles", for SQL and messages */
    char kind;              /* pg_class.relkind: r, p */
    bool tree;              /* has partitions, or tables that inherit: read with all of them */
    bool row_security;      /* active for this role */
    char *query;            /* what is read instead of the rows themselves; null: the rows */
    struct columns columns; /* of the query where there is one */
    char **key;             /* the configured key columns, checked to exist */
    char **key_types;       /* their types as format_type() writes them, for casts */
    size_t key_count;
    bool key_unique; /* a valid, not partial unique index over exactly these columns */
    bool key_not_null;
    int64_t estimated_rows; /* reltuples over the tree; -1 where never analysed */
    int64_t bytes;          /* pg_relation_size over the tree */
    char fingerprint[17];   /* of column names, types and key: changes with the definition */
    char *definition;       /* what the fingerprint is of, one line a column */
    char **key_operators;   /* the schemas of their comparison operators: "pg_catalog" mostly */
    char persistence;       /* pg_class.relpersistence: p, u, t */
    bool is_child;          /* a partition, or a table that inherits */
    bool is_heap;           /* rows have a block and a place in it; false for a tree */
    char *obstacle;         /* why one of the members cannot be captured; null: all can */
};

/*
 * Looks up a table by its configured name (source/sql/tablename.h) and checks the key; key_count 0
 * = the primary key. ERR_REJECTED: no such table (with the nearest name), no such column, no key
 * ("name one"), a key that is not unique is NOT an error here (check and sync decide by
 * key_unique).
 */
int catalog_table(struct pg *pg, struct table **out, const char *name, const char *const *key,
                  size_t key_count, struct err *err) MUST_CHECK;
void table_free(struct table *t); /* null is allowed */

/*
 * From now on the rows of the table are what the query gives, one for each key; columns and
 * fingerprint become the query's. ERR_REJECTED where the query is wrong, or lacks a column of the
 * key, or has it with another type.
 */
int catalog_query(struct pg *pg, struct table *t, const char *query, struct err *err) MUST_CHECK;

/* Appends what to read from, with the alias t. */
void catalog_push_source(struct buf *out, const struct table *t);

/* ERR_REJECTED where the change log cannot see all that happens to such a table (unlogged, itself
 * part of another table, or with such a member); the message says why. */
int catalog_capturable(const struct table *t, struct err *err) MUST_CHECK;

/* Whether a user defined the column's type, whose owner can define casts then: code that would run
 * with our rights. */
bool catalog_is_users(const struct column *c);
bool catalog_key_is_users(const struct table *t, size_t part);

/* Two definitions of a table, and the columns beside its key that matter. */
struct drift {
    const char *was;
    const char *is;
    const char *const *columns;
    size_t column_count;
};

/* ERR_STATE with the first column of the key, then of those, that differs; 0 where only others do.
 */
int catalog_drift(const struct table *t, const struct drift *drift, struct err *err) MUST_CHECK;

#endif
