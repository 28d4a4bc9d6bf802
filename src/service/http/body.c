/* SPDX-License-Identifier: Apache-2.0 */
/* JSON trees of small answers. */
#include "http/body.h"

#include <stdio.h>
#include <string.h>

#include "rowferry/base/units.h"

#define TREE_MAX_DEPTH 64
#define EXCERPT_MAX_BYTES 1024
#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

/* Documents (_mget and its search) are never parsed into a tree; documents_get uses its caller's
 * limit. A tree of 48 MiB holds an index of some 30,000 fields, a search 10,000 hits, an analysis
 * 10,000 terms. That is more than both products return by default. */
#define SMALL                                                                                      \
    {                                                                                              \
        MIB, 4 * MIB, TREE_MAX_DEPTH                                                               \
    }
#define MIDDLE                                                                                     \
    {                                                                                              \
        4 * MIB, 16 * MIB, TREE_MAX_DEPTH                                                          \
    }
#define HITS                                                                                       \
    {                                                                                              \
        8 * MIB, 24 * MIB, TREE_MAX_DEPTH                                                          \
    }
#define LARGE                                                                                      \
    {                                                                                              \
        8 * MIB, 48 * MIB, TREE_MAX_DEPTH                                                          \
    }

/* A member with null is not checked. The member of an answer about indices is in the object of each
 * index. */
static const struct answer_form {
    struct json_limits limits;
    const char *member;
    json_type type;
    bool of_index;
} forms[] = {
    [BODY_ROOT] = {{64 * KIB, MIB, TREE_MAX_DEPTH}, NULL, json_type_null, false},
    [BODY_SHORT] = {SMALL, NULL, json_type_null, false},
    [BODY_ACKNOWLEDGED] = {SMALL, "acknowledged", json_type_boolean, false},
    [BODY_SHARDS] = {SMALL, "_shards", json_type_object, false},
    [BODY_WRITTEN] = {SMALL, "result", json_type_string, false},
    [BODY_PRIVILEGES] = {SMALL, "index", json_type_object, false},
    [BODY_ERROR] = {{MIB, 8 * MIB, TREE_MAX_DEPTH}, NULL, json_type_null, false},
    [BODY_CLUSTER] = {MIDDLE, NULL, json_type_null, false},
    [BODY_STATS] = {MIDDLE, "_all", json_type_object, false},
    [BODY_SEGMENTS] = {MIDDLE, "indices", json_type_object, false},
    [BODY_IDS] = {HITS, "timed_out", json_type_boolean, false},
    [BODY_HITS] = {HITS, "hits", json_type_object, false},
    [BODY_TOKENS] = {{8 * MIB, 32 * MIB, TREE_MAX_DEPTH}, "tokens", json_type_array, false},
    [BODY_INDEX] = {LARGE, "settings", json_type_object, true},
    [BODY_MAPPING] = {LARGE, "mappings", json_type_object, true},
    [BODY_TEMPLATES] = {LARGE, "index_templates", json_type_array, false},
    [BODY_SIMULATED] = {LARGE, "template", json_type_object, false},
};

struct json_object *body_parse(const struct buf *body, enum body_use use)
{
    struct json_object *tree;
    (void)json_tree_parse(&tree, buf_text(body), body->len, &forms[use].limits);
    return tree;
}

/* Example: "GET / of localhost:9200: cannot take the answer: it is longer than 64KiB". */
static int body_refuse(const struct http_answer *answer, enum body_use use, enum json_fit fit,
                       const char *method, const char *path, struct err *err)
{
    char size[UNITS_BYTES];
    char place[HTTP_PLACE_BYTES];
    http_place(place, method, path, answer->origin);
    if (fit == JSON_DEEP) {
        err_set(err, ERR_REJECTED,
                "%s: cannot take the answer: it is nested more than %d levels deep", place,
                TREE_MAX_DEPTH);
    } else {
        size_t most =
            fit == JSON_LONG ? forms[use].limits.text_bytes : forms[use].limits.tree_bytes;
        err_set(err, ERR_REJECTED, "%s: cannot take the answer: it %s %s", place,
                fit == JSON_LONG ? "is longer than" : "would need memory of over",
                units_size(size, (int64_t)most));
    }
    err->http_status = answer->status;
    err_detail(err, buf_text(&answer->body), answer->body.len);
    return err_hint(
        err,
        "a search service does not answer like this: does service.url name the service itself?");
}

