/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Foreign JSON as a tree of json-c: measured before it is built, and read by the expected type.
 *
 * json-c needs up to 300 bytes of memory for each byte of text, and its own calls on lists and
 * objects abort if the value has another type. So texts become trees only here, within limits, and
 * lists and objects are read only by the functions below. They accept null and values of any type:
 * what is not of the expected type is absent, has no items and no members.
 */
#ifndef ROWFERRY_DOCUMENT_JSON_TREE_H
#define ROWFERRY_DOCUMENT_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;
struct lh_entry;

struct json_limits {
    size_t text_bytes;
    size_t tree_bytes; /* an upper bound of the tree's memory, estimated from the text */
    unsigned depth;    /* of nested lists and objects */
};

enum json_fit {
    JSON_FITS,
    JSON_BROKEN, /* not one JSON value, or something beside it */
    JSON_LONG,   /* over text_bytes, */
    JSON_LARGE,  /* tree_bytes */
    JSON_DEEP,   /* or depth */
};

/* *out is the caller's (json_object_put): null unless JSON_FITS, and for the text "null". */
enum json_fit json_tree_parse(struct json_object **out, const char *text, size_t len,
                              const struct json_limits *limits);

/* A text that the configuration or the state file holds as a tree; null if it is no JSON or larger
 * than a mapping can be. */
struct json_object *json_tree_of(const char *text);

bool json_tree_is_object(struct json_object *value);
bool json_tree_is_list(struct json_object *value);

/* The member of that name, whatever it is; null if there is none, or if it is JSON's null. */
struct json_object *json_tree_member(struct json_object *object, const char *name);
bool json_tree_has(struct json_object *object, const char *name); /* null counts */

/* The same along a null-terminated list of names. */
struct json_object *json_tree_at(struct json_object *tree, const char *const *names);

/* The text of a member, or "" if it is absent or no text; borrowed. */
const char *json_tree_text(struct json_object *object, const char *name);

/* A member that counts things or bytes: a whole number from 0 to JSON_AMOUNT_MAX, what lies beyond
 * becomes the nearer of the two; 0 if it is absent or no number. As many as a tree can hold may be
 * added up. */
#define JSON_AMOUNT_MAX (INT64_C(1) << 49)
int64_t json_tree_amount(struct json_object *object, const char *name);

size_t json_tree_count(struct json_object *object); /* members of an object, else 0 */
void json_tree_remove(struct json_object *object, const char *name);

size_t json_tree_length(struct json_object *list); /* items of a list, else 0 */
struct json_object *json_tree_item(struct json_object *list, size_t i);

/* for (struct json_members m = json_tree_members(object); json_tree_next(&m);) { m.name, m.value }
 * The object must not lose or gain members meanwhile. */
struct json_members {
    struct lh_entry *next;
    const char *name;
    struct json_object *value;
};
struct json_members json_tree_members(struct json_object *object);
bool json_tree_next(struct json_members *m);

#endif
