/* SPDX-License-Identifier: Apache-2.0 */
/* Looking a pair up in the type table, and saying what would fit where there is none. */
#include "rowferry/document/type.h"

#include <string.h>

#include "convert_json.h"
#include "rowferry/base/buf.h"
#include "type_table.h"

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

/* The name under which the table knows the column's type, or its element's. */
static const char *table_name(const struct column *column)
{
    if (column->element_type == NULL && column->category == 'e') {
        return "enum";
    }
    const char *name = column->element_type != NULL ? column->element_type : column->type;
    for (const struct type_rule *r = type_rules; r->columns != NULL; r++) {
        if (list_has(r->columns, name, "")) {
            return name;
        }
    }
    return TYPE_OTHER;
}

/*
 * An array fills what its elements fill, but for a vector, which is an array by itself and is named
 * with its brackets. A box's array cannot be read: it parts its elements with ';'.
 */
static bool rule_takes(const struct type_rule *rule, const struct column *column, const char *name)
{
    if (column->element_type == NULL) {
        return list_has(rule->columns, name, "");
    }
    if (rule->convert == convert_vector) {
        return list_has(rule->columns, column->element_type, "[]");
    }
    return list_has(rule->columns, name, "") && strcmp(column->element_type, "box") != 0;
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

static void say_what_fits(struct buf *why, const struct column *column, const char *name)
{
    const char *separator = "";
    buf_printf(why, "a column of type %s can fill ", column->declared);
    for (const struct type_rule *r = type_rules; r->columns != NULL; r++) {
        if (rule_takes(r, column, name)) {
            buf_push_text(why, separator);
            push_list(why, r->properties);
            separator = ", ";
        }
    }
    if (*separator == '\0') {
        buf_push_literal(why, "nothing");
    }
}

bool type_find(struct type_pair *out, const struct column *column, const struct property *property,
               struct buf *why)
{
    const char *name = table_name(column);
    for (const struct type_rule *r = type_rules; r->columns != NULL; r++) {
        if (!list_has(r->properties, property->type, "") || !rule_takes(r, column, name)) {
            continue;
        }
        *out = (struct type_pair){
            .rule = r,
            .convert = r->convert,
            .array = column->element_type != NULL && r->convert != convert_vector,
            .loss = r->loss,
        };
        return true;
    }
    say_what_fits(why, column, name);
    return false;
}
