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

#endif
