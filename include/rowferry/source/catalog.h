/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the catalogue says of a table: columns, key, definition, size.
 */
#ifndef ROWFERRY_SOURCE_CATALOG_H
#define ROWFERRY_SOURCE_CATALOG_H

#include "rowferry/document/row.h"
#include "rowferry/source/pg.h"

struct table {
    uint32_t oid;
    char *schema;
    char *name;
    char *quoted;      /* "public"."articles", for SQL and messages */
    char kind;         /* pg_class.relkind: r, p, v, m, f */
    bool has_children; /* partitions or inheritance */
    bool row_security; /* active for this role */
    struct columns columns;
    char **key;       /* the configured key columns, checked to exist */
    char **key_types; /* their types as format_type() writes them, for casts */
    size_t key_count;
    bool key_unique; /* a valid, not partial unique index over exactly these columns */
    bool key_not_null;
    int64_t estimated_rows; /* reltuples over the tree; -1 where never analysed */
    int64_t bytes;          /* pg_relation_size over the tree */
    char fingerprint[17];   /* of column names, types and key: changes with the definition */
};

/*
 * Looks up "schema.table" or "table" (public) and checks the key; key_count 0 = the primary key.
 * ERR_REJECTED: no such table (with the nearest name), no such column, no key ("name one"), a key
 * that is not unique is NOT an error here (check and sync decide by key_unique).
 */
int catalog_table(struct pg *pg, struct table **out, const char *name, const char *const *key,
                  size_t key_count, struct err *err) MUST_CHECK;
void table_free(struct table *t); /* null is allowed */

#endif
