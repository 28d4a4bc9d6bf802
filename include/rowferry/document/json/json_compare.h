/* SPDX-License-Identifier: Apache-2.0 */
/* Iterates over valid JSON with optional white space, and compares scalars by value. */
#pragma once

#include <stdbool.h>

#include "rowferry/base/text.h"

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

/* Removes the white space around the value. */
struct span json_trim(struct span value);

/* Compares two strings with their quotes, two numbers, or two of true, false and null. */
bool json_scalar_same(struct span a, struct span b);
