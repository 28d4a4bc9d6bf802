/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The single SQL expression of a key's text, used by the trigger, the initial load, the poll and
 * the re-read; and the validation of key texts.
 *
 * Its inverse is document/model/key.h.
 */
#pragma once

#include "rowferry/base/text.h"
#include "rowferry/source/catalog/catalog.h"

struct buf;

/* Appends the expression of the table's key for the alias ("t"): t."id"::text, or the escaped parts
 * joined by ':'. It is NULL if a part is NULL. For a user-defined type the text comes from its
 * output function, because its owner may define a cast to text, which would run with our rights. */
void keytext_push(struct buf *out, const char *alias, const struct table *t);

/* Appends an expression for the same text that is stored in the database. It never calls a cast,
 * because the column may get another type later. */
void keytext_push_recorded(struct buf *out, const char *alias, const struct table *t);

/* Appends the columns of the key with the alias t, each followed by `behind`. */
void keytext_push_columns(struct buf *out, const struct table *t, const char *behind,
                          const char *between);

/* Returns ERR_REJECTED if a page of keys greater than `after` contains `key` although it is not
 * greater. Then the configured condition has cancelled the page's own, and pages would never end.
 * key may be null. */
int keytext_expect_later(const char *after, const char *key, struct err *err) MUST_CHECK;

/* Sets *possible to true if a row of the table can have this key: its parts are valid texts of the
 * key columns' types. Not for use within a transaction, which an invalid key would abort. */
int keytext_possible(struct pg *pg, const struct table *t, struct span key, bool *possible,
                     struct err *err) MUST_CHECK;
