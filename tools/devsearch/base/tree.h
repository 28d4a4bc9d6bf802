/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Safe access to json-c's trees of client input. A value of another type has no members and no
 * items, and its JSON is its text. json-c itself would abort or dereference null.
 */
#pragma once

#include "rowferry/base/text.h"

#include <json-c/json.h>

/* Returns the value if it is an object, else a shared empty object. */
struct json_object *tree_object(struct json_object *value);

/* Iterates over the members; the body may leave the loop, but must not change the object. */
#define tree_foreach(value, key, member) json_object_object_foreach(tree_object(value), key, member)

/* Returns the number of members; 0 if the value is not an object. */
size_t tree_count(struct json_object *value);

/* Returns the length of a list, or 0; and an item of a list. */
size_t tree_length(struct json_object *value);
struct json_object *tree_item(struct json_object *list, size_t i);

/* Returns a string's characters, or the JSON of any other value. Never null; borrowed. */
struct span tree_span(struct json_object *value);
const char *tree_text(struct json_object *value);
