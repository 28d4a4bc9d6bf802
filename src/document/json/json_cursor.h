/* SPDX-License-Identifier: Apache-2.0 */
/* A cursor over valid JSON without white space. In invalid JSON a step does not move, and a loop
 * continues only after a comma, so every loop ends. */
#pragma once

#include <stdbool.h>

#include "rowferry/base/ascii.h"
#include "rowferry/base/text.h"

struct json_reader {
    const char *at; /* the text ends with a NUL */
    const char *end;
};

/* Step behind the opening bracket, or behind the comma before the next item. Return false at the
 * end, and step behind the closing bracket. */
bool json_first(struct json_reader *r);
bool json_next(struct json_reader *r);

/* Returns the name of a member, without its quotes, and steps to its value. */
struct span json_member(struct json_reader *r);

/* Steps behind a value and returns it. */
struct span json_value(struct json_reader *r);

static inline bool json_is_number(const struct json_reader *r)
{
    return *r->at == '-' || ascii_is_digit(*r->at);
}
