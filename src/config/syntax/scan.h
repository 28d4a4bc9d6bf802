/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file as text: comments, syntax, and the places of keys, which json-c does not report.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rowferry/base/err.h"

/* Counted from 1; columns in characters. */
struct place {
    int line;
    int column;
};

/* Blanks the comments in the text. Checks that it is one JSON object in UTF-8, without trailing
 * commas or duplicate keys. Returns ERR_CONFIG `file:line:column: ...`. */
int scan_check(const char *file, char *text, size_t len, struct err *err) MUST_CHECK;

enum scan_end { SCAN_KEY, SCAN_VALUE };

/* Finds the place of "pipelines[0].from.table", its key or its value. If it does not exist, finds
 * the nearest part of the path that does. The text has passed scan_check. */
struct place scan_find(const char *text, size_t len, const char *path, enum scan_end end);
