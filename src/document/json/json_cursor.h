/* SPDX-License-Identifier: Apache-2.0 */
/* Steps through valid JSON without blanks. A step at what is no JSON goes nowhere: who walks goes
 * on only behind a comma, so every walk ends. */
#ifndef ROWFERRY_DOCUMENT_JSON_CURSOR_H
#define ROWFERRY_DOCUMENT_JSON_CURSOR_H

#include <stdbool.h>

#include "rowferry/base/text.h"

struct json_reader {
    const char *at; /* a NUL stands at the end */
    const char *end;
};

/* Goes behind the bracket, or behind the comma that parts from the next; false at the end, behind
 * which it goes. */
bool json_first(struct json_reader *r);
bool json_next(struct json_reader *r);

/* The name of a member, without its quotes; goes to its value. */
struct span json_member(struct json_reader *r);

/* Goes behind a value and returns it. */
struct span json_value(struct json_reader *r);

static inline bool json_is_number(const struct json_reader *r)
{
    return *r->at == '-' || (*r->at >= '0' && *r->at <= '9');
}

#endif
