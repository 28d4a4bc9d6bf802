/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoints of single documents (write, read, delete) and _mget. */
#include "api/write.h"
#include "base/tree.h"

#include <errno.h>
#include <stdlib.h>

static int parse_version(const struct request *q, struct write *w, struct refusal *refusal)
{
    const char *version = request_parameter(q, "version");
    const char *type = request_parameter(q, "version_type");
    const char *op_type = request_parameter(q, "op_type");
    w->version = VERSION_NONE;
    if (type != NULL && !version_type_parse(type, &w->version_type)) {
        return refuse(refusal, 400, "illegal_argument_exception", "No version type match [%s]",
                      type);
    }
    if (op_type != NULL && strcmp(op_type, "create") == 0) {
        w->kind = WRITE_CREATE;
    } else if (op_type != NULL && strcmp(op_type, "index") != 0) {
        return refuse(refusal, 400, "illegal_argument_exception",
                      "opType must be 'create' or 'index', found: [%s]", op_type);
    }
    char *stop = NULL;
    errno = 0;
    if (version != NULL) {
        w->version = strtoll(version, &stop, 10);
        if (stop == version || *stop != '\0' || errno != 0) {
            return refuse(refusal, 400, "illegal_argument_exception",
                          "Failed to parse long parameter [version] with value [%s]", version);
        }
    }
    return 0;
}

static int validate(const struct write *w, struct refusal *refusal)
{
    char *problem = write_problem(w);
    if (problem == NULL) {
        return 0;
    }
    refuse(refusal, 400, "action_request_validation_exception", "Validation Failed: 1: %s;",
           problem);
    free(problem);
    return -1;
}

static int write_one(struct server *s, const struct request *q, struct answer *a, struct write *w,
                     struct refusal *refusal)
{
    const char *asked = request_parameter(q, "refresh");
    bool forced = asked != NULL && (asked[0] == '\0' || strcmp(asked, "true") == 0);
    const char *pipeline = request_parameter(q, "pipeline");
    struct index *ix = NULL;
    w->index = text_copy(q->segments[0]);
    w->require_alias = request_flag(q, "require_alias");
    w->pipeline = pipeline != NULL ? text_copy(pipeline) : NULL;
    if (refresh_check(s, q, w->index, refusal) != 0 || parse_version(q, w, refusal) != 0 ||
        validate(w, refusal) != 0 || store_begin(s->store, refusal) != 0) {
        return -1;
    }
    buf_push_char(&a->body, '{');
    int rc = write_apply(s, w, forced, &a->body, &a->status, &ix, refusal);
    buf_push_char(&a->body, '}');
    rc = rc == 0 ? index_refresh_as_asked(s, q, ix, refusal) : rc;
    bool keep = rc == 0 || refusal->status != 500; /* keep a mapping extended by a refused write */
    return store_end(s->store, keep, refusal) != 0 ? -1 : rc;
}

static void take_id(const struct request *q, struct write *w)
{
    w->id_bytes = q->segment_bytes[2];
    w->id = mem_zero(w->id_bytes + 1, 1);
    memcpy(w->id, q->segments[2], w->id_bytes);
}

static int body_required(const struct request *q, struct refusal *refusal)
{
    return q->body.len > 0 ? 0
                           : refuse(refusal, 400, "parse_exception", "request body is required");
}

HANDLER(put_document)
{
    struct write w = {.source = q->body};
    w.kind = strcmp(q->segments[1], "_create") == 0 ? WRITE_CREATE : WRITE_INDEX;
    if (body_required(q, refusal) != 0) {
        return -1;
    }
    take_id(q, &w);
    int rc = write_one(s, q, a, &w, refusal);
    write_release(&w);
    return rc;
}

HANDLER(post_document)
{
    struct write w = {.source = q->body};
    if (body_required(q, refusal) != 0) {
        return -1;
    }
    int rc = write_one(s, q, a, &w, refusal);
    write_release(&w);
    return rc;
}

HANDLER(delete_document)
{
    struct write w = {.kind = WRITE_DELETE};
    take_id(q, &w);
    int rc = write_one(s, q, a, &w, refusal);
    write_release(&w);
    return rc;
}

static void push_found(const struct index *ix, const struct stored *doc, bool with_source,
                       struct buf *out)
{
    buf_push_literal(out, "{\"_index\":");
    push_json_text(out, ix->name);
    buf_push_literal(out, ",\"_id\":");
    push_json(out, doc->id);
    buf_printf(out, ",\"_version\":%lld,\"_seq_no\":%lld,\"_primary_term\":1,\"found\":true",
               (long long)doc->version, (long long)doc->seq);
    if (with_source) {
        buf_push_literal(out, ",\"_source\":");
        buf_push(out, doc->source.data, doc->source.len);
    }
    buf_push_char(out, '}');
}

