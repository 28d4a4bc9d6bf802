/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of valid JSON, compared and measured as what their escapes mean. */
#ifndef ROWFERRY_DOCUMENT_JSON_NAME_H
#define ROWFERRY_DOCUMENT_JSON_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "rowferry/base/text.h"

/* Where the string ends whose opening quote is at `from`: its closing quote, null where none is. */
const char *json_string_end(const char *from, const char *end);

/* The order of two strings without their quotes, escapes resolved; 0 where they mean the same. */
int json_name_compare(struct span a, struct span b);

/* What a string without its quotes means: its bytes of UTF-8, its length in the service's units
 * (UTF-16), and whether the character NUL is in it. */
struct json_measure {
    size_t bytes;
    size_t units;
    bool nul;
};
struct json_measure json_measure(struct span text);

/* Writes the meaning of a string to `to`, which has room for its length; returns the bytes. A lone
 * surrogate becomes three bytes that stand in no valid text. */
size_t json_name_decode(char *to, struct span text);

#endif
