/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two values of a mapping's parameter. */
#include "mapping/mapdiff_private.h"

#include <string.h>

#include "rowferry/document/json/json_compare.h"
#include "rowferry/document/json/json_tree.h"

/* Compares scalars by their text without quotes: "true" equals true, "100" equals 100.0. */
static bool mapdiff_value_same_scalar(struct json_object *a, struct json_object *b)
{
    const char *x = json_object_get_string(a);
    const char *y = json_object_get_string(b);
    x = x != NULL ? x : "null";
    y = y != NULL ? y : "null";
    return json_scalar_same(span_make(x, strlen(x)), span_make(y, strlen(y)));
}

static bool mapdiff_value_same_array(struct json_object *a, struct json_object *b)
{
    size_t n = json_tree_length(a);
    if (json_tree_length(b) != n) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (!mapdiff_value_same(json_tree_item(a, i), json_tree_item(b, i))) {
            return false;
        }
    }
    return true;
}

/* An empty object equals an absent one, such as the "parameters" of a vector's method. */
static bool mapdiff_value_is_empty(struct json_object *value)
{
    return json_tree_is_object(value) && json_tree_count(value) == 0;
}

static bool mapdiff_value_all_within(struct json_object *a, struct json_object *b)
{
    for (struct json_members m = json_tree_members(a); json_tree_next(&m);) {
        if (!mapdiff_value_is_empty(m.value) &&
            (!json_tree_has(b, m.name) ||
             !mapdiff_value_same(m.value, json_tree_member(b, m.name)))) {
            return false;
        }
    }
    return true;
}

/* Skips the members that all_within has compared; each level would double the work. */
static bool mapdiff_value_none_besides(struct json_object *a, struct json_object *b)
{
    for (struct json_members m = json_tree_members(b); json_tree_next(&m);) {
        bool compared =
            json_tree_has(a, m.name) && !mapdiff_value_is_empty(json_tree_member(a, m.name));
        if (!mapdiff_value_is_empty(m.value) && !compared) {
            return false;
        }
    }
    return true;
}

/* A list with one value is equal to that value (copy_to). */
bool mapdiff_value_same(struct json_object *a, struct json_object *b)
{
    bool lists[2] = {json_tree_is_list(a), json_tree_is_list(b)};
    if (lists[0] && lists[1]) {
        return mapdiff_value_same_array(a, b);
    }
    if (lists[0] || lists[1]) {
        struct json_object *list = lists[0] ? a : b;
        return json_tree_length(list) == 1 &&
               mapdiff_value_same(json_tree_item(list, 0), lists[0] ? b : a);
    }
    if (json_tree_is_object(a) && json_tree_is_object(b)) {
        return mapdiff_value_all_within(a, b) && mapdiff_value_none_besides(a, b);
    }
    return !json_tree_is_object(a) && !json_tree_is_object(b) && mapdiff_value_same_scalar(a, b);
}
