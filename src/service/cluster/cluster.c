/* SPDX-License-Identifier: Apache-2.0 */
/* Reads facts about the cluster; the credential may lack the privilege for any of them. */
#include "rowferry/service/cluster/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/ask.h"
#include "rowferry/base/units.h"
#include "rowferry/service/cluster/storage.h"

#define HEALTH "/_cluster/health"
#define PATH_BYTES 256
#define SHARDS_MOST 1000000000 /* of a cluster; more is no limit */

/* Returns 0 with a null *tree if the service refuses the request. */
static int cluster_ask_if_allowed(struct service *s, const char *path, enum body_use use,
                                  struct json_object **tree, int64_t *date_s, struct err *err)
{
    struct http_answer answer;
    *tree = NULL;
    int rc = http_request(s, "GET", path, NO_BODY, &answer, err);
    if (rc != 0) {
        return rc;
    }
    if (answer.status == 200) {
        rc = body_take(tree, &answer, use, "GET", path, err);
    }
    if (date_s != NULL) {
        *date_s = answer.date_s;
    }
    http_answer_release(&answer);
    return rc;
}

int cluster_clock(struct service *s, int64_t *wall_s, struct err *err)
{
    struct json_object *tree;
    int64_t date_s = 0;
    int rc = cluster_ask_if_allowed(s, "/_cat/health?format=json&h=epoch", BODY_SHORT, &tree,
                                    &date_s, err);
    *wall_s = date_s;
    if (rc == 0 && date_s == 0) {
        *wall_s = strtoll(json_tree_text(json_tree_item(tree, 0), "epoch"), NULL, 10);
    }
    json_object_put(tree);
    return rc;
}

/* Appends the effective value of the setting "GROUP.NAME"; nothing if unknown. Transient values
 * override persistent ones, and both override the default. */
static int cluster_setting(struct service *s, const char *group, const char *name,
                           struct buf *value, struct err *err)
{
    static const char *const places[] = {"transient", "persistent", "defaults"};
    struct json_object *tree;
    char path[PATH_BYTES];
    snprintf(path, sizeof(path), "/_cluster/settings?include_defaults=true&filter_path=*.%s.%s",
             group, name);
    int rc = cluster_ask_if_allowed(s, path, BODY_CLUSTER, &tree, NULL, err);
    for (size_t i = 0; rc == 0 && i < 3 && value->len == 0; i++) {
        const char *const keys[] = {places[i], group, name, NULL};
        struct json_object *found = json_tree_at(tree, keys);
        buf_push_text(value, found != NULL ? json_object_get_string(found) : "");
    }
    json_object_put(tree);
    return rc;
}

int cluster_auto_create(struct service *s, struct buf *value, struct err *err)
{
    return cluster_setting(s, "action", "auto_create_index", value, err);
}

int cluster_request_limit(struct service *s, int64_t *bytes, struct err *err)
{
    struct json_object *tree;
    *bytes = 0;
    int rc = cluster_ask_if_allowed(
        s, "/_nodes/http?filter_path=nodes.*.http.max_content_length_in_bytes", BODY_CLUSTER, &tree,
        NULL, err);
    struct json_members node = json_tree_members(json_tree_member(tree, "nodes"));
    while (json_tree_next(&node)) {
        int64_t here =
            json_tree_amount(json_tree_member(node.value, "http"), "max_content_length_in_bytes");
        *bytes = here > 0 && (*bytes == 0 || here < *bytes) ? here : *bytes;
    }
    json_object_put(tree);
    return rc;
}

/* Matches a name against a pattern; '*' matches any characters. */
static bool cluster_fits(const char *pattern, size_t len, const char *name)
{
    size_t at = 0;
    size_t star = len;
    const char *resume = name;
    while (*name != '\0') {
        if (at < len && pattern[at] == '*') {
            star = at++;
            resume = name;
        } else if (at < len && pattern[at] == *name) {
            at++;
            name++;
        } else if (star < len) {
            at = star + 1;
            name = ++resume;
        } else {
            return false;
        }
    }
    while (at < len && pattern[at] == '*') {
        at++;
    }
    return at == len;
}

