/* SPDX-License-Identifier: Apache-2.0 */
/* Compares and decodes strings of valid JSON with their escapes resolved. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rowferry/base/text.h"

/* Returns the closing quote of the string whose opening quote is at `from`, or null if it is
 * unterminated. */
const char *json_string_end(const char *from, const char *end);

/* Orders two strings, given without their quotes, with escapes resolved. Returns 0 if they are
 * equal. */
int json_name_compare(struct span a, struct span b);

/* Writes a string with its escapes resolved to `to`, which has room for text.len bytes. Returns the
 * number of bytes. A lone surrogate becomes three bytes that are not valid UTF-8. */
size_t json_name_decode(char *to, struct span text);
