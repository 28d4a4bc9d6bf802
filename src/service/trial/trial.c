/* SPDX-License-Identifier: Apache-2.0 */
/* The requests of a trial. */
#include "rowferry/service/trial/trial.h"
#include "rowferry/document/json/json_build.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/ask.h"

#define PATH_MAX_BYTES 4096
#define META_MAX_BYTES ((size_t)64 * 1024)
#define COPIES_MOST 10000 /* no cluster has that number of nodes */
#define FILTER "filter_path=timed_out,hits.total,hits.hits._id"

/* --- the index -------------------------------------------------------------------------------- */

int trial_name(struct trial *t, const char *pipeline, const char *alias, const char *purpose,
               uint64_t random, struct err *err)
{
    t->pipeline = pipeline;
    snprintf(t->token, sizeof(t->token), "%016" PRIx64, random);
    int len =
        snprintf(t->index, sizeof(t->index), "%s-%s-%08" PRIx64, alias, purpose, random >> 32);
    if (len < 0 || (size_t)len >= sizeof(t->index)) {
        return err_set(err, ERR_CONFIG, "the name \"%s-%s-...\" is too long for an index", alias,
                       purpose);
    }
    return 0;
}

void trial_push_mappings(struct buf *out, const struct trial *t, const struct mapping *m)
{
    struct buf meta;
    buf_init(&meta, META_MAX_BYTES);
    buf_push_literal(&meta, "{\"pipeline\":");
    text_json(&meta, t->pipeline, strlen(t->pipeline));
    buf_printf(&meta, ",\"creator\":\"%s\",\"trial\":true}", t->token);
    mapping_write(out, m, buf_text(&meta));
    buf_release(&meta);
}

/* A refused creation leaves no index, but one whose answer was lost may. */
int trial_create(struct service *s, struct trial *t, const char *mappings, const char *settings,
                 struct err *err)
{
    bool found = false;
    struct index_info info = {0};
    t->asked = true;
    int rc = index_create(s, t->index, mappings, settings, err);
    t->asked = rc == 0 || rc == ERR_TRANSIENT;
    if (rc == 0) {
        rc = index_look(s, t->index, &found, &info, err);
    }
    rc = rc == 0 ? write_alias_expect_hidden(s, t->index, t->pipeline, err) : rc;
    struct generation_id g = {t->index, info.uuid, t->pipeline, NULL};
    return rc == 0 ? write_alias_open(s, &g, t->write_alias, err) : rc;
}

int trial_remove(struct service *s, struct trial *t, struct err *err)
{
    bool found = false;
    struct index_info info;
    if (!t->asked) {
        return 0;
    }
    int rc = index_look(s, t->index, &found, &info, err);
    if (rc == 0 && found && strcmp(info.creator, t->token) != 0) {
        return err_set(err, ERR_REJECTED,
                       "index \"%s\" was not created by this trial, so it was not removed",
                       t->index);
    }
    if (rc == 0 && found) {
        rc = index_delete(s, t->index, t->pipeline, err);
    }
    t->asked = rc < 0;
    return rc;
}

/* --- searches --------------------------------------------------------------------------------- */

static int trial_take_hits(struct hits *h, struct json_object *tree, struct err *err)
{
    struct json_object *list;
    int rc = body_list(tree, (const char *const[]){"hits", "hits", NULL}, &list, err);
    struct json_object *total = json_tree_at(tree, (const char *const[]){"hits", "total", NULL});
    scan_list_cut(&h->ids, 0);
    h->total = json_tree_amount(total, "value");
    for (size_t i = 0; i < json_tree_length(list); i++) {
        const char *id = json_tree_text(json_tree_item(list, i), "_id");
        scan_list_push(&h->ids, span_make(id, strlen(id)));
    }
    return rc;
}

static int trial_search_hits(struct service *s, const char *method, const char *path,
                             struct span body, struct hits *out, struct err *err)
{
    struct json_object *tree = NULL;
    int rc = ask(s, method, path, body, BODY_HITS, &tree, err);
    struct json_object *late = json_tree_member(tree, "timed_out");
    if (rc == 0 && json_object_get_boolean(late)) {
        rc = err_set(err, ERR_TRANSIENT, "%s %s timed out", method, path);
    }
    if (rc == 0) {
        rc = trial_take_hits(out, tree, err);
    }
    json_object_put(tree);
    return rc;
}

static void trial_push_pipeline(struct buf *path, const char *pipeline)
{
    if (pipeline != NULL) {
        buf_push_literal(path, "&search_pipeline=");
        text_percent(path, pipeline, strlen(pipeline));
    }
}

int trial_search(struct service *s, const char *index, const char *body, size_t size,
                 const char *pipeline, struct hits *out, struct err *err)
{
    struct buf path;
    struct json_object *tree = json_tree_of(body);
    if (!json_tree_is_object(tree)) {
        json_object_put(tree);
        return err_set(err, ERR_CONFIG, "the body of a search is not a JSON object");
    }
    json_build_member(tree, "size", json_build_number((int64_t)size));
    json_build_member(tree, "_source", json_build_bool(false));
    json_build_member(tree, "track_total_hits", json_build_bool(true));
    const char *text = json_build_string(tree, ASK_PLAIN);
    ask_path(&path, index, "/_search?" FILTER);
    trial_push_pipeline(&path, pipeline);
    int rc = trial_search_hits(s, "POST", buf_text(&path), span_make(text, strlen(text)), out, err);
    buf_release(&path);
    json_object_put(tree);
    return rc;
}

