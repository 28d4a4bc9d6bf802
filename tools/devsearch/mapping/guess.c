/* SPDX-License-Identifier: Apache-2.0 */
/* Guesses field types from values. */
#include "mapping/guess.h"
#include "base/limits.h"
#include "mapping/value.h"

#include <json-c/json.h>
#include <stdlib.h>

static int guess(struct reader *r, struct json_object **out);

static struct json_object *typed(const char *type)
{
    struct json_object *json = json_object_new_object();
    json_object_object_add(json, "type", json_object_new_string(type));
    return json;
}

static struct json_object *text_type(void)
{
    struct json_object *raw = typed("keyword");
    json_object_object_add(raw, "ignore_above", json_object_new_int(256));
    struct json_object *fields = json_object_new_object();
    json_object_object_add(fields, "keyword", raw);
    struct json_object *json = typed("text");
    json_object_object_add(json, "fields", fields);
    return json;
}

static struct json_object *string_type(struct span text)
{
    long double ms;
    bool date = text.len >= 10 && value_date(text, "strict_date_optional_time", &ms);
    return date ? typed("date") : text_type();
}

/* Puts `type` at the dotted path below `root`, which is the mapping of an object. */
static void put(struct json_object *root, const char *path, struct json_object *type)
{
    struct json_object *properties;
    if (!json_object_object_get_ex(root, "properties", &properties)) {
        properties = json_object_new_object();
        json_object_object_add(root, "properties", properties);
    }
    const char *dot = strchr(path, '.');
    if (dot == NULL) {
        json_object_object_add(properties, path, type);
        return;
    }
    char *first = text_copy_span(span_make(path, (size_t)(dot - path)));
    struct json_object *inner;
    if (!json_object_object_get_ex(properties, first, &inner)) {
        inner = json_object_new_object();
        json_object_object_add(properties, first, inner);
    }
    free(first);
    put(inner, dot + 1, type);
}

static int guess_object(struct reader *r, struct json_object **out)
{
    struct members mark = {0};
    struct span key;
    struct json_object *object = typed("object");
    int more = reader_enter(r);
    while (more == 0 && (more = reader_member(r, &mark, &key)) > 0) {
        char *name = text_copy_span(key);
        struct json_object *type = NULL;
        more = guess(r, &type);
        if (type != NULL) {
            put(object, name, type);
            json_object_object_del(object, "type");
        }
        free(name);
    }
    *out = object;
    return more;
}

static int guess_array(struct reader *r, struct json_object **out)
{
    bool begun = false;
    int more = reader_enter(r);
    while (more == 0 && (more = reader_element(r, &begun)) > 0) {
        struct json_object *type = NULL;
        more = guess(r, &type);
        if (*out == NULL) {
            *out = type;
        } else {
            json_object_put(type);
        }
    }
    return more;
}

static int guess(struct reader *r, struct json_object **out)
{
    struct buf scratch;
    struct span text;
    if (++r->values > GUESSES_MAX) {
        return reader_skip(r, NULL);
    }
    enum token token = reader_peek(r);
    if (token == TOKEN_OBJECT) {
        return guess_object(r, out);
    }
    if (token == TOKEN_ARRAY) {
        return guess_array(r, out);
    }
    buf_init(&scratch, (size_t)128 << 20);
    int rc = reader_text(r, &scratch, &text);
    if (rc == 0 && token == TOKEN_STRING) {
        *out = string_type(text);
    } else if (rc == 0 && token == TOKEN_NUMBER) {
        bool real = memchr(text.data, '.', text.len) != NULL ||
                    memchr(text.data, 'e', text.len) != NULL ||
                    memchr(text.data, 'E', text.len) != NULL;
        *out = typed(real ? "float" : "long");
    } else if (rc == 0 && token != TOKEN_NULL) {
        *out = typed("boolean");
    }
    buf_release(&scratch);
    return rc;
}

int guess_add(struct json_object **additions, const char *path, struct reader *reader)
{
    struct json_object *type = NULL;
    int rc = guess(reader, &type);
    if (rc != 0 || type == NULL) {
        json_object_put(type);
        return rc;
    }
    if (*additions == NULL) {
        *additions = json_object_new_object();
    }
    put(*additions, path, type);
    return 0;
}
