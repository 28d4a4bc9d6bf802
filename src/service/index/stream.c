/* SPDX-License-Identifier: Apache-2.0 */
/* Data streams: template, stream, mapping, recorded uuid. */
#include "rowferry/service/index/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/ask.h"
#include "index/index_private.h"
#include "rowferry/document/json/json_build.h"
#include "rowferry/service/cluster/cluster.h"

#define PRIORITY_LEAST 500 /* higher than the products' own templates */

void stream_template_name(char out[STREAM_TEMPLATE_BYTES], const char *name)
{
    snprintf(out, STREAM_TEMPLATE_BYTES, "rowferry-%s", name);
}

/* --- reading --------------------------------------------------------------------------------- */

int64_t stream_number(struct span backing)
{
    const char *last = memrchr(backing.data, '-', backing.len);
    return last != NULL ? strtoll(last + 1, NULL, 10) : 0;
}

struct backing {
    struct json_object *newest; /* description of the last one */
    struct json_object *marked; /* description of the last one whose _meta names us */
    struct json_object *first;  /* description of number 1; null: deleted or replaced */
    int64_t number;             /* number of newest */
    int64_t marked_number;
    bool all_noted; /* all have recorded the uuid of the stream */
};

static bool stream_look_at(struct json_object *tree, const char *name, struct backing *out)
{
    *out = (struct backing){.all_noted = true};
    for (struct json_members m = json_tree_members(tree); json_tree_next(&m);) {
        struct json_object *description = m.value;
        int64_t number = stream_number(span_make(m.name, strlen(m.name)));
        if (strcmp(json_tree_text(description, "data_stream"), name) != 0) {
            return false;
        }
        if (out->newest == NULL || number > out->number) {
            out->newest = description;
            out->number = number;
        }
        if (index_ours_in(description) != NULL &&
            (out->marked == NULL || number > out->marked_number)) {
            out->marked = description;
            out->marked_number = number;
        }
        /* a lifecycle replaces indices by others with new uuids: "shrink-..-.ds-.." */
        bool replaced = strncmp(m.name, ".ds-", 4) != 0;
        out->first = number == 1 && !replaced ? description : out->first;
        out->all_noted &= json_tree_text(index_ours_in(description), "stream")[0] != '\0';
    }
    return out->newest != NULL;
}

bool stream_read(struct json_object *tree, const char *name, struct index_info *out)
{
    struct backing b;
    struct index_info state;
    if (!stream_look_at(tree, name, &b)) {
        return false;
    }
    index_info_read(&state, name, b.newest);
    index_info_read(out, name, b.marked != NULL ? b.marked : b.newest);
    out->closed = state.closed;
    out->write_block = state.write_block;
    if (b.first != NULL) {
        struct index_info first;
        index_info_read(&first, name, b.first);
        memcpy(out->uuid, first.uuid, sizeof(out->uuid));
    } else {
        snprintf(out->uuid, sizeof(out->uuid), "%s",
                 json_tree_text(index_ours_in(b.marked), "stream"));
    }
    return true;
}

/* --- requests --------------------------------------------------------------------------------- */

/* Writes "/<name>" for a path that begins with the name of an API. */
static void stream_push_rest(struct buf *rest, const char *api, const char *name)
{
    buf_init(rest, 3 * INDEX_NAME_MAX_BYTES + 64);
    buf_push_text(rest, api);
    text_percent(rest, name, strlen(name));
}

static int stream_put_by(struct service *s, const char *api, const char *name,
                         struct json_object *body, struct err *err)
{
    struct buf rest;
    stream_push_rest(&rest, "/", name);
    int rc = ask_put(s, api, buf_text(&rest), body, err);
    buf_release(&rest);
    return rc;
}

static struct json_object *stream_parse(const char *text)
{
    return text != NULL ? json_tree_of(text) : json_build_object();
}

/* Intended state of a stream. */
struct wanted {
    const char *name;
    struct json_object *mappings;
    struct json_object *settings;
    bool templated; /* by a template of ours */
    int64_t priority;
};

static int stream_put_template(struct service *s, const struct wanted *w, struct err *err)
{
    char name[STREAM_TEMPLATE_BYTES];
    struct json_object *body = json_build_object();
    struct json_object *template = json_build_object();
    struct json_object *patterns = json_build_list();
    stream_template_name(name, w->name);
    json_build_item(patterns, json_build_text(w->name));
    json_build_member(body, "index_patterns", patterns);
    json_build_member(body, "priority", json_build_number(w->priority));
    json_build_member(body, "data_stream", json_build_object());
    json_build_member(template, "settings", json_object_get(w->settings));
    json_build_member(template, "mappings", json_object_get(w->mappings));
    json_build_member(body, "template", template);
    int rc = stream_put_by(s, "_index_template", name, body, err);
    json_object_put(body);
    return rc;
}

