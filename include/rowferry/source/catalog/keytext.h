/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one SQL expression of a key's text, used alike by trigger, copy, poll and re-read; and what a
 * text must be to be a key.
 *
 * Its inverse is document/model/key.h.
 */
#ifndef ROWFERRY_SOURCE_KEYTEXT_H
#define ROWFERRY_SOURCE_KEYTEXT_H

#include "rowferry/base/text.h"
#include "rowferry/source/catalog/catalog.h"

struct buf;

/* Appends the expression of the table's key over an alias ("t"): t."id"::text, or the escaped parts
 * joined by ':'; NULL if a part is NULL. If the type is a user's own, the text is what its output
 * function writes: its owner may define a cast to text, which would run with our rights. */
int keytext_push(struct pg *pg, struct buf *out, const char *alias, const struct table *t,
                 struct err *err) MUST_CHECK;

/* The same text by an expression that stays in the database and never calls a cast, because the
 * column may get another type later. */
int keytext_push_recorded(struct pg *pg, struct buf *out, const char *alias, const struct table *t,
                          struct err *err) MUST_CHECK;

/* ERR_REJECTED where a page of keys that are greater than `after` has that one: a condition took
 * the page's own away, and pages would come for ever. key: null is none. */
int keytext_expect_later(const char *after, const char *key, struct err *err) MUST_CHECK;

/* Whether a row of the table can have this key: its parts are texts of the key columns' types. Not
 * within a transaction, which a key that is none would end. */
int keytext_possible(struct pg *pg, const struct table *t, struct span key, bool *possible,
                     struct err *err) MUST_CHECK;

#endif
