/* SPDX-License-Identifier: Apache-2.0 */
/* Builds tables and rows from short texts, for the tests of plan and encoder. */
#pragma once

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/text.h"
#include "rowferry/document/plan/plan.h"

static inline struct column rows_column(const char *name, const char *type);

static inline void rows_add_part(struct column *c, const char *name, const char *type)
{
    c->parts = mem_grow(c->parts, c->part_count + 1, sizeof(*c->parts));
    c->parts[c->part_count++] = rows_column(name, type);
}

/* Adds the fields of "(a int4, b (c text))", given without the outer brackets. */
static inline void rows_add_fields(struct column *c, const char *fields, size_t len)
{
    size_t start = 0;
    int depth = 0;
    for (size_t i = 0; i <= len; i++) {
        depth += i < len && fields[i] == '(';
        depth -= i < len && fields[i] == ')';
        if (i < len && (fields[i] != ',' || depth > 0)) {
            continue;
        }
        start += strspn(fields + start, " ");
        size_t name_len = strcspn(fields + start, " ");
        char *name = text_copy_span(span_make(fields + start, name_len));
        size_t type_start = start + name_len + 1;
        char *type = text_copy_span(span_make(fields + type_start, i - type_start));
        rows_add_part(c, name, type);
        free(name);
        free(type);
        start = i + 1;
    }
}

/* type is "int8", "text[]", "enum:mood", "range:int4", "multirange:int4", "(a int4, b text)",
 * "vector(3)" ... */
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
        rows_add_part(&c, element, element);
        free(element);
    } else if (strncmp(type, "enum:", 5) == 0) {
        c.type = text_copy(type + 5);
        c.category = 'e';
    } else if (strncmp(type, "range:", 6) == 0) {
        c.type = text_copy("some_range");
        c.category = 'r';
        rows_add_part(&c, type + 6, type + 6);
    } else if (strncmp(type, "multirange:", 11) == 0) {
        c.type = text_copy("some_multirange");
        c.category = 'm';
        rows_add_part(&c, type + 5, type + 5);
    } else if (type[0] == '(') {
        c.type = text_copy("some_composite");
        c.category = 'c';
        rows_add_fields(&c, type + 1, len - 2);
    } else { /* "vector(3)" is declared of the type "vector" */
        c.type = text_copy_span(span_make(type, strcspn(type, "(")));
    }
    return c;
}

/* pairs are name, type, name, type ..., null. */
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
