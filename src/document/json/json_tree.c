/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the text in one pass, then parses it with json-c. */
#include "rowferry/document/json/json_tree.h"

#include <json-c/json.h>
#include <string.h>

#include "rowferry/base/units.h"
#include "rowferry/document/json/json_build.h"
#include "rowferry/document/json/json_compare.h"

/* Memory that json-c 0.16 allocates, rounded up. Each byte of text counts once more, because it may
 * be copied. */
#define OBJECT_BYTES 900 /* including a table for ten members, and the first value */
#define LIST_BYTES 500   /* including room for 32 items, and the first value */
#define NAME_BYTES 200   /* of a member: its entry in a table that doubles, and a copy */
#define VALUE_BYTES 130  /* a number or text after a comma, and its place in a list */

static const struct json_limits own = {(size_t)16 << 20, (size_t)48 << 20, 100};

/* Estimates the size of json-c's tree. Invalid JSON results in some number as well. */
static enum json_fit json_tree_measure(struct span json, const struct json_limits *limits)
{
    const char *end = json.data + json.len;
    size_t bytes = json.len;
    size_t depth = 0;
    for (const char *at = json.data; at < end && bytes <= limits->tree_bytes;) {
        char c = *at++;
        if (c == '"') {
            const char *close = json_string_end(at - 1, end);
            at = close != NULL ? close + 1 : end;
        } else if (c == '\'' || c == '/') { /* json-c would accept such strings and comments */
            return JSON_BROKEN;
        } else if (c == '{' || c == '[') {
            bytes += c == '{' ? OBJECT_BYTES : LIST_BYTES;
            if (++depth > limits->depth) {
                return JSON_DEEP;
            }
        } else if (c == '}' || c == ']') {
            depth -= depth > 0;
        } else if (c == ',' || c == ':') {
            bytes += c == ',' ? VALUE_BYTES : NAME_BYTES;
        }
    }
    return bytes <= limits->tree_bytes ? JSON_FITS : JSON_LARGE;
}

/* Parses strictly, because the estimate holds for valid JSON only. */
static enum json_fit json_tree_parse_strict(struct json_object **out, struct span json,
                                            unsigned depth)
{
    struct json_tokener *tokener = json_build_tokener((int)depth + 1);
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS);
    struct json_object *tree = json_build_parsed(tokener, json.data, json.len);
    size_t end = json_tokener_get_parse_end(tokener);
    if (json_tokener_get_error(tokener) == json_tokener_continue) { /* final number */
        tree = json_build_parsed(tokener, "", 1);
    }
    bool good = json_tokener_get_error(tokener) == json_tokener_success && end == json.len;
    json_tokener_free(tokener);
    if (!good) {
        json_object_put(tree);
    }
    *out = good ? tree : NULL;
    return good ? JSON_FITS : JSON_BROKEN;
}

enum json_fit json_tree_parse(struct json_object **out, const char *text, size_t len,
                              const struct json_limits *limits)
{
    *out = NULL;
    if (len > limits->text_bytes) {
        return JSON_LONG;
    }
    struct span json = json_trim(span_make(text, len));
    enum json_fit fit = json_tree_measure(json, limits);
    return fit == JSON_FITS ? json_tree_parse_strict(out, json, limits->depth) : fit;
}

struct json_object *json_tree_of(const char *text)
{
    struct json_object *tree;
    (void)json_tree_parse(&tree, text, strlen(text), &own);
    return tree;
}

bool json_tree_is_object(struct json_object *value)
{
    return json_object_is_type(value, json_type_object) != 0;
}

bool json_tree_is_list(struct json_object *value)
{
    return json_object_is_type(value, json_type_array) != 0;
}

struct json_object *json_tree_member(struct json_object *object, const char *name)
{
    return json_object_object_get(object, name);
}

bool json_tree_has(struct json_object *object, const char *name)
{
    return json_object_object_get_ex(object, name, NULL) != 0;
}

struct json_object *json_tree_at(struct json_object *tree, const char *const *names)
{
    for (; *names != NULL; names++) {
        tree = json_tree_member(tree, *names);
    }
    return tree;
}

const char *json_tree_text(struct json_object *object, const char *name)
{
    struct json_object *value = json_tree_member(object, name);
    return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";
}

int64_t json_tree_amount(struct json_object *object, const char *name)
{
    int64_t amount = 0;
    struct json_object *member = json_tree_member(object, name);
    if (json_object_is_type(member, json_type_int)) {
        amount = json_object_get_int64(member);
    } else if (json_object_is_type(member, json_type_string)) {
        amount = units_parse_count(json_object_get_string(member), &amount) ? amount : 0;
    }
    return amount < 0 ? 0 : amount < JSON_AMOUNT_MAX ? amount : JSON_AMOUNT_MAX;
}

size_t json_tree_count(struct json_object *object)
{
    return json_tree_is_object(object) ? (size_t)json_object_object_length(object) : 0;
}

void json_tree_remove(struct json_object *object, const char *name)
{
    if (json_tree_is_object(object)) {
        json_object_object_del(object, name);
    }
}

size_t json_tree_length(struct json_object *list)
{
    return json_tree_is_list(list) ? json_object_array_length(list) : 0;
}

struct json_object *json_tree_item(struct json_object *list, size_t i)
{
    return json_tree_is_list(list) ? json_object_array_get_idx(list, i) : NULL;
}

struct json_members json_tree_members(struct json_object *object)
{
    struct lh_entry *first =
        json_tree_is_object(object) ? lh_table_head(json_object_get_object(object)) : NULL;
    return (struct json_members){.next = first};
}

bool json_tree_next(struct json_members *m)
{
    struct lh_entry *entry = m->next;
    if (entry == NULL) {
        return false;
    }
    m->next = lh_entry_next(entry);
    m->name = lh_entry_k(entry);
    m->value = lh_entry_v(entry);
    return true;
}
