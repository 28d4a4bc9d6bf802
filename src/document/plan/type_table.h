/* SPDX-License-Identifier: Apache-2.0 */
/* The type table itself: one line a pair of families. docs/types.md shows the same lines. */
#ifndef ROWFERRY_DOCUMENT_TYPE_TABLE_H
#define ROWFERRY_DOCUMENT_TYPE_TABLE_H

#include "rowferry/document/convert/type.h"

#define TYPE_OTHER "other" /* stands for every type that no line names */

struct type_rule {
    const char *columns;    /* type names; "x[]": the array as a whole; "enum", "composite", "range"
                               and "multirange": all of that kind; TYPE_OTHER */
    const char *properties; /* mapping types */
    type_converter convert;
    const char *arrives; /* what the document holds, for people */
    const char *loss;    /* null: nothing */
};

/* The first line that names both wins. Ended by a line without columns. */
extern const struct type_rule type_rules[];

/* The line by which the column, or an array's innermost elements, can fill a property of that type.
 * Null where there is none: `why`, unless null, says what would fit. */
const struct type_rule *type_find(const struct column *column, const char *property_type,
                                  struct buf *why);

/* Whether the line takes an array as one value. */
bool type_takes_array(const struct type_rule *rule);

/* What the bounds of a range property are: "integer_range" is of "integer". */
#define TYPE_BOUND_BYTES 32
void type_bound(char out[TYPE_BOUND_BYTES], const char *property_type);

#endif
