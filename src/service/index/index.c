/* SPDX-License-Identifier: Apache-2.0 */
/* Indices, aliases and generations: one request per operation. */
#include "rowferry/service/index/index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/ask.h"
#include "index/index_private.h"
#include "rowferry/document/mapping/mapping.h"

static int index_name_refused_over(const char *name, int most, const char *why, struct err *err)
{
    err_set(err, ERR_CONFIG, "\"%s\" cannot be the name of an index: %s", name, why);
    return err_hint(err,
                    "lower case letters, digits, '-', '_' and '.', not beginning with '-', "
                    "'_' or '+', at most %d bytes",
                    most);
}

static int index_name_refused(const char *name, const char *why, struct err *err)
{
    return index_name_refused_over(name, INDEX_NAME_MAX_BYTES, why, err);
}

int index_alias_check(const char *name, struct err *err)
{
    if (strlen(name) > INDEX_ALIAS_MAX_BYTES) {
        return index_name_refused_over(name, INDEX_ALIAS_MAX_BYTES,
                                       "it is too long: names of indices are made of it", err);
    }
    return index_name_check(name, err);
}

int index_name_check(const char *name, struct err *err)
{
    size_t len = strlen(name);
    if (len == 0 || len > INDEX_NAME_MAX_BYTES) {
        return index_name_refused(name, len == 0 ? "it is empty" : "it is too long", err);
    }
    if (strchr("-_+", name[0]) != NULL) {
        return index_name_refused(name, "it begins with '-', '_' or '+'", err);
    }
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        return index_name_refused(name, "\".\" and \"..\" are not allowed", err);
    }
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)name[i];
        if (c < 0x20 || c == 0x7f || strchr("\\/*?\"<>| ,#:", name[i]) != NULL) {
            return index_name_refused(name, "it has a character that is not allowed", err);
        }
        if (c >= 'A' && c <= 'Z') {
            return index_name_refused(name, "it has upper case letters", err);
        }
    }
    return 0;
}

/* Returns the setting that blocks writes; null if none. The service returns settings as strings,
 * whatever their original type. */
static const char *index_write_block(struct json_object *settings)
{
    static const char *const names[][2] = {
        {"write", "index.blocks.write"},
        {"read_only", "index.blocks.read_only"},
        {"read_only_allow_delete", "index.blocks.read_only_allow_delete"},
    };
    struct json_object *blocks = json_tree_member(settings, "blocks");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(json_tree_text(blocks, names[i][0]), "true") == 0) {
            return names[i][1];
        }
    }
    return NULL;
}

struct json_object *index_ours_in(struct json_object *description)
{
    return json_tree_at(description, (const char *const[]){"mappings", "_meta", "rowferry", NULL});
}

int index_expect_same(const struct index_info *at, const struct generation_id *g, const char *what,
                      struct err *err)
{
    if (strcmp(at->uuid, g->uuid) != 0) {
        return err_set(err, ERR_STATE, "%s \"%s\" was deleted and created again by another program",
                       what, g->name);
    }
    if (g->pipeline[0] == '\0' || strcmp(at->pipeline, g->pipeline) != 0) {
        return err_set(err, ERR_INTERNAL,
                       "refusing to write to %s \"%s\": its _meta does not name pipeline \"%s\"",
                       what, g->name, g->pipeline);
    }
    if (g->place != NULL && strcmp(at->place, g->place) != 0) {
        return err_set(err, ERR_TRANSIENT, "%s \"%s\" was taken over from another server just now",
                       what, g->name);
    }
    return 0;
}

void index_info_read(struct index_info *out, const char *name, struct json_object *description)
{
    struct json_object *ours = index_ours_in(description);
    struct json_object *settings =
        json_tree_at(description, (const char *const[]){"settings", "index", NULL});
    static const char *const source_id[] = {"mappings", "properties", "source_id", NULL};
    memset(out, 0, sizeof(*out));
    struct json_object *property = json_tree_at(description, source_id);
    out->source_id_fault = mapping_source_id_fault(property, KEY_MAX_BYTES);
    out->long_key_fault = mapping_source_id_fault(property, KEY_LONG_MAX_BYTES);
    body_copy(out->name, sizeof(out->name), name);
    body_copy(out->uuid, sizeof(out->uuid), json_tree_text(settings, "uuid"));
    body_copy(out->pipeline, sizeof(out->pipeline), json_tree_text(ours, "pipeline"));
    body_copy(out->fingerprint, sizeof(out->fingerprint), json_tree_text(ours, "mapping"));
    body_copy(out->source, sizeof(out->source), json_tree_text(ours, "source"));
    body_copy(out->table, sizeof(out->table), json_tree_text(ours, "table"));
    body_copy(out->creator, sizeof(out->creator), json_tree_text(ours, "creator"));
    body_copy(out->place, sizeof(out->place), json_tree_text(ours, "place"));
    out->left_clock =
        json_object_get_int64(json_tree_at(ours, (const char *const[]){"left", "clock", NULL}));
    out->closed = strcmp(json_tree_text(settings, "verified_before_close"), "true") == 0;
    out->write_block = index_write_block(settings);
}