/* --- templates of others --------------------------------------------------------------------- */

static void stream_first_lacking(struct json_object *wanted, struct json_object *found,
                                 char out[STREAM_TEMPLATE_BYTES])
{
    for (struct json_members m = json_tree_members(wanted); json_tree_next(&m);) {
        struct json_object *there = json_tree_member(found, m.name);
        bool same = strcmp(json_tree_text(there, "type"), json_tree_text(m.value, "type")) == 0;
        /* both products map @timestamp by default */
        bool given = there == NULL && strcmp(m.name, "@timestamp") == 0;
        if (out[0] == '\0' && !given && (there == NULL || !same)) {
            snprintf(out, STREAM_TEMPLATE_BYTES, "%s", m.name);
        }
    }
}

static int stream_look_lacking(struct service *s, const char *name, struct json_object *mappings,
                               char out[STREAM_TEMPLATE_BYTES], struct err *err)
{
    static const char *const place[] = {"template", "mappings", "properties", NULL};
    struct buf rest;
    struct json_object *tree = NULL;
    out[0] = '\0';
    stream_push_rest(&rest, "/_simulate_index/", name);
    int rc =
        ask_of(s, "POST", "_index_template", buf_text(&rest), NO_BODY, BODY_SIMULATED, &tree, err);
    if (rc == 0) {
        stream_first_lacking(json_tree_member(mappings, "properties"), json_tree_at(tree, place),
                             out);
    }
    json_object_put(tree);
    buf_release(&rest);
    return rc;
}

int stream_template_lacks(struct service *s, const char *name, const char *mappings,
                          char out[STREAM_TEMPLATE_BYTES], struct err *err)
{
    struct json_object *tree = stream_parse(mappings);
    int rc = stream_look_lacking(s, name, tree, out, err);
    json_object_put(tree);
    return rc;
}

static int stream_expect_whole(struct service *s, const struct wanted *w, const char *template,
                               struct err *err)
{
    char lacking[STREAM_TEMPLATE_BYTES];
    int rc = stream_look_lacking(s, w->name, w->mappings, lacking, err);
    if (rc < 0 || lacking[0] == '\0') {
        return rc;
    }
    err_set(err, ERR_REJECTED,
            "index template \"%s\", which makes data streams of \"%s\", does not map property "
            "\"%s\" as to.mappings does",
            template, w->name, lacking);
    return err_hint(
        err, "add the properties of to.mappings and \"source_id\": {\"type\": \"keyword\"} to "
             "its mappings: only the template defines the mapping after a rollover");
}

/* Checks the template for the name. If another one creates streams, it is left alone, with its
 * settings. */
static int stream_see_template(struct service *s, struct wanted *w, struct err *err)
{
    char own[STREAM_TEMPLATE_BYTES];
    struct cluster_template found;
    stream_template_name(own, w->name);
    int rc = cluster_template(s, w->name, &found, err);
    bool is_own = strcmp(found.name, own) == 0;
    w->templated = found.known && (is_own || !found.stream);
    w->priority = is_own                             ? found.priority
                  : found.priority >= PRIORITY_LEAST ? found.priority + 1
                                                     : PRIORITY_LEAST;
    if (rc == 0 && w->templated) {
        return stream_put_template(s, w, err);
    }
    return rc == 0 && found.stream ? stream_expect_whole(s, w, found.name, err) : rc;
}

static int stream_create_data(struct service *s, const char *name, struct err *err)
{
    int rc = stream_put_by(s, "_data_stream", name, NULL, err);
    if (rc == ERR_REJECTED && strcmp(err->service_type, SERVICE_EXISTS) == 0) {
        return 0;
    }
    if (rc == ERR_REJECTED && err->service_reason == SERVICE_REASON_NO_TEMPLATE) {
        err_hint(err,
                 "ask an administrator to create an index template with \"data_stream\": {} for "
                 "\"%s\", or to give this account the privilege (docs/rights.md)",
                 name);
    }
    return rc;
}

static int stream_refuse_taken(const char *name, struct err *err)
{
    err_set(err, ERR_REJECTED,
            "\"%s\" is already the name of an index or alias, so no data stream can have it", name);
    return err_hint(err, "choose another to.index, or: DELETE /%s", name);
}

