/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The declared shape of a statement's result, which is checked before the result is used.
 *
 * A shape contains the number of rows and the type of each column:
 *
 *     none                      no rows, no columns
 *     one: text, int?, bool     one row; the second column may be NULL
 *     maybe: text               no row or one
 *     any: text, int?*          any number of rows; one column or more integers after the first
 *
 * text is any text, int an integer of 64 bits, bool t or f. "?" allows NULL, "*" repeats the last
 * column for all that follow, if any. A text in migrations/source declares its shape in a comment:
 * "-- returns one: text".
 */
#pragma once

#include <libpq-fe.h>

#include "rowferry/base/err.h"

/* Returns the shape that a text declares, up to the end of its line; null if there is none. */
const char *pg_shape_of(const char *sql);

/* Returns true if the result has this shape; otherwise writes a line about the difference to
 * `why`. */
bool pg_shape_fits(const char *shape, const PGresult *r, char *why, size_t why_size) MUST_CHECK;
