/* SPDX-License-Identifier: Apache-2.0 */
/* Tables and rows for the tests of plan and encoder, from short texts. */
#ifndef ROWFERRY_TESTS_ROWS_H
#define ROWFERRY_TESTS_ROWS_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/text.h"
#include "rowferry/document/plan.h"

/* type: "int8", "text[]", "enum:mood". */
static inline struct column rows_column(const char *name, const char *type)
{
    struct column c = {.name = text_copy(name), .declared = text_copy(type), .category = 'b'};
    size_t len = strlen(type);
    if (len > 2 && strcmp(type + len - 2, "[]") == 0) {
        char *element = text_copy_span(span_make(type, len - 2));
        c.type = mem_zero(len, 1);
        c.type[0] = '_';
        memcpy(c.type + 1, type, len - 2);
        c.category = COLUMN_ARRAY;
        c.delimiter = strcmp(element, "box") == 0 ? ';' : ',';
        c.parts = mem_zero(1, sizeof(*c.parts));
        c.parts[c.part_count++] = rows_column(element, element);
        free(element);
    } else if (strncmp(type, "enum:", 5) == 0) {
        c.type = text_copy(type + 5);
        c.category = 'e';
    } else {
        c.type = text_copy(type);
    }
    return c;
}

/* pairs: name, type, name, type ..., null. */
static inline struct columns rows_columns(const char *const *pairs)
{
    struct columns columns = {0};
    for (; pairs[0] != NULL; pairs += 2) {
        columns.items = mem_grow(columns.items, columns.count + 1, sizeof(*columns.items));
        columns.items[columns.count++] = rows_column(pairs[0], pairs[1]);
    }
    return columns;
}

static inline struct value rows_value(const char *text)
{
    return text == NULL ? (struct value){.null = true}
                        : (struct value){.text = text, .len = strlen(text)};
}

#endif
