/* SPDX-License-Identifier: Apache-2.0 */
/* Wrappers of json-c. On a failed allocation json-c sets at least errno, because malloc does. */
#include "rowferry/document/json/json_build.h"

#include <errno.h>
#include <json-c/json.h>

#include "rowferry/base/text.h"

static void json_build_expect_made(bool made)
{
    if (!made || errno == ENOMEM) {
        mem_exhausted();
    }
}

static struct json_object *json_build_made(struct json_object *value)
{
    json_build_expect_made(value != NULL);
    return value;
}

struct json_object *json_build_object(void)
{
    errno = 0;
    return json_build_made(json_object_new_object());
}

struct json_object *json_build_list(void)
{
    errno = 0;
    return json_build_made(json_object_new_array());
}

struct json_object *json_build_text(const char *text)
{
    errno = 0;
    return json_build_made(json_object_new_string(text));
}

struct json_object *json_build_number(int64_t number)
{
    errno = 0;
    return json_build_made(json_object_new_int64(number));
}

struct json_object *json_build_bool(bool truth)
{
    errno = 0;
    return json_build_made(json_object_new_boolean(truth));
}

void json_build_member(struct json_object *to, const char *name, struct json_object *value)
{
    errno = 0;
    json_build_expect_made(json_object_object_add(to, name, value) == 0);
}

void json_build_item(struct json_object *to, struct json_object *value)
{
    errno = 0;
    json_build_expect_made(json_object_array_add(to, value) == 0);
}

const char *json_build_string(struct json_object *value, int flags)
{
    errno = 0;
    const char *text = json_object_to_json_string_ext(value, flags);
    json_build_expect_made(text != NULL);
    return text;
}

const char *json_build_words(struct json_object *value)
{
    errno = 0;
    const char *text = json_object_get_string(value);
    json_build_expect_made(text != NULL || value == NULL);
    return text;
}

struct json_tokener *json_build_tokener(int max_depth)
{
    errno = 0;
    struct json_tokener *tokener = json_tokener_new_ex(max_depth);
    json_build_expect_made(tokener != NULL);
    return tokener;
}

struct json_object *json_build_parsed(struct json_tokener *tokener, const char *text, size_t len)
{
    errno = 0;
    struct json_object *value = json_tokener_parse_ex(tokener, text, (int)len);
    json_build_expect_made(true);
    return value;
}
