/* SPDX-License-Identifier: Apache-2.0 */
/* JSON trees of small answers. */
#include "http/body.h"

#include <string.h>

#include "rowferry/base/units.h"

#define TREE_MAX_DEPTH 64
#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

/* Documents (_mget and its search) are never parsed into a tree; documents_get uses its caller's
 * limit. A tree of 48 MiB holds an index of some 30,000 fields, a search 10,000 hits, an analysis
 * 10,000 terms. That is more than both products return by default. */
static const struct json_limits limits[] = {
    [BODY_ROOT] = {64 * KIB, MIB, TREE_MAX_DEPTH},
    [BODY_SHORT] = {MIB, 4 * MIB, TREE_MAX_DEPTH},
    [BODY_ERROR] = {MIB, 8 * MIB, TREE_MAX_DEPTH},
    [BODY_CLUSTER] = {4 * MIB, 16 * MIB, TREE_MAX_DEPTH},
    [BODY_HITS] = {8 * MIB, 24 * MIB, TREE_MAX_DEPTH},
    [BODY_TOKENS] = {8 * MIB, 32 * MIB, TREE_MAX_DEPTH},
    [BODY_INDEX] = {8 * MIB, 48 * MIB, TREE_MAX_DEPTH},
};

struct json_object *body_parse(const struct buf *body, enum body_use use)
{
    struct json_object *tree;
    (void)json_tree_parse(&tree, buf_text(body), body->len, &limits[use]);
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
        size_t most = fit == JSON_LONG ? limits[use].text_bytes : limits[use].tree_bytes;
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
    enum json_fit fit = json_tree_parse(out, buf_text(body), body->len, &limits[use]);
    return fit == JSON_FITS || fit == JSON_BROKEN
               ? 0
               : body_refuse(answer, use, fit, method, path, err);
}

int body_expect(struct json_object **out, const struct http_answer *answer, enum body_use use,
                const char *method, const char *path, struct err *err)
{
    int rc = body_take(out, answer, use, method, path, err);
    if (rc < 0 || json_tree_is_object(*out)) {
        return rc;
    }
    json_object_put(*out);
    *out = NULL;
    err_set(err, ERR_TRANSIENT, "%s %s: could not read the answer: expected a JSON object", method,
            path);
    err->http_status = answer->status;
    err_detail(err, buf_text(&answer->body), answer->body.len);
    return err_hint(err, "does service.url name the search service itself?");
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
