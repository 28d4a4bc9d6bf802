/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the text of valid JSON: strings with their escapes resolved, the members and elements of
 * containers with optional white space, and scalars compared by value. */
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

struct json_steps {
    const char *at;
    const char *end;
};

/* Begins an iteration: `container` is the text of an object or an array. */
struct json_steps json_steps_into(struct span container);

/* Reads the next element. Returns false at the end. */
bool json_steps_element(struct json_steps *s, struct span *value);

/* Reads the next member; `name` is without its quotes. */
bool json_steps_member(struct json_steps *s, struct span *name, struct span *value);

/* Reads up to the member of that name. Returns its value, whose data is null if there is none. */
struct span json_steps_find(struct json_steps *s, struct span name);

/* Removes the white space around the value. */
struct span json_trim(struct span value);

struct json_number {
    bool negative;
    bool zero;
    long magnitude;     /* digits before the point without leading zeros; may be negative */
    const char *digits; /* from the first non-zero digit; may include a point */
    const char *end;    /* end of the digits */
};

/* Returns false if the text is not a finite number as JSON writes it. */
bool json_number_read(struct json_number *d, struct span text);

/* Compares two strings with their quotes, two numbers, or two of true, false and null. */
bool json_scalar_same(struct span a, struct span b);
