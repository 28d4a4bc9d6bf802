/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of table_columns.sql as columns with all that they are made of. */
#ifndef ROWFERRY_SOURCE_COLUMN_TREE_H
#define ROWFERRY_SOURCE_COLUMN_TREE_H

#include "rowferry/base/buf.h"
#include "rowferry/document/model/row.h"
#include "rowferry/source/pg/pg.h"

/* What is nested deeper counts as a text, and so does what comes after so many parts of a table's
 * types: each is written out wherever it is used, and types that use one another grow fast. */
#define COLUMN_MAX_DEPTH 8
#define COLUMN_MAX_PARTS 10000

/* Fills the columns; operators[i] is the schema of column i's comparison operators. The caller
 * releases both. */
void column_tree(struct columns *out, char ***operators, const struct pg_result *rows);

/* Appends the composites and enums that the column is made of: "{16384,16390". */
void column_push_types(struct buf *out, const struct column *c);

#endif
