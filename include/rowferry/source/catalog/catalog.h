/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Catalog facts about one table: columns, key, definition, size.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/document/model/row.h"
#include "rowferry/source/pg/pg.h"

struct table {
    uint32_t oid;
    char *schema;
    char *name;
    char *quoted;           /* "public"."articles", for SQL and messages */
    char kind;              /* pg_class.relkind: r, p */
    bool tree;              /* has partitions or child tables: read together with them */
    bool row_security;      /* active for this role */
    char *query;            /* what is read instead of the rows themselves; null: the rows */
    struct columns columns; /* of the query if there is one, else of the table */
    struct columns own;     /* of the table if there is a query, else empty */
    char **key;             /* the configured key columns, checked to exist */
    char **key_types;       /* their types as format_type() writes them, for casts */
    size_t key_count;
    bool key_unique; /* has a valid, not partial unique index over exactly these columns */
    bool key_not_null;
    int64_t estimated_rows; /* reltuples over the tree; -1 if never analysed */
    int64_t bytes;          /* pg_relation_size over the tree */
    char fingerprint[17];   /* of column names, types and key: changes with the definition */
    char *definition;       /* canonical text behind the fingerprint, one line per column */
    char **key_operators;   /* the schemas of their comparison operators: "pg_catalog" mostly */
    char persistence;       /* pg_class.relpersistence: p, u, t */
    bool is_child;          /* a partition, or a child table by inheritance */
    bool is_heap;           /* rows have a block and a place in it; false for a tree */
    char *obstacle;         /* why one of the members cannot be captured; null: all can */
    char *key_obstacle;     /* why the key cannot be captured; null if it can */
};

/*
 * Looks up a table by its configured name (source/sql/tablename.h) and checks the key; key_count 0
 * = the primary key. Returns ERR_REJECTED if the table does not exist (with the nearest name), a
 * column does not exist, or the key is missing ("name one"). A key that is not unique is NOT an
 * error here: check and sync decide by key_unique.
 */
int catalog_table(struct pg *pg, struct table **out, const char *name, const char *const *key,
                  size_t key_count, struct err *err) MUST_CHECK;
void catalog_table_free(struct table *t); /* null is allowed */

/* Returns ERR_REJECTED if PostgreSQL does not know one of the zones of a plan's columns; each may
 * be null. */
int catalog_check_zones(struct pg *pg, char *const *zones, size_t count,
                        struct err *err) MUST_CHECK;

/*
 * From now on the rows of the table are those of the query, one for each key; columns and
 * fingerprint become the query's. Returns ERR_REJECTED if the query is invalid, or if a key column
 * is missing from it or has another type.
 */
int query_describe_columns(struct pg *pg, struct table *t, const char *query,
                           struct err *err) MUST_CHECK;

/* Append the item of a FROM clause, with the alias t: the query if there is one, or the table. */
void query_push_source(struct buf *out, const struct table *t);
void query_push_table(struct buf *out, const struct table *t);

/* Returns ERR_REJECTED, with the reason, if the change log cannot see all changes of the table: it
 * is unlogged, is part of another table, has such a member, or its key has no value in triggers. */
int catalog_capturable(const struct table *t, struct err *err) MUST_CHECK;

/* Returns true if the type of the column (key part) was created by a user. Its owner can then
 * define casts, which are code that would run with our rights. */
bool catalog_is_users(const struct column *c);
bool catalog_key_is_users(const struct table *t, size_t part);

/* Returns true if PostgreSQL's own operators compare the key. */
bool catalog_key_has_own_operators(const struct table *t);

struct mentions;

/* Two definitions of a table, and the columns beside its key that matter. */
struct drift {
    const char *was;
    const char *is;
    const char *const *columns;
    size_t column_count;
    const struct mentions *read; /* by from.where or from.query; null: neither is set */
    bool whole_rows;             /* the query reads them: each column counts */
};

/* Returns ERR_STATE with the first difference that matters: in a column of the key, of `columns`,
 * or of `read`, or in their types. Returns 0 if only other columns differ. */
int catalog_drift(const struct table *t, const struct drift *drift, struct err *err) MUST_CHECK;
