/* SPDX-License-Identifier: Apache-2.0 */
/* The type table itself: one line a pair of families. docs/types.md shows the same lines. */
#ifndef ROWFERRY_DOCUMENT_TYPE_TABLE_H
#define ROWFERRY_DOCUMENT_TYPE_TABLE_H

#include "rowferry/document/type.h"

#define TYPE_OTHER "other" /* stands for every type that no line names */

struct type_rule {
    const char *columns;    /* type names; "enum"; "x[]": the array as a whole; TYPE_OTHER */
    const char *properties; /* mapping types */
    type_converter convert;
    const char *arrives; /* what the document holds, for people */
    const char *loss;    /* null: nothing */
};

/* The first line that names both wins. Ended by a line without columns. */
extern const struct type_rule type_rules[];

#endif
