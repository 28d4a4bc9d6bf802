/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json-c's trees, read whatever a client sent: a value of another type has no members, no items and
 * its JSON as text. json-c itself aborts there, or reads through null.
 */
#ifndef DEVSEARCH_TREE_H
#define DEVSEARCH_TREE_H

#include "rowferry/base/text.h"

#include <json-c/json.h>

/* The value itself if it is an object, else an object without members that nobody owns. */
struct json_object *tree_object(struct json_object *value);

/* for each member; the body may leave the loop, but not change the object */
#define tree_foreach(value, key, member) json_object_object_foreach(tree_object(value), key, member)

/* Members of an object, else 0. */
size_t tree_count(struct json_object *value);

/* Items of a list, else 0, and one of them. */
size_t tree_length(struct json_object *value);
struct json_object *tree_item(struct json_object *list, size_t i);

/* A string's characters, any other value's JSON; never null, borrowed from the value. */
struct span tree_span(struct json_object *value);
const char *tree_text(struct json_object *value);

#endif
