/* SPDX-License-Identifier: Apache-2.0 */
/* json-c on the answers that are small enough for a tree. */
#include "body.h"

#include <string.h>

#include "rowferry/document/json_made.h"

#define TREE_MAX_DEPTH 64

struct json_object *body_parse(const struct buf *body)
{
    struct json_tokener *tokener = json_made_tokener(TREE_MAX_DEPTH);
    struct json_object *tree = json_made_parsed(tokener, buf_text(body), body->len);
    bool whole = json_tokener_get_error(tokener) == json_tokener_success;
    json_tokener_free(tokener);
    if (!whole) {
        json_object_put(tree);
        return NULL;
    }
    return tree;
}

int body_expect(struct json_object **out, const struct http_answer *answer, const char *method,
                const char *path, struct err *err)
{
    *out = body_parse(&answer->body);
    if (json_object_is_type(*out, json_type_object)) {
        return 0;
    }
    json_object_put(*out);
    *out = NULL;
    err_set(err, ERR_TRANSIENT, "%s %s: could not read the answer: expected a JSON object", method,
            path);
    err->http_status = answer->status;
    err_detail(err, buf_text(&answer->body), answer->body.len);
    return err_hint(err, "does service.url name the search service itself?");
}

struct json_object *body_member(struct json_object *tree, const char *const *keys)
{
    for (; *keys != NULL; keys++) {
        struct json_object *next = NULL;
        if (!json_object_is_type(tree, json_type_object) ||
            !json_object_object_get_ex(tree, *keys, &next)) {
            return NULL;
        }
        tree = next;
    }
    return tree;
}

const char *body_text(struct json_object *object, const char *key)
{
    struct json_object *value = body_member(object, (const char *const[]){key, NULL});
    return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";
}

/* Some errors leave the reason to their first cause. */
static struct body_error of_object(struct json_object *error)
{
    struct body_error found = {body_text(error, "type"), body_text(error, "reason")};
    struct json_object *causes = body_member(error, (const char *const[]){"root_cause", NULL});
    if (json_object_is_type(causes, json_type_array) && json_object_array_length(causes) > 0) {
        struct json_object *first = json_object_array_get_idx(causes, 0);
        found.type = found.type[0] != '\0' ? found.type : body_text(first, "type");
        found.reason = found.reason[0] != '\0' ? found.reason : body_text(first, "reason");
    }
    return found;
}

struct body_error body_error(struct json_object *tree)
{
    struct json_object *error = body_member(tree, (const char *const[]){"error", NULL});
    if (json_object_is_type(error, json_type_string)) {
        return (struct body_error){"", json_object_get_string(error)};
    }
    return of_object(error);
}
