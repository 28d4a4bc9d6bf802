/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses JSON from other programs into a json-c tree, within limits, and reads it by expected type.
 *
 * json-c needs up to 300 bytes of memory per byte of text, and its own calls on lists and objects
 * abort if the value has another type. So trees are built only here, after measuring the text, and
 * lists and objects are read only by the functions below. They accept null and values of any type:
 * a value of another type is treated as absent, without items or members.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;
struct lh_entry;

struct json_limits {
    size_t text_bytes;
    size_t tree_bytes; /* upper bound of the tree's memory, estimated from the text */
    unsigned depth;    /* of nested lists and objects */
};

enum json_fit {
    JSON_FITS,
    JSON_BROKEN, /* not a single JSON value, or followed by other text */
    JSON_LONG,   /* exceeds text_bytes */
    JSON_LARGE,  /* exceeds tree_bytes */
    JSON_DEEP,   /* exceeds depth */
};

/* The caller owns *out (json_object_put). It is null unless the result is JSON_FITS, and also for
 * the text "null". */
enum json_fit json_tree_parse(struct json_object **out, const char *text, size_t len,
                              const struct json_limits *limits);

/* Parses a text of the configuration or the state file. Returns null if it is not JSON or larger
 * than a mapping can be. */
struct json_object *json_tree_of(const char *text);

bool json_tree_is_object(struct json_object *value);
bool json_tree_is_list(struct json_object *value);

/* Returns the member of that name, of any type; null if it is absent or JSON's null. */
struct json_object *json_tree_member(struct json_object *object, const char *name);
bool json_tree_has(struct json_object *object, const char *name); /* true for null too */

/* Follows a null-terminated list of names in the same way. */
struct json_object *json_tree_at(struct json_object *tree, const char *const *names);

/* Returns the text of a member, or "" if it is absent or not a text; borrowed. */
const char *json_tree_text(struct json_object *object, const char *name);

/* Returns a member that is a count or a number of bytes: a whole number, maybe as a string, clamped
 * to 0 .. JSON_AMOUNT_MAX; 0 if it is absent or anything else. The sum of all numbers that a tree
 * can hold does not overflow. */
#define JSON_AMOUNT_MAX (INT64_C(1) << 49)
int64_t json_tree_amount(struct json_object *object, const char *name);

size_t json_tree_count(struct json_object *object); /* members of an object, else 0 */
void json_tree_remove(struct json_object *object, const char *name);

size_t json_tree_length(struct json_object *list); /* items of a list, else 0 */
struct json_object *json_tree_item(struct json_object *list, size_t i);

/* Usage: for (struct json_members m = json_tree_members(object); json_tree_next(&m);) uses m.name
 * and m.value. Do not add or remove members during the iteration. */
struct json_members {
    struct lh_entry *next;
    const char *name;
    struct json_object *value;
};
struct json_members json_tree_members(struct json_object *object);
bool json_tree_next(struct json_members *m);
