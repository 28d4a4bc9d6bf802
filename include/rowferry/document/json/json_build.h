/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json-c where memory is missing: it gives null, leaves a member out or cuts a text, and says
 * nothing. What is made here is whole, or the process ends as it does without memory for any other
 * small thing (base/text.h).
 */
#ifndef ROWFERRY_DOCUMENT_JSON_BUILD_H
#define ROWFERRY_DOCUMENT_JSON_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;
struct json_tokener;

struct json_object *json_made_object(void);
struct json_object *json_made_list(void);
struct json_object *json_made_text(const char *text);
struct json_object *json_made_number(int64_t number);
struct json_object *json_made_bool(bool truth);

/* The value belongs to the object, the list, afterwards; null is JSON's null. */
void json_made_member(struct json_object *to, const char *name, struct json_object *value);
void json_made_item(struct json_object *to, struct json_object *value);

/* json_object_to_json_string_ext with its flags; borrowed from the value. */
const char *json_made_string(struct json_object *value, int flags);

/* json_object_get_string of a text, a number, true or false. */
const char *json_made_words(struct json_object *value);

/* json_tokener_new_ex and json_tokener_parse_ex: null only for what the text says. For
 * document/json/json_tree, which looks at the size of a text before, and for the configuration. */
struct json_tokener *json_made_tokener(int max_depth);
struct json_object *json_made_parsed(struct json_tokener *tokener, const char *text, size_t len);

#endif
