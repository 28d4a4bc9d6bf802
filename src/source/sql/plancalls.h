/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the functions that a plan calls, in the output of EXPLAIN VERBOSE. Pure.
 */
#pragma once

#include <stdbool.h>

#include "rowferry/base/buf.h"

/* Appends possible function names to an array's text, as `"now","public.f"`. These are names
 * before a parenthesis, and words in capitals such as CURRENT_DATE, which need none. Literals
 * are skipped. */
void plancalls_push(struct buf *out, const char *plan);

/* Returns true if the plan reads whole rows of a table ("schema.name" without quotes), as in
 * to_jsonb(u): then every column counts, even a new one. members: whole rows of any table count,
 * because the plan names the members of the table instead. */
bool plancalls_whole_rows(const char *plan, const char *table, bool members);