void index_read_resolved(struct json_object *tree, const char *name, enum alias_kind *kind,
                         struct index_info *out)
{
    memset(out, 0, sizeof(*out));
    *kind = ALIAS_ABSENT;
    if (tree == NULL) {
        return;
    }
    struct json_members only = json_tree_members(tree);
    if (stream_read(tree, name, out)) {
        *kind = ALIAS_STREAM;
    } else if (json_tree_count(tree) > 1) {
        *kind = ALIAS_SEVERAL;
    } else if (json_tree_next(&only)) {
        bool alias = json_tree_at(only.value, (const char *const[]){"aliases", name, NULL}) != NULL;
        *kind = alias ? ALIAS_ONE : ALIAS_CONCRETE;
        index_info_read(out, only.name, only.value);
    }
}

int index_resolve(struct service *s, const char *name, enum alias_kind *kind,
                  struct index_info *out, struct err *err)
{
    struct json_object *tree;
    memset(out, 0, sizeof(*out));
    *kind = ALIAS_ABSENT;
    int rc = ask_description(s, name, &tree, err);
    if (rc == 0) {
        index_read_resolved(tree, name, kind, out);
    }
    json_object_put(tree);
    return rc;
}

int index_look(struct service *s, const char *name, bool *found, struct index_info *out,
               struct err *err)
{
    struct json_object *tree;
    memset(out, 0, sizeof(*out));
    *found = false;
    int rc = ask_description(s, name, &tree, err);
    if (rc != 0 || tree == NULL) {
        return rc;
    }
    struct json_object *description = json_tree_member(tree, name);
    if (description != NULL) {
        *found = true;
        index_info_read(out, name, description);
    }
    json_object_put(tree);
    return 0;
}

int index_create(struct service *s, const char *name, const char *mappings, const char *settings,
                 struct err *err)
{
    struct buf body;
    buf_init(&body, ASK_MAX_BYTES);
    buf_push_literal(&body, "{\"settings\":");
    int rc = index_settings_filling(&body, settings, err);
    if (rc == 0) {
        buf_push_literal(&body, ",\"mappings\":");
        buf_push_text(&body, mappings);
        buf_push_char(&body, '}');
        rc = body.failed ? err_set(err, ERR_REJECTED, "cannot send a mapping of over %zu bytes",
                                   ASK_MAX_BYTES)
                         : ask_of(s, "PUT", name, "", span_make(body.data, body.len),
                                  BODY_ACKNOWLEDGED, NULL, err);
    }
    buf_release(&body);
    return rc;
}

int index_finish(struct service *s, const char *name, const char *settings, struct err *err)
{
    struct buf body;
    buf_init(&body, ASK_MAX_BYTES);
    int rc = index_settings_finished(&body, settings, err);
    if (rc == 0) {
        rc = ask_of(s, "PUT", name, "/_settings", span_make(body.data, body.len), BODY_ACKNOWLEDGED,
                    NULL, err);
    }
    buf_release(&body);
    return rc == 0 ? index_refresh(s, name, err) : rc;
}

static void index_push_action(struct buf *out, const struct index_action *a)
{
    buf_printf(out, "{\"%s\":{\"index\":", a->action);
    text_json(out, a->index, strlen(a->index));
    if (a->alias != NULL) {
        buf_push_literal(out, ",\"alias\":");
        text_json(out, a->alias, strlen(a->alias));
    }
    buf_printf(out, "%s}}", a->rest);
}