int body_take(struct json_object **out, const struct http_answer *answer, enum body_use use,
              const char *method, const char *path, struct err *err)
{
    const struct buf *body = &answer->body;
    enum json_fit fit = json_tree_parse(out, buf_text(body), body->len, &forms[use].limits);
    return fit == JSON_FITS || fit == JSON_BROKEN
               ? 0
               : body_refuse(answer, use, fit, method, path, err);
}

int body_unreadable(const struct http_answer *answer, const char *method, const char *path,
                    const char *why, struct err *err)
{
    char place[HTTP_PLACE_BYTES];
    struct buf excerpt;
    bool page = http_is_page(&answer->body);
    buf_init(&excerpt, EXCERPT_MAX_BYTES);
    if (page) {
        buf_push_literal(&excerpt, ", not the page \"");
        http_push_excerpt(&excerpt, &answer->body);
        buf_push_char(&excerpt, '"');
    }
    err_set(err, ERR_TRANSIENT, "%s: could not read the answer: %s%s",
            http_place(place, method, path, answer->origin), why, buf_text(&excerpt));
    err->place = strlen(place);
    err->http_status = answer->status;
    if (!page) {
        err_detail(err, buf_text(&answer->body), answer->body.len);
    }
    buf_release(&excerpt);
    return err_hint(err, "does service.url name the search service itself?");
}

/* Returns false if the answer lacks the member of its form. Every index must have it, and an answer
 * about indices names one at least. */
static bool body_has_form(const struct answer_form *form, struct json_object *tree)
{
    struct json_members index = json_tree_members(tree);
    bool has = form->member == NULL;
    if (!has && !form->of_index) {
        return json_object_is_type(json_tree_member(tree, form->member), form->type) != 0;
    }
    while (form->of_index && json_tree_next(&index)) {
        has = json_object_is_type(json_tree_member(index.value, form->member), form->type) != 0;
        if (!has) {
            return false;
        }
    }
    return has;
}

int body_expect(struct json_object **out, const struct http_answer *answer, enum body_use use,
                const char *method, const char *path, struct err *err)
{
    char lacks[96] = "expected a JSON object";
    const struct answer_form *form = &forms[use];
    int rc = body_take(out, answer, use, method, path, err);
    bool object = rc == 0 && json_tree_is_object(*out);
    if (rc < 0 || (object && body_has_form(form, *out))) {
        return rc;
    }
    if (object) {
        snprintf(lacks, sizeof(lacks), "it has no %s \"%s\"%s", json_type_to_name(form->type),
                 form->member, form->of_index ? " of an index" : "");
    }
    json_object_put(*out);
    *out = NULL;
    return body_unreadable(answer, method, path, lacks, err);
}

void body_copy(char *out, size_t size, const char *text)
{
    size_t n = text_cut(text, strlen(text), size - 1);
    memcpy(out, text, n);
    out[n] = '\0';
}

int body_list(struct json_object *tree, const char *const *names, struct json_object **list,
              struct err *err)
{
    const char *last = names[0];
    for (size_t i = 0; names[i] != NULL; i++) {
        last = names[i];
    }
    *list = json_tree_at(tree, names);
    return *list == NULL || json_tree_is_list(*list)
               ? 0
               : err_set(err, ERR_TRANSIENT,
                         "could not read the answer of the service: \"%s\" in it is not a list",
                         last);
}

/* Some errors have their reason only in the first root cause. */
static struct body_error body_of_object(struct json_object *error)
{
    struct body_error found = {json_tree_text(error, "type"), json_tree_text(error, "reason")};
    struct json_object *first = json_tree_item(json_tree_member(error, "root_cause"), 0);
    found.type = found.type[0] != '\0' ? found.type : json_tree_text(first, "type");
    found.reason = found.reason[0] != '\0' ? found.reason : json_tree_text(first, "reason");
    return found;
}

struct body_error body_error(struct json_object *tree)
{
    struct json_object *error = json_tree_member(tree, "error");
    if (json_object_is_type(error, json_type_string)) {
        return (struct body_error){"", json_object_get_string(error)};
    }
    return body_of_object(error);
}
