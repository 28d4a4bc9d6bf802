/* SPDX-License-Identifier: Apache-2.0 */
/* Looking a pair up in the type table, and saying what would fit where there is none. */
#include "rowferry/document/type.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "convert_json.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "type_table.h"

#define SCRATCH_MAX_BYTES ((size_t)1 << 30) /* no value of PostgreSQL is greater */

/* Whether the word stands in the list; suffix ("" or "[]") belongs to the word. */
static bool list_has(const char *list, const char *word, const char *suffix)
{
    size_t word_len = strlen(word);
    size_t suffix_len = strlen(suffix);
    while (*list != '\0') {
        size_t len = strcspn(list, " ");
        if (len == word_len + suffix_len && strncmp(list, word, word_len) == 0 &&
            strncmp(list + word_len, suffix, suffix_len) == 0) {
            return true;
        }
        list += len;
        list += strspn(list, " ");
    }
    return false;
}

static bool is_array(const struct column *column)
{
    return column->category == COLUMN_ARRAY && column->part_count == 1;
}

/* What an array's elements are, at whatever depth of arrays; the column itself else. */
static const struct column *innermost(const struct column *column)
{
    while (is_array(column)) {
        column = &column->parts[0];
    }
    return column;
}

/* The name under which the table knows a type that is no array. */
static const char *table_name(const struct column *column)
{
    if (column->category == 'e') {
        return "enum";
    }
    for (const struct type_rule *r = type_rules; r->columns != NULL; r++) {
        if (list_has(r->columns, column->type, "")) {
            return column->type;
        }
    }
    return TYPE_OTHER;
}

/* An array fills what its elements fill, but for a vector, which is an array by itself and is named
 * with its brackets. */
static bool rule_takes(const struct type_rule *rule, const struct column *column)
{
    if (!is_array(column)) {
        return list_has(rule->columns, table_name(column), "");
    }
    if (rule->convert == convert_vector) {
        return list_has(rule->columns, column->parts[0].type, "[]");
    }
    return list_has(rule->columns, table_name(innermost(column)), "");
}

static void push_list(struct buf *out, const char *list)
{
    for (const char *p = list; *p != '\0'; p++) {
        if (*p == ' ') {
            buf_push_literal(out, ", ");
        } else {
            buf_push_char(out, *p);
        }
    }
}

static void say_what_fits(struct buf *why, const struct column *column)
{
    const char *separator = "";
    buf_printf(why, "a column of type %s can fill ", column->declared);
    for (const struct type_rule *r = type_rules; r->columns != NULL; r++) {
        if (rule_takes(r, column)) {
            buf_push_text(why, separator);
            push_list(why, r->properties);
            separator = ", ";
        }
    }
    if (*separator == '\0') {
        buf_push_literal(why, "nothing");
    }
}

static const struct type_rule *find_rule(const struct column *column, const char *property_type)
{
    for (const struct type_rule *r = type_rules; r->columns != NULL; r++) {
        if (list_has(r->properties, property_type, "") && rule_takes(r, column)) {
            return r;
        }
    }
    return NULL;
}

static struct type_inner *inner_new(size_t count)
{
    struct type_inner *inner =
        mem_zero(1, sizeof(struct type_inner) + count * sizeof(struct type_pair));
    buf_init(&inner->scratch, SCRATCH_MAX_BYTES);
    inner->count = count;
    return inner;
}

/* Completes a pair by the rule that was found: an array's by the pair of its elements. */
static void complete(struct type_pair *pair, const struct column *column)
{
    const struct type_rule *rule = pair->rule;
    pair->convert = rule->convert;
    pair->loss = rule->loss;
    if (!is_array(column) || rule->convert == convert_vector) {
        return;
    }
    pair->convert = convert_array;
    pair->inner = inner_new(1);
    pair->inner->delimiter = column->delimiter;
    pair->inner->pairs[0] = (struct type_pair){.property = pair->property, .rule = rule};
    complete(&pair->inner->pairs[0], &column->parts[0]);
}

bool type_find(struct type_pair *out, const struct column *column, const struct property *property,
               struct buf *why)
{
    *out = (struct type_pair){.property = property, .rule = find_rule(column, property->type)};
    if (out->rule == NULL) {
        say_what_fits(why, column);
        return false;
    }
    complete(out, column);
    return true;
}

void type_release(struct type_pair *pair)
{
    if (pair->inner == NULL) {
        return;
    }
    for (size_t i = 0; i < pair->inner->count; i++) {
        type_release(&pair->inner->pairs[i]);
    }
    buf_release(&pair->inner->scratch);
    free(pair->inner);
    pair->inner = NULL;
}
