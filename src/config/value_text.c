/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of the file: literal, from the environment, or as paths. */
#include <stdlib.h>
#include <string.h>

#include "read.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "rowferry/document/json/json_tree.h"

#define MAX_PATH_BYTES 65536

const char *value_kind(struct json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_boolean:
        return "true or false";
    case json_type_double:
    case json_type_int:
        return "a number";
    case json_type_object:
        return "an object";
    case json_type_array:
        return "a list";
    case json_type_string:
        return "a string";
    case json_type_null:
    default:
        return "null";
    }
}

char *value_beside(const char *file, const char *path)
{
    const char *slash = strrchr(file, '/');
    if (path[0] == '/' || slash == NULL) {
        return text_copy(path);
    }
    struct buf text;
    buf_init(&text, MAX_PATH_BYTES);
    buf_push(&text, file, (size_t)(slash - file) + 1);
    buf_push_text(&text, path);
    return buf_detach(&text);
}

static int value_text_plain_text(struct config_reader *r, const char *path,
                                 struct json_object *value, char **out)
{
    const char *text = json_object_get_string(value);
    size_t len = (size_t)json_object_get_string_len(value);
    if (memchr(text, '\0', len) != NULL) {
        return read_fail(r, path, SCAN_VALUE, "\"%s\" has a zero byte", path);
    }
    *out = text_copy(text);
    return 0;
}

static int value_text_check_env_keys(struct config_reader *r, const char *path,
                                     struct json_object *value)
{
    for (struct json_members m = json_tree_members(value); json_tree_next(&m);) {
        bool known = strcmp(m.name, "env") == 0 || strcmp(m.name, "default") == 0;
        if (!known) {
            return read_fail(r, path, SCAN_VALUE,
                             "\"%s\" is an object with the key \"%s\"; a string or {\"env\": NAME, "
                             "\"default\": ...} is expected",
                             path, m.name);
        }
        if (!json_object_is_type(m.value, json_type_string)) {
            return read_fail(r, path, SCAN_VALUE, "\"%s.%s\" is %s; a string is expected", path,
                             m.name, value_kind(m.value));
        }
    }
    return 0;
}

static int value_text_env_text(struct config_reader *r, const char *path, struct json_object *value,
                               char **out)
{
    int result = value_text_check_env_keys(r, path, value);
    if (result != 0) {
        return result;
    }
    struct json_object *name = json_tree_member(value, "env");
    struct json_object *fallback = json_tree_member(value, "default");
    if (name == NULL) {
        return read_fail(r, path, SCAN_VALUE, "\"%s\" names no variable: \"env\" is missing", path);
    }
    const char *found = getenv(json_object_get_string(name));
    if (found != NULL) {
        *out = text_copy(found);
        return 0;
    }
    if (fallback != NULL) {
        return value_text_plain_text(r, path, fallback, out);
    }
    return read_fail(r, path, SCAN_VALUE, "$%s of \"%s\" is not set and has no default",
                     json_object_get_string(name), path);
}

int value_text(struct config_reader *r, const char *path, struct json_object *value, char **out)
{
    if (json_object_is_type(value, json_type_string)) {
        return value_text_plain_text(r, path, value, out);
    }
    if (json_tree_is_object(value)) {
        return value_text_env_text(r, path, value, out);
    }
    return read_fail_kind(r, path, value, "a string");
}
