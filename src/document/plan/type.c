/* SPDX-License-Identifier: Apache-2.0 */
/* Lookup in the type table, and suggestions if it has no matching line. */
#include "rowferry/document/convert/type.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/converters.h"
#include "plan/type_table.h"

const char type_absent[] = "a value that has no form in JSON";

/* Returns true if the list contains the word, followed by `suffix` ("" or "[]"). */
static bool type_list_has(const char *list, const char *word, const char *suffix)
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

/* Returns the table's name of a type that is not an array. */
static const char *type_table_name(const struct column *column)
{
    static const struct {
        char category;
        const char *name;
    } families[] = {{'e', "enum"}, {'c', "composite"}, {'r', "range"}, {'m', "multirange"}};
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        if (column->category == families[i].category) {
            return families[i].name;
        }
        if (strcmp(column->type, families[i].name) == 0) {
            return TYPE_OTHER; /* a type of that name, not the family */
        }
    }
    for (const struct type_rule *r = type_rules; r->columns != NULL; r++) {
        if (type_list_has(r->columns, column->type, "")) {
            return column->type;
        }
    }
    return TYPE_OTHER;
}

void type_bound(char out[TYPE_BOUND_BYTES], const char *property_type)
{
    size_t len = strcspn(property_type, "_");
    snprintf(out, TYPE_BOUND_BYTES, "%.*s", (int)len, property_type);
}

/* Returns the type of the bounds of a range or multirange; null if it is nested too deeply. */
static const struct column *type_bounds_of(const struct column *column)
{
    const struct column *range = column->category == 'm' ? column->parts : column;
    return range != NULL ? range->parts : NULL;
}

/* A range fills the range of the type that its bounds fill: an integer_range if they fill an
 * integer. */
static bool type_bounds_take(const struct column *column, const char *property_type)
{
    const struct column *bounds = type_bounds_of(column);
    char type[TYPE_BOUND_BYTES];
    type_bound(type, property_type);
    return bounds != NULL && !column_is_array(bounds) && type_find(bounds, type, NULL) != NULL;
}

bool type_loss_is_slight(const char *loss)
{
    return strcmp(loss, TYPE_LOSS_MILLIS) == 0 || strcmp(loss, TYPE_LOSS_15_DIGITS) == 0;
}

bool type_takes_array(const struct type_rule *rule)
{
    return rule->convert == convert_vector || rule->convert == convert_sparse_vector;
}

/* An array fills the types that its elements fill. A vector is an exception: it is an array as a
 * whole, and is named with its brackets. */
static bool type_rule_takes(const struct type_rule *rule, const struct column *column,
                            const char *property_type)
{
    if (column_is_array(column) && type_takes_array(rule)) {
        return type_list_has(rule->columns, column->parts[0].type, "[]");
    }
    while (column_is_array(column)) {
        column = &column->parts[0];
    }
    bool range = rule->convert == convert_range || rule->convert == convert_multirange;
    return type_list_has(rule->columns, type_table_name(column), "") &&
           (!range || type_bounds_take(column, property_type));
}

/* Returns the known type that an unknown one most probably means, which is often misspelt; null if
 * the type is known or nothing is near. */
static const char *type_meant_by(const char *property_type)
{
    for (const struct type_rule *r = type_rules; r->columns != NULL; r++) {
        if (type_list_has(r->properties, property_type, "")) {
            return NULL;
        }
    }
    return mapping_meant_type(property_type);
}

static void type_report_what_fits(struct buf *why, const struct column *column)
{
    buf_printf(why, "a column of type %s can fill ", column->declared);
    size_t before = why->len;
    for (const struct type_rule *r = type_rules; r->columns != NULL; r++) {
        const char *list = r->properties;
        while (*list != '\0') {
            char type[TYPE_BOUND_BYTES];
            size_t len = strcspn(list, " ");
            snprintf(type, sizeof(type), "%.*s", (int)len, list);
            if (type_rule_takes(r, column, type)) {
                buf_printf(why, "%s%s", why->len > before ? ", " : "", type);
            }
            list += len + strspn(list + len, " ");
        }
    }
    if (why->len == before) {
        buf_push_literal(why, "nothing");
    }
}

const struct type_rule *type_find(const struct column *column, const char *property_type,
                                  struct buf *why)
{
    for (const struct type_rule *r = type_rules; r->columns != NULL; r++) {
        if (type_list_has(r->properties, property_type, "") &&
            type_rule_takes(r, column, property_type)) {
            return r;
        }
    }
    const char *meant = why != NULL ? type_meant_by(property_type) : NULL;
    if (meant != NULL && strcmp(meant, property_type) != 0) {
        buf_printf(why, "the type is unknown, did you mean \"%s\"?", meant);
    } else if (why != NULL) {
        type_report_what_fits(why, column);
    }
    return NULL;
}

void type_release(struct type_pair *pair)
{
    free(pair->name);
    for (size_t i = 0; pair->inner != NULL && i < pair->inner->count; i++) {
        type_release(&pair->inner->pairs[i]);
    }
    if (pair->inner != NULL) {
        buf_release(&pair->inner->scratch);
    }
    free(pair->inner);
    *pair = (struct type_pair){0};
}
