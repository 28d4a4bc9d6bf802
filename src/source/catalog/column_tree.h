/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the rows of table_columns.sql to columns with the trees of their types. */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/document/model/row.h"
#include "rowferry/source/pg/pg.h"

/* Limits. A deeper level counts as text, and so does everything after this many parts of a table's
 * types. Each type is expanded wherever it is used, so nested types grow fast. */
#define COLUMN_MAX_DEPTH 8
#define COLUMN_MAX_PARTS 10000

/* Fills the columns; operators[i] is the schema of column i's comparison operators. The caller
 * releases both. */
void column_tree(struct columns *out, char ***operators, const struct pg_result *rows);

/* Appends the composite types and enums that the column consists of: "{16384,16390". */
void column_push_types(struct buf *out, const struct column *c);
