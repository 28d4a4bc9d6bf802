/* SPDX-License-Identifier: Apache-2.0 */
/* The type table itself: one line per pair of type families. docs/types.md shows the same lines. */
#pragma once

#include "rowferry/document/convert/type.h"

#define TYPE_OTHER "other" /* matches every type that no line names */

struct type_rule {
    const char *columns;    /* type names; "x[]": the array as a whole; "enum", "composite", "range"
                               and "multirange": all types of that kind; TYPE_OTHER */
    const char *properties; /* mapping types */
    type_converter *convert;
    const char *arrives; /* content of the document, for people */
    const char *loss;    /* null: nothing is lost */
};

#define TYPE_LOSS_MILLIS "search sees milliseconds"
#define TYPE_LOSS_15_DIGITS "search rounds to 15 digits"

/* The first line that matches both types is used. The last line has no columns. */
extern const struct type_rule type_rules[];

/* Returns the line by which the column, or the innermost elements of an array, can fill a property
 * of that type. Returns null if none fits; `why`, unless null, then gets the types that would. */
const struct type_rule *type_find(const struct column *column, const char *property_type,
                                  struct buf *why);

/* Returns true if hardly any search notices the loss: digits beyond those that people compare. */
bool type_loss_is_slight(const char *loss);

/* Returns true if the line converts an array as a single value. */
bool type_takes_array(const struct type_rule *rule);

/* Writes the type of the bounds of a range property: "integer" for "integer_range". */
#define TYPE_BOUND_BYTES 32
void type_bound(char out[TYPE_BOUND_BYTES], const char *property_type);
