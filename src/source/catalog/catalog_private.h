/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The description of columns: shared by table, query and change log.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/source/catalog/catalog.h"

/* Limits. A deeper level counts as text, and so does everything after this many parts of a table's
 * types. Each type is expanded wherever it is used, so nested types grow fast. */
#define COLUMN_MAX_DEPTH 8
#define COLUMN_MAX_PARTS 10000

/* Fills the columns; operators[i] is the schema of column i's comparison operators. The caller
 * releases both. */
void column_tree(struct columns *out, char ***operators, const struct pg_result *rows);

/* Appends the composite types and enums that the column consists of: "{16384,16390". */
void column_push_types(struct buf *out, const struct column *c);

/* params: the parameters of table_columns.sql. operators[i] becomes the schema of column i's
 * comparison operators; the caller frees the list and its items. */
int catalog_columns(struct pg *pg, struct columns *out, const char *const *params, size_t count,
                    char ***operators, struct err *err) MUST_CHECK;

/* Sets the fingerprint to the hash of all that describes the table. */
void catalog_take_fingerprint(struct table *t, const struct buf *all);
