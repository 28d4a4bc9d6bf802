/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one SQL expression of a key's text, used alike by trigger, copy, poll and re-read.
 *
 * Its inverse is document/key.h.
 */
#ifndef ROWFERRY_SOURCE_KEYTEXT_H
#define ROWFERRY_SOURCE_KEYTEXT_H

#include "rowferry/source/catalog.h"

struct buf;

/* Appends the expression over alias ("t", "n", "o"): t."id"::text, or the escaped parts joined by
 * ':'; NULL where a part is NULL. */
int keytext_push(struct pg *pg, struct buf *out, const char *alias, const char *const *key,
                 size_t key_count, struct err *err) MUST_CHECK;

/* ERR_REJECTED where a page of keys that are greater than `after` has that one: a condition took
 * the page's own away, and pages would come for ever. key: null is none. */
int keytext_expect_later(const char *after, const char *key, struct err *err) MUST_CHECK;

#endif