/* Elasticsearch may acknowledge a request of which one action failed. */
static int index_check_changed(struct json_object *tree, const char *alias, struct err *err)
{
    if (json_object_get_boolean(json_tree_member(tree, "errors"))) {
        return err_set(err, ERR_REJECTED, "cannot set the alias \"%s\": an action failed", alias);
    }
    if (!json_object_get_boolean(json_tree_member(tree, "acknowledged"))) {
        return err_set(err, ERR_TRANSIENT,
                       "could not set the alias \"%s\" in time: not acknowledged", alias);
    }
    return 0;
}

int index_change_aliases(struct service *s, const struct index_action *actions, size_t count,
                         const char *alias, struct err *err)
{
    struct buf body;
    struct json_object *tree = NULL;
    buf_init(&body, ASK_MAX_BYTES);
    buf_push_literal(&body, "{\"actions\":[");
    for (size_t i = 0; i < count; i++) {
        buf_push_text(&body, i > 0 ? "," : "");
        index_push_action(&body, &actions[i]);
    }
    buf_push_literal(&body, "]}");
    int rc =
        ask(s, "POST", "/_aliases", span_make(body.data, body.len), BODY_ACKNOWLEDGED, &tree, err);
    rc = rc == 0 ? index_check_changed(tree, alias, err) : rc;
    json_object_put(tree);
    buf_release(&body);
    return rc;
}

bool index_swapped_after_all(struct service *s, const char *alias, const char *to)
{
    enum alias_kind kind;
    struct index_info at;
    struct err unseen;
    return index_resolve(s, alias, &kind, &at, &unseen) == 0 && kind == ALIAS_ONE &&
           strcmp(at.name, to) == 0;
}

int index_swap(struct service *s, const char *alias, const char *from, const char *to,
               struct err *err)
{
    const struct index_action actions[] = {{"remove", from, alias, ",\"must_exist\":true"},
                                           {"add", to, alias, ""}};
    size_t skipped = from == NULL;
    int rc = index_change_aliases(s, actions + skipped, 2 - skipped, alias, err);
    return rc != 0 && index_swapped_after_all(s, alias, to) ? 0 : rc;
}

/* An answer with failed shards is incomplete. */
static int index_check_shards(struct json_object *tree, const char *name, struct err *err)
{
    struct json_object *failed =
        json_tree_at(tree, (const char *const[]){"_shards", "failed", NULL});
    int count = json_object_get_int(failed);
    if (count > 0) {
        return err_set(err, ERR_TRANSIENT, "could not reach %d shards of index \"%s\"", count,
                       name);
    }
    return 0;
}

int index_refresh(struct service *s, const char *name, struct err *err)
{
    struct json_object *tree = NULL;
    int rc = ask_of(s, "POST", name, "/_refresh", NO_BODY, BODY_SHARDS, &tree, err);
    if (rc == 0) {
        rc = index_check_shards(tree, name, err);
    }
    json_object_put(tree);
    return rc;
}

int index_count(struct service *s, const char *name, int64_t *count, struct err *err)
{
    struct json_object *tree = NULL;
    *count = 0;
    int rc = ask_of(s, "GET", name, "/_count", NO_BODY, BODY_SHARDS, &tree, err);
    if (rc == 0) {
        rc = index_check_shards(tree, name, err);
    }
    struct json_object *number = json_tree_member(tree, "count");
    if (rc == 0 && !json_object_is_type(number, json_type_int)) {
        rc = err_set(err, ERR_TRANSIENT,
                     "could not read how many documents \"%s\" has: the answer to GET "
                     "/%s/_count has no number",
                     name, name);
    }
    if (rc == 0) {
        *count = json_tree_amount(tree, "count");
    }
    json_object_put(tree);
    return rc;
}

int index_delete(struct service *s, const char *name, const char *pipeline, struct err *err)
{
    bool found = false;
    struct index_info info;
    int rc = index_name_check(name, err);
    if (rc == 0) {
        rc = index_look(s, name, &found, &info, err);
    }
    if (rc != 0 || !found) {
        return rc;
    }
    if (pipeline[0] == '\0' || strcmp(info.pipeline, pipeline) != 0) {
        return err_set(err, ERR_INTERNAL,
                       "refusing to delete index \"%s\": its _meta does not name pipeline \"%s\"",
                       name, pipeline);
    }
    return ask_of(s, "DELETE", name, "", NO_BODY, BODY_ACKNOWLEDGED, NULL, err);
}