/* A stream that no pipeline built may be adopted while it is empty. */
static int stream_expect_free(struct service *s, const struct index_info *at, const char *pipeline,
                              struct err *err)
{
    int64_t count = 0;
    if (strcmp(at->pipeline, pipeline) == 0) {
        return 0;
    }
    int rc = at->pipeline[0] == '\0' ? index_count(s, at->name, &count, err) : 0;
    if (rc < 0 || (at->pipeline[0] == '\0' && count == 0)) {
        return rc;
    }
    err_set(err, ERR_REJECTED,
            "data stream \"%s\" holds documents that pipeline \"%s\" did not write", at->name,
            pipeline);
    return err_hint(err, "choose another to.index, or: DELETE /_data_stream/%s", at->name);
}

static void stream_note(struct wanted *w, const char *uuid)
{
    struct json_object *ours =
        json_tree_at(w->mappings, (const char *const[]){"_meta", "rowferry", NULL});
    if (ours != NULL && uuid[0] != '\0') {
        json_build_member(ours, "stream", json_build_text(uuid));
    }
}

/* Creates the template first, because a stream requires one. Writes it again with the uuid, for
 * backing indices after a rollover. */
static int stream_create_absent(struct service *s, struct wanted *w, struct err *err)
{
    enum alias_kind kind;
    struct index_info at;
    int rc = stream_see_template(s, w, err);
    if (rc == 0) {
        rc = stream_create_data(s, w->name, err);
    }
    if (rc == 0) {
        rc = index_resolve(s, w->name, &kind, &at, err);
    }
    if (rc == 0 && kind != ALIAS_STREAM) {
        rc = err_set(err, ERR_STATE, "data stream \"%s\" does not exist after it was created",
                     w->name);
    }
    if (rc == 0) {
        stream_note(w, at.uuid);
        rc = w->templated ? stream_put_template(s, w, err) : 0;
    }
    return rc;
}

static int stream_create_new(struct service *s, struct wanted *w, struct err *err)
{
    enum alias_kind kind;
    struct index_info at;
    const char *pipeline = json_tree_text(
        json_tree_at(w->mappings, (const char *const[]){"_meta", "rowferry", NULL}), "pipeline");
    int rc = index_resolve(s, w->name, &kind, &at, err);
    if (rc < 0) {
        return rc;
    }
    if (kind == ALIAS_ABSENT) {
        rc = stream_create_absent(s, w, err);
    } else if (kind == ALIAS_STREAM) {
        rc = stream_expect_free(s, &at, pipeline, err);
        stream_note(w, at.uuid);
        rc = rc == 0 ? stream_see_template(s, w, err) : rc;
    } else {
        return stream_refuse_taken(w->name, err);
    }
    if (rc == 0) {
        rc = ask_put(s, w->name, "/_mapping", w->mappings, err);
    }
    return rc;
}

int stream_create(struct service *s, const char *name, const char *mappings, const char *settings,
                  struct err *err)
{
    struct wanted w = {
        .name = name, .mappings = stream_parse(mappings), .settings = stream_parse(settings)};
    int rc = index_name_check(name, err);
    if (rc == 0 && (w.mappings == NULL || w.settings == NULL)) {
        rc =
            err_set(err, ERR_CONFIG, "mappings and settings of a data stream must be JSON objects");
    }
    if (rc == 0) {
        rc = stream_create_new(s, &w, err);
    }
    json_object_put(w.mappings);
    json_object_put(w.settings);
    return rc;
}

/* --- recording the uuid ---------------------------------------------------------------------- */

static int stream_put_mark(struct service *s, const struct generation_id *stream,
                           struct json_object *marked, struct err *err)
{
    struct json_object *body = json_build_object();
    struct json_object *meta =
        json_tree_at(marked, (const char *const[]){"mappings", "_meta", NULL});
    json_build_member(index_ours_in(marked), "stream", json_build_text(stream->uuid));
    json_build_member(body, "_meta", json_object_get(meta));
    int rc = ask_put(s, stream->name, "/_mapping", body, err);
    json_object_put(body);
    return rc;
}

int stream_mark(struct service *s, const struct generation_id *stream, struct err *err)
{
    struct index_info at;
    struct backing b;
    struct json_object *tree = NULL;
    int rc = ask_description(s, stream->name, &tree, err);
    if (rc == 0 && (tree == NULL || !stream_read(tree, stream->name, &at))) {
        rc = err_set(err, ERR_STATE, "data stream \"%s\" is gone", stream->name);
    }
    if (rc == 0) {
        rc = index_expect_same(&at, stream, "data stream", err);
    }
    if (rc == 0 && stream_look_at(tree, stream->name, &b) && !b.all_noted) {
        rc = stream_put_mark(s, stream, b.marked, err);
    }
    json_object_put(tree);
    return rc;
}
