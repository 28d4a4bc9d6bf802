/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What table and query have in common: how columns are described.
 */
#ifndef ROWFERRY_SOURCE_CATALOG_PRIVATE_H
#define ROWFERRY_SOURCE_CATALOG_PRIVATE_H

#include "rowferry/source/catalog/catalog.h"

/* params: those of table_columns.sql. operators[i] becomes the schema of column i's comparison
 * operators; the caller frees list and items. */
int catalog_columns(struct pg *pg, struct columns *out, const char *const params[4],
                    char ***operators, struct err *err) MUST_CHECK;

#endif
