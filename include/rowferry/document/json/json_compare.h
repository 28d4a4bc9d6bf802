/* SPDX-License-Identifier: Apache-2.0 */
/* Steps through valid JSON that may have blanks, and scalars compared by what they mean. */
#ifndef ROWFERRY_DOCUMENT_JSON_COMPARE_H
#define ROWFERRY_DOCUMENT_JSON_COMPARE_H

#include <stdbool.h>

#include "rowferry/base/text.h"

struct json_steps {
    const char *at;
    const char *end;
};

/* Into a container's text: to its first member or element. */
struct json_steps json_steps_into(struct span container);

/* The next element; false behind the last. */
bool json_steps_element(struct json_steps *s, struct span *value);

/* The next member; its name without the quotes. */
bool json_steps_member(struct json_steps *s, struct span *name, struct span *value);

/* Without the blanks around it. */
struct span json_trim(struct span value);

/* Two strings with their quotes, two numbers, or two of true, false and null. */
bool json_scalar_same(struct span a, struct span b);

#endif
