/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the functions that a plan calls, in the output of EXPLAIN VERBOSE. Pure.
 */
#ifndef ROWFERRY_SOURCE_PLANCALLS_H
#define ROWFERRY_SOURCE_PLANCALLS_H

#include "rowferry/base/buf.h"

/* Appends possible function names to an array's text, as `"now","public.f"`. These are names
 * before a parenthesis, and words in capitals such as CURRENT_DATE, which need none. Literals
 * are skipped. */
void plancalls_push(struct buf *out, const char *plan);

#endif