bool cluster_creates(const char *value, const char *name)
{
    if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0) {
        return value[0] == 't';
    }
    while (*value != '\0') {
        size_t len = strcspn(value, ",");
        size_t sign = value[0] == '+' || value[0] == '-';
        if (cluster_fits(value + sign, len - sign, name)) {
            return value[0] != '-';
        }
        value += len + (value[len] == ',');
    }
    return false;
}

static bool cluster_template_fits(struct json_object *template, const char *name)
{
    struct json_object *patterns = json_tree_member(template, "index_patterns");
    for (size_t i = 0; i < json_tree_length(patterns); i++) {
        const char *pattern = json_object_get_string(json_tree_item(patterns, i));
        if (pattern != NULL && cluster_fits(pattern, strlen(pattern), name)) {
            return true;
        }
    }
    return false;
}

static void cluster_take_template(struct json_object *list, const char *name,
                                  struct cluster_template *out)
{
    for (size_t i = 0; i < json_tree_length(list); i++) {
        struct json_object *entry = json_tree_item(list, i);
        struct json_object *template = json_tree_member(entry, "index_template");
        int64_t priority = json_tree_amount(template, "priority");
        if (cluster_template_fits(template, name) &&
            (out->name[0] == '\0' || priority > out->priority)) {
            snprintf(out->name, sizeof(out->name), "%s", json_tree_text(entry, "name"));
            out->priority = priority;
            out->stream = json_tree_has(template, "data_stream");
            struct json_members given = json_tree_members(
                json_tree_at(template, (const char *const[]){"template", "aliases", NULL}));
            bool any = json_tree_next(&given);
            snprintf(out->alias, sizeof(out->alias), "%s", any ? given.name : "");
        }
    }
}

int cluster_template(struct service *s, const char *name, struct cluster_template *out,
                     struct err *err)
{
    struct json_object *tree;
    *out = (struct cluster_template){0};
    int rc = cluster_ask_if_allowed(s, "/_index_template", BODY_TEMPLATES, &tree, NULL, err);
    out->known = json_tree_is_list(json_tree_member(tree, "index_templates"));
    if (rc == 0 && tree != NULL) {
        cluster_take_template(json_tree_member(tree, "index_templates"), name, out);
    }
    json_object_put(tree);
    return rc;
}

static int cluster_shards_most(struct service *s, struct cluster_room *out, struct err *err)
{
    struct buf each;
    buf_init(&each, PATH_BYTES);
    int rc = cluster_setting(s, "cluster", "max_shards_per_node", &each, err);
    int64_t most = 0;
    bool known = units_parse_count(buf_text(&each), &most);
    out->most = known && most > 0 && most < SHARDS_MOST ? most * out->data_nodes : 0;
    buf_release(&each);
    return rc;
}

int cluster_room(struct service *s, struct cluster_room *out, struct err *err)
{
    struct json_object *tree;
    *out = (struct cluster_room){.bytes = -1, .shards = -1};
    int rc = cluster_ask_if_allowed(s, HEALTH, BODY_SHORT, &tree, NULL, err);
    out->data_nodes = json_tree_amount(tree, "number_of_data_nodes");
    if (json_tree_has(tree, "active_shards")) {
        out->shards = json_tree_amount(tree, "active_shards");
    }
    json_object_put(tree);
    rc = rc == 0 ? cluster_shards_most(s, out, err) : rc;
    return rc == 0 ? storage_room_of_cluster(s, &out->bytes, err) : rc;
}

int cluster_nodes(struct service *s, int *out, struct err *err)
{
    struct json_object *tree;
    int rc = cluster_ask_if_allowed(s, HEALTH, BODY_SHORT, &tree, NULL, err);
    *out = json_object_get_int(json_tree_member(tree, "number_of_data_nodes"));
    json_object_put(tree);
    return rc;
}
