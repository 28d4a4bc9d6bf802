/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that a plan calls, from the text of EXPLAIN VERBOSE. Pure.
 */
#ifndef ROWFERRY_SOURCE_PLANCALLS_H
#define ROWFERRY_SOURCE_PLANCALLS_H

#include "rowferry/base/buf.h"

/* Appends what may be one to an array's text, as `"now","public.f"`: names before a parenthesis,
 * and words in capitals, like CURRENT_DATE, which need none. Literals are skipped. */
void plancalls_push(struct buf *out, const char *plan);

#endif
