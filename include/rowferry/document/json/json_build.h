/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrappers of json-c that never fail for lack of memory.
 *
 * If an allocation fails, json-c returns null, leaves a member out or truncates a text, without
 * reporting it. These functions end the process instead, as for any other small allocation
 * (base/text.h), so a returned value is always complete.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;
struct json_tokener;

struct json_object *json_build_object(void);
struct json_object *json_build_list(void);
struct json_object *json_build_text(const char *text);
struct json_object *json_build_number(int64_t number);
struct json_object *json_build_bool(bool truth);

/* The object or list takes ownership of the value; null is JSON's null. */
void json_build_member(struct json_object *to, const char *name, struct json_object *value);
void json_build_item(struct json_object *to, struct json_object *value);

/* Like json_object_to_json_string_ext with its flags; borrowed from the value. */
const char *json_build_string(struct json_object *value, int flags);

/* Like json_object_get_string for a text, a number, true or false. */
const char *json_build_words(struct json_object *value);

/* Like json_tokener_new_ex and json_tokener_parse_ex; the parsed value is null only because of the
 * text itself. To be used only by json_tree, which checks the size of a text first, and by the
 * configuration. */
struct json_tokener *json_build_tokener(int max_depth);
struct json_object *json_build_parsed(struct json_tokener *tokener, const char *text, size_t len);