int trial_search_text(struct service *s, const char *index, const char *q, size_t size,
                      const char *pipeline, struct hits *out, struct err *err)
{
    struct buf path;
    struct buf rest;
    buf_init(&rest, PATH_MAX_BYTES);
    buf_push_literal(&rest, "/_search?q=");
    text_percent(&rest, q, strlen(q));
    buf_printf(&rest, "&size=%zu&_source=false&track_total_hits=true&" FILTER, size);
    trial_push_pipeline(&rest, pipeline);
    ask_path(&path, index, buf_text(&rest));
    int rc = rest.failed || path.failed
                 ? err_set(err, ERR_CONFIG, "the search by q= is too long for a request")
                 : trial_search_hits(s, "GET", buf_text(&path), NO_BODY, out, err);
    buf_release(&path);
    buf_release(&rest);
    return rc;
}

/* --- analysis --------------------------------------------------------------------------------- */

int trial_analyze(struct service *s, const char *index, const char *field, const char *analyzer,
                  const char *text, struct trial_terms *out, struct err *err)
{
    struct buf body;
    struct json_object *tree = NULL;
    *out = (struct trial_terms){0};
    const char *name = analyzer != NULL ? analyzer : field;
    buf_init(&body, ASK_MAX_BYTES);
    buf_push_text(&body, analyzer != NULL ? "{\"analyzer\":" : "{\"field\":");
    text_json(&body, name, strlen(name));
    buf_push_literal(&body, ",\"text\":");
    text_json(&body, text, strlen(text));
    buf_push_char(&body, '}');
    int rc = ask_of(s, "POST", index, "/_analyze", span_make(body.data, body.len), BODY_TOKENS,
                    &tree, err);
    struct json_object *tokens = NULL;
    if (rc == 0) {
        rc = body_list(tree, (const char *const[]){"tokens", NULL}, &tokens, err);
    }
    size_t count = rc == 0 ? json_tree_length(tokens) : 0;
    out->items = mem_zero(count + 1, sizeof(*out->items));
    for (; out->count < count; out->count++) {
        struct json_object *token = json_tree_item(tokens, out->count);
        out->items[out->count] = text_copy(json_tree_text(token, "token"));
    }
    json_object_put(tree);
    buf_release(&body);
    return rc;
}

void trial_terms_release(struct trial_terms *t)
{
    for (size_t i = 0; i < t->count; i++) {
        free(t->items[i]);
    }
    free(t->items);
}

/* --- vectors and storage ---------------------------------------------------------------------- */

static void trial_push_vector(struct buf *out, const float *vector, size_t dimension)
{
    buf_push_char(out, '[');
    for (size_t i = 0; i < dimension; i++) {
        buf_printf(out, "%s%.9g", i > 0 ? "," : "", (double)vector[i]);
    }
    buf_push_char(out, ']');
}

void trial_push_nearest(struct buf *out, const struct product_info *product, const char *field,
                        const float *vector, size_t dimension, size_t k)
{
    if (product->product == PRODUCT_ELASTICSEARCH) {
        buf_push_literal(out, "{\"knn\":{\"field\":");
        text_json(out, field, strlen(field));
        buf_push_literal(out, ",\"query_vector\":");
        trial_push_vector(out, vector, dimension);
        buf_printf(out, ",\"k\":%zu,\"num_candidates\":%zu}}", k, k * 10 > 100 ? k * 10 : 100);
    } else {
        buf_push_literal(out, "{\"query\":{\"knn\":{");
        text_json(out, field, strlen(field));
        buf_push_literal(out, ":{\"vector\":");
        trial_push_vector(out, vector, dimension);
        buf_printf(out, ",\"k\":%zu}}}}", k);
    }
}

static int64_t trial_bytes_of_copy(struct json_object *copy)
{
    int64_t bytes = 0;
    struct json_members segment = json_tree_members(json_tree_member(copy, "segments"));
    while (json_tree_next(&segment)) {
        bytes += json_tree_amount(segment.value, "size_in_bytes");
    }
    return bytes;
}

int trial_bytes(struct service *s, const char *index, int64_t *bytes, struct err *err)
{
    struct json_object *tree = NULL;
    *bytes = 0;
    int rc = ask_of(s, "GET", index, "/_segments", NO_BODY, BODY_SEGMENTS, &tree, err);
    struct json_object *shards =
        json_tree_at(tree, (const char *const[]){"indices", index, "shards", NULL});
    for (struct json_members copies = json_tree_members(shards); json_tree_next(&copies);) {
        for (size_t i = 0; i < json_tree_length(copies.value); i++) {
            struct json_object *copy = json_tree_item(copies.value, i);
            struct json_object *primary =
                json_tree_at(copy, (const char *const[]){"routing", "primary", NULL});
            *bytes += json_object_get_boolean(primary) ? trial_bytes_of_copy(copy) : 0;
        }
    }
    json_object_put(tree);
    return rc;
}

int trial_copies(struct service *s, const char *index, int64_t *copies, struct err *err)
{
    struct json_object *tree = NULL;
    *copies = 1;
    int rc = ask_description(s, index, &tree, err);
    struct json_object *settings =
        json_tree_at(tree, (const char *const[]){index, "settings", "index", NULL});
    *copies += strtol(json_tree_text(settings, "number_of_replicas"), NULL, 10) % COPIES_MOST;
    json_object_put(tree);
    return rc;
}
