/* SPDX-License-Identifier: Apache-2.0 */
/* POST /{index}/_clone/{target}: copies a write-blocked index with its documents. */
#include "api/condition.h"
#include "api/server.h"
#include "api/write.h"
#include "base/tree.h"

#include <stdlib.h>

/* Returns true if a clone takes over this setting. Some are individual, others are not copied by
 * Elasticsearch. */
static bool goes_over(const struct server *s, const char *setting)
{
    static const char *const own[] = {"index.uuid", "index.creation_date", "index.provided_name",
                                      "index.version.created", CLOSED_SETTING};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (strcmp(own[i], setting) == 0) {
            return false;
        }
    }
    if (strncmp(setting, "index.resize.", 13) == 0) {
        return false;
    }
    return s->options->product == OPENSEARCH ||
           (strcmp(setting, "index.number_of_replicas") != 0 &&
            strcmp(setting, "index.auto_expand_replicas") != 0);
}

/* Builds the creation body from the source's settings and mapping. */
static struct json_object *creation(const struct server *s, const struct index *from)
{
    struct json_object *body = json_object_new_object();
    struct json_object *settings = json_object_new_object();
    for (size_t i = 0; i < from->settings.count; i++) {
        const struct setting *one = &from->settings.list[i];
        if (goes_over(s, one->name)) {
            json_object_object_add(settings, one->name, json_object_new_string(one->value));
        }
    }
    json_object_object_add(body, "settings", settings);
    json_object_object_add(body, "mappings", json_object_get(from->mapping.json));
    return body;
}

static int check_body(struct json_object *body, struct refusal *refusal)
{
    tree_foreach(body, key, value)
    {
        (void)value;
        if (strcmp(key, "aliases") == 0) {
            return refuse_unknown(refusal, "aliases of a clone");
        }
        if (strcmp(key, "settings") != 0) {
            return refuse(refusal, 400, "x_content_parse_exception",
                          "[1:2] [resize_request] unknown field [%s]", key);
        }
    }
    return 0;
}

static int check_source(const struct server *s, const struct index *from, struct refusal *refusal)
{
    const char *block = settings_get(&from->settings, "index.blocks.write");
    bool opensearch = s->options->product == OPENSEARCH;
    if (opensearch && index_check_open(from, refusal) != 0) {
        return -1;
    }
    if (index_is_closed(from) || (block != NULL && strcmp(block, "true") == 0)) {
        return 0;
    }
    return refuse(refusal, 500, "illegal_state_exception",
                  "index %s must %s to resize index. use \"index.blocks.write=true\"", from->name,
                  opensearch ? "block write operations" : "be read-only");
}

static int fill(struct server *s, struct index *from, struct index *to, struct json_object *body,
                struct refusal *refusal)
{
    struct json_object *settings;
    if (json_object_object_get_ex(body, "settings", &settings) &&
        settings_apply(&to->settings, settings, true, to->name, refusal) != 0) {
        return -1;
    }
    if (s->options->product ==
        OPENSEARCH) { /* Elasticsearch drops these settings when the clone is complete */
        settings_put(&to->settings, "index.resize.source.name", from->name);
        settings_put(&to->settings, "index.resize.source.uuid", from->uuid);
    }
    if (catalogue_save(&s->catalogue, to, refusal) != 0 ||
        write_copies(s, from, to, refusal) != 0) {
        return -1;
    }
    return index_refresh(s, to, refusal);
}

HANDLER(clone_index)
{
    struct json_object *given =
        q->body.len > 0 ? request_json(q, refusal) : json_object_new_object();
    struct index *from = catalogue_find(&s->catalogue, q->segments[0]);
    struct index *to = NULL;
    int rc = given != NULL ? 0 : -1;
    if (rc == 0 && from == NULL) {
        rc = refuse_no_index(refusal, q->segments[0], "index_or_alias");
    }
    if (rc != 0 || from == NULL || check_body(given, refusal) != 0 ||
        name_check(q->segments[2], false, refusal) != 0 || check_source(s, from, refusal) != 0) {
        json_object_put(given);
        return -1;
    }
    struct json_object *body = creation(s, from);
    to = catalogue_create(&s->catalogue, q->segments[2], body, refusal);
    json_object_put(body);
    rc = to != NULL ? fill(s, from, to, given, refusal) : -1;
    json_object_put(given);
    if (rc != 0 && to != NULL) {
        struct refusal ignored;
        refusal_init(&ignored);
        catalogue_delete(&s->catalogue, to, &ignored);
        refusal_release(&ignored);
    }
    buf_push_literal(&a->body, "{\"acknowledged\":true,\"shards_acknowledged\":true,\"index\":");
    push_json_text(&a->body, q->segments[2]);
    buf_push_char(&a->body, '}');
    return rc;
}
