/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to the cluster, each of which may be forbidden. */
#include "rowferry/service/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "rowferry/service/storage.h"

/* 0 with *tree null where the service will not say. */
static int ask_if_allowed(struct service *s, const char *path, struct json_object **tree,
                          int64_t *date_s, struct err *err)
{
    struct http_answer answer;
    *tree = NULL;
    int rc = http_request(s, "GET", path, NO_BODY, &answer, err);
    if (rc != 0) {
        return rc;
    }
    if (answer.status == 200) {
        *tree = body_parse(&answer.body);
    }
    if (date_s != NULL) {
        *date_s = answer.date_s;
    }
    http_answer_release(&answer);
    return 0;
}

int cluster_clock(struct service *s, int64_t *wall_s, struct err *err)
{
    struct json_object *tree;
    int64_t date_s = 0;
    int rc = ask_if_allowed(s, "/_cat/health?format=json&h=epoch", &tree, &date_s, err);
    *wall_s = date_s;
    if (rc == 0 && date_s == 0 && json_object_is_type(tree, json_type_array)) {
        const char *epoch = body_text(json_object_array_get_idx(tree, 0), "epoch");
        *wall_s = strtoll(epoch, NULL, 10);
    }
    json_object_put(tree);
    return rc;
}

int cluster_auto_create(struct service *s, struct buf *value, struct err *err)
{
    static const char *const places[] = {"transient", "persistent", "defaults"};
    struct json_object *tree;
    int rc = ask_if_allowed(s,
                            "/_cluster/settings?include_defaults=true&"
                            "filter_path=*.action.auto_create_index",
                            &tree, NULL, err);
    for (size_t i = 0; rc == 0 && i < 3 && value->len == 0; i++) {
        const char *const keys[] = {places[i], "action", "auto_create_index", NULL};
        struct json_object *found = body_member(tree, keys);
        buf_push_text(value, found != NULL ? json_object_get_string(found) : "");
    }
    json_object_put(tree);
    return rc;
}

/* '*' stands for any characters. */
static bool fits(const char *pattern, size_t len, const char *name)
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
        if (fits(value + sign, len - sign, name)) {
            return value[0] != '-';
        }
        value += len + (value[len] == ',');
    }
    return false;
}

static bool template_fits(struct json_object *template, const char *name)
{
    static const char *const keys[] = {"index_patterns", NULL};
    struct json_object *patterns = body_member(template, keys);
    for (size_t i = 0;
         json_object_is_type(patterns, json_type_array) && i < json_object_array_length(patterns);
         i++) {
        const char *pattern = json_object_get_string(json_object_array_get_idx(patterns, i));
        if (pattern != NULL && fits(pattern, strlen(pattern), name)) {
            return true;
        }
    }
    return false;
}

static void take_template(struct json_object *list, const char *name, struct cluster_template *out)
{
    for (size_t i = 0;
         json_object_is_type(list, json_type_array) && i < json_object_array_length(list); i++) {
        struct json_object *entry = json_object_array_get_idx(list, i);
        const char *const keys[] = {"index_template", NULL};
        struct json_object *template = body_member(entry, keys);
        int64_t priority = json_object_get_int64(json_object_object_get(template, "priority"));
        if (template_fits(template, name) && (out->name[0] == '\0' || priority > out->priority)) {
            snprintf(out->name, sizeof(out->name), "%s", body_text(entry, "name"));
            out->priority = priority;
            out->stream = json_object_object_get(template, "data_stream") != NULL;
        }
    }
}

int cluster_template(struct service *s, const char *name, struct cluster_template *out,
                     struct err *err)
{
    static const char *const keys[] = {"index_templates", NULL};
    struct json_object *tree;
    *out = (struct cluster_template){0};
    int rc = ask_if_allowed(s, "/_index_template", &tree, NULL, err);
    out->known = tree != NULL;
    if (rc == 0 && tree != NULL) {
        take_template(body_member(tree, keys), name, out);
    }
    json_object_put(tree);
    return rc;
}

int cluster_room(struct service *s, struct cluster_room *out, struct err *err)
{
    static const char *const nodes[] = {"number_of_data_nodes", NULL};
    static const char *const shards[] = {"active_shards", NULL};
    struct json_object *tree;
    *out = (struct cluster_room){.bytes = -1, .shards = -1};
    int rc = ask_if_allowed(s, "/_cluster/health", &tree, NULL, err);
    if (rc == 0 && tree != NULL) {
        out->data_nodes = json_object_get_int64(body_member(tree, nodes));
        struct json_object *active = body_member(tree, shards);
        out->shards = active != NULL ? json_object_get_int64(active) : -1;
    }
    json_object_put(tree);
    return rc == 0 ? storage_room_of_cluster(s, &out->bytes, err) : rc;
}
