/* SPDX-License-Identifier: Apache-2.0 */
/* Requests about an index. The answer must be a JSON object with status 200 or 201. */
#include "http/ask.h"

#include <string.h>

#include "rowferry/document/json/json_build.h"

void ask_path(struct buf *path, const char *name, const char *rest)
{
    buf_init(path, 3 * INDEX_NAME_MAX_BYTES + 512);
    buf_push_char(path, '/');
    text_percent(path, name, strlen(name));
    buf_push_text(path, rest);
}

int ask(struct service *s, const char *method, const char *path, struct span body,
        enum body_use use, struct json_object **tree, struct err *err)
{
    struct http_answer answer;
    struct json_object *got = NULL;
    if (tree != NULL) {
        *tree = NULL;
    }
    int rc = http_request(s, method, path, body, &answer, err);
    if (rc != 0) {
        return rc;
    }
    if (answer.status != 200 && answer.status != 201) {
        rc = http_refuse(&answer, method, path, err);
    } else {
        rc = body_expect(&got, &answer, use, method, path, err);
        if (tree != NULL) {
            *tree = got;
        } else {
            json_object_put(got);
        }
    }
    http_answer_release(&answer);
    return rc;
}

int ask_of(struct service *s, const char *method, const char *name, const char *rest,
           struct span body, enum body_use use, struct json_object **tree, struct err *err)
{
    struct buf path;
    ask_path(&path, name, rest);
    int rc = ask(s, method, buf_text(&path), body, use, tree, err);
    buf_release(&path);
    return rc;
}

int ask_put(struct service *s, const char *name, const char *rest, struct json_object *body,
            struct err *err)
{
    const char *text = body != NULL ? json_build_string(body, ASK_PLAIN) : NULL;
    struct span bytes = text != NULL ? span_make(text, strlen(text)) : NO_BODY;
    return ask_of(s, "PUT", name, rest, bytes, BODY_ACKNOWLEDGED, NULL, err);
}

static bool ask_reports_missing(const struct http_answer *answer)
{
    struct json_object *tree = answer->status == 404 ? body_parse(&answer->body, BODY_ERROR) : NULL;
    bool missing = strcmp(body_error(tree).type, "index_not_found_exception") == 0;
    json_object_put(tree);
    return missing;
}

int ask_read_description(struct http_answer *answer, const char *path, struct json_object **tree,
                         struct err *err)
{
    *tree = NULL;
    if (answer->status == 200) {
        return body_expect(tree, answer, BODY_INDEX, "GET", path, err);
    }
    return ask_reports_missing(answer) ? 0 : http_refuse(answer, "GET", path, err);
}

int ask_description(struct service *s, const char *name, struct json_object **tree, struct err *err)
{
    struct buf path;
    struct http_answer answer;
    ask_path(&path, name, "");
    *tree = NULL;
    int rc = http_request(s, "GET", buf_text(&path), NO_BODY, &answer, err);
    if (rc == 0) {
        rc = ask_read_description(&answer, buf_text(&path), tree, err);
        http_answer_release(&answer);
    }
    buf_release(&path);
    return rc;
}
