/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses a table's name in a configuration: schema.table, or only the table if it is in schema
 * public. Names are written as they are. A part that begins with a quotation mark is read as a
 * quoted identifier of PostgreSQL.
 *
 * Examples: articles, shop.articles, "a.b"."c", public."Weird ""name""". In an unquoted name the
 * first dot separates schema and table; capitals, blanks and further dots belong to the name.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"

struct tablename {
    char *schema;
    char *table;
};

/* Returns ERR_CONFIG for an unterminated quotation, characters after a quotation, or an empty
 * name. */
int tablename_parse(struct tablename *out, const char *text, struct err *err) MUST_CHECK;
void tablename_release(struct tablename *name); /* a zeroed one is allowed */

/* Appends the shortest text that is parsed as this schema and table. */
void tablename_push(struct buf *out, const char *schema, const char *table);

/* Returns the same as a new string, which the caller frees. */
char *tablename_text(const char *schema, const char *table);
