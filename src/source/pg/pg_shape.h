/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The form of a statement's result, which is checked before anybody reads it.
 *
 * A shape says how many rows there are and what each column holds:
 *
 *     none                      no rows, no columns
 *     one: text, int?, bool     one row; the second column may be NULL
 *     maybe: text               no row or one
 *     any: text, int?*          any number of rows; one column or more integers after the first
 *
 * text is any text, int a whole number of 64 bits, bool t or f. "?" allows NULL, "*" repeats the
 * last column for all that follow, if any. The shape of a text in migrations/source stands in a
 * comment of its own: "-- returns one: text".
 */
#ifndef ROWFERRY_SOURCE_PG_SHAPE_H
#define ROWFERRY_SOURCE_PG_SHAPE_H

#include <libpq-fe.h>

#include "rowferry/base/err.h"

/* The shape that a text's comment declares, up to the end of its line; null if there is none. */
const char *pg_shape_of(const char *sql);

/* Returns true if the result is so, else `why` is one line about the difference. */
bool pg_shape_fits(const char *shape, const PGresult *r, char *why, size_t why_size) MUST_CHECK;

#endif
