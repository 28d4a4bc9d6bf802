/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by table and query: the description of columns.
 */
#pragma once

#include "rowferry/source/catalog/catalog.h"

/* params: the parameters of table_columns.sql. operators[i] becomes the schema of column i's
 * comparison operators; the caller frees the list and its items. */
int catalog_columns(struct pg *pg, struct columns *out, const char *const *params, size_t count,
                    char ***operators, struct err *err) MUST_CHECK;

/* Sets the fingerprint to the hash of all that describes the table. */
void catalog_take_fingerprint(struct table *t, const struct buf *all);