static void push_missing(const struct index *ix, struct span id, struct buf *out)
{
    buf_push_literal(out, "{\"_index\":");
    push_json_text(out, ix->name);
    buf_push_literal(out, ",\"_id\":");
    push_json(out, id);
    buf_push_literal(out, ",\"found\":false}");
}

static int with_source(const struct request *q, bool *wanted, struct refusal *refusal)
{
    const char *source = request_parameter(q, "_source");
    *wanted = source == NULL || strcmp(source, "true") == 0 || source[0] == '\0';
    if (!*wanted && strcmp(source, "false") != 0) {
        return refuse_unknown(refusal, "a list of fields in [_source] here");
    }
    return 0;
}

HANDLER(get_document)
{
    struct stored doc;
    bool source;
    struct span id = span_make(q->segments[2], q->segment_bytes[2]);
    struct index *ix = catalogue_one(&s->catalogue, q->segments[0], refusal);
    if (ix == NULL || with_source(q, &source, refusal) != 0) {
        return -1;
    }
    int found = shelf_find(ix->shelf, id, &doc, refusal);
    if (found > 0) {
        push_found(ix, &doc, source, &a->body);
    } else if (found == 0) {
        a->status = 404;
        push_missing(ix, id, &a->body);
    }
    return found < 0 ? -1 : 0;
}

HANDLER(get_source)
{
    struct stored doc;
    struct index *ix = catalogue_one(&s->catalogue, q->segments[0], refusal);
    if (ix == NULL) {
        return -1;
    }
    int found =
        shelf_find(ix->shelf, span_make(q->segments[2], q->segment_bytes[2]), &doc, refusal);
    if (found == 0) {
        return refuse(refusal, 404, "resource_not_found_exception", "Document not found [%s]/[%s]",
                      q->segments[0], q->segments[2]);
    }
    if (found > 0) {
        buf_push(&a->body, doc.source.data, doc.source.len);
    }
    return found < 0 ? -1 : 0;
}

static int get_one(struct server *s, const char *index, struct span id, bool source,
                   struct buf *out, struct refusal *refusal)
{
    struct stored doc;
    struct index *ix = catalogue_one(&s->catalogue, index, refusal);
    if (ix == NULL) {
        buf_push_literal(out, "{\"_index\":");
        push_json_text(out, index);
        buf_push_literal(out, ",\"_id\":");
        push_json(out, id);
        buf_push_literal(out, ",\"error\":");
        refusal_render(refusal, out, true);
        buf_push_char(out, '}');
        return 0;
    }
    int found = shelf_find(ix->shelf, id, &doc, refusal);
    if (found > 0) {
        push_found(ix, &doc, source, out);
    } else if (found == 0) {
        push_missing(ix, id, out);
    }
    return found < 0 ? -1 : 0;
}

static int get_entry(struct server *s, struct json_object *entry, const char *index, bool source,
                     struct buf *out, struct refusal *refusal)
{
    struct json_object *id = entry;
    struct json_object *value;
    if (json_object_is_type(entry, json_type_object)) {
        if (!json_object_object_get_ex(entry, "_id", &id)) {
            return refuse(refusal, 400, "action_request_validation_exception",
                          "Validation Failed: 1: id is missing for doc 0;");
        }
        index = json_object_object_get_ex(entry, "_index", &value) ? tree_text(value) : index;
        if (json_object_object_get_ex(entry, "_source", &value)) {
            if (!json_object_is_type(value, json_type_boolean)) {
                return refuse_unknown(refusal, "a list of fields in [_source] here");
            }
            source = json_object_get_boolean(value);
        }
    }
    if (index == NULL) {
        return refuse(refusal, 400, "action_request_validation_exception",
                      "Validation Failed: 1: index is missing for doc 0;");
    }
    return get_one(s, index, tree_span(id), source, out, refusal);
}

HANDLER(multi_get)
{
    struct json_object *list = NULL;
    bool source;
    if (with_source(q, &source, refusal) != 0) {
        return -1;
    }
    struct json_object *body = request_json(q, refusal);
    int rc = body != NULL ? 0 : -1;
    if (rc == 0 && !json_object_object_get_ex(body, "ids", &list) &&
        !json_object_object_get_ex(body, "docs", &list)) {
        rc = refuse(refusal, 400, "action_request_validation_exception",
                    "Validation Failed: 1: no documents to get;");
    }
    buf_push_literal(&a->body, "{\"docs\":[");
    for (size_t i = 0; rc == 0 && !a->body.failed && i < tree_length(list); i++) {
        buf_push_text(&a->body, i > 0 ? "," : "");
        rc = get_entry(s, tree_item(list, i), q->segment_count == 2 ? q->segments[0] : NULL, source,
                       &a->body, refusal);
    }
    buf_push_literal(&a->body, "]}");
    json_object_put(body);
    return rc;
}
