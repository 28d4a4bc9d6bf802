/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a configuration names a table: schema.table, or the table of public alone, written as they
 * are; a part that begins with a quotation mark is read as PostgreSQL reads identifiers in quotes.
 *
 * articles, shop.articles, "a.b"."c", public."Weird ""name""". Without quotes the first dot
 * divides, and capitals, blanks and further dots are the name's own.
 */
#ifndef ROWFERRY_SOURCE_TABLENAME_H
#define ROWFERRY_SOURCE_TABLENAME_H

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"

struct tablename {
    char *schema;
    char *table;
};

/* ERR_CONFIG: a quotation that does not end, or something behind it, or a name without characters.
 */
int tablename_parse(struct tablename *out, const char *text, struct err *err) MUST_CHECK;
void tablename_release(struct tablename *name); /* a zeroed one is allowed */

/* Appends the shortest text that is read as those two. */
void tablename_push(struct buf *out, const char *schema, const char *table);

/* The same as a text of its own; the caller frees. */
char *tablename_text(const char *schema, const char *table);

#endif
