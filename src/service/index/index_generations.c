/* SPDX-License-Identifier: Apache-2.0 */
/* Generations of an alias: listing, waiting until one is ready, and the position left in
 * `_meta`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/ask.h"
#include "http/wire.h"
#include "index/index_private.h"

#include "rowferry/document/json/json_build.h"

#define READY_MAX_MS 2000
#define NUMBER_MAX_DIGITS 18
#define WANTED                                                                                     \
    "*.mappings._meta.rowferry,*.settings.index.uuid,*.settings.index.blocks,"                     \
    "*.settings.index.verified_before_close"

bool index_name_of_alias(const char *name, const char *alias, int64_t *number)
{
    size_t len = strlen(alias);
    if (strncmp(name, alias, len) != 0 || name[len] != '-') {
        return false;
    }
    const char *day = name + len + 1;
    if (strspn(day, "0123456789") != 8 || day[8] != '-') {
        return false;
    }
    const char *digits = day + 9;
    size_t count = strspn(digits, "0123456789");
    if (count == 0 || count > NUMBER_MAX_DIGITS || digits[count] != '\0') {
        return false;
    }
    *number = strtoll(digits, NULL, 10);
    return true;
}

/* All names have the same alias as prefix. */
static int index_generations_by_age(const void *a, const void *b)
{
    const struct index_info *x = a;
    const struct index_info *y = b;
    size_t alias = strlen(x->name);
    for (int dashes = 0; alias > 0 && dashes < 2; dashes += x->name[alias] == '-') {
        alias--;
    }
    int day = strncmp(x->name + alias, y->name + alias, sizeof("-yyyymmdd") - 1);
    return day != 0 ? day : (x->number > y->number) - (x->number < y->number);
}

static size_t index_generations_take_ours(struct json_object *tree, const char *alias,
                                          const char *pipeline, struct index_info *found)
{
    size_t count = 0;
    for (struct json_members index = json_tree_members(tree); json_tree_next(&index);) {
        int64_t number;
        if (!index_name_of_alias(index.name, alias, &number)) {
            continue;
        }
        index_info_read(&found[count], index.name, index.value);
        found[count].number = number;
        count += strcmp(found[count].pipeline, pipeline) == 0;
    }
    return count;
}

/* Days begin with a 2. A wider pattern could match an index that the credential may not see, and
 * OpenSearch would then refuse the whole request with 403. */
int index_list(struct service *s, const char *alias, const char *pipeline, struct index_info *out,
               size_t max, size_t *count, struct err *err)
{
    struct json_object *tree = NULL;
    *count = 0;
    int rc = index_name_check(alias, err);
    if (rc == 0) {
        rc = ask_of(s, "GET", alias, "-2*?expand_wildcards=all&filter_path=" WANTED, NO_BODY,
                    BODY_CLUSTER, &tree, err);
    }
    if (rc != 0) {
        return rc;
    }
    size_t all = json_tree_count(tree);
    struct index_info *found = mem_zero(all + 1, sizeof(*found));
    all = pipeline[0] != '\0' ? index_generations_take_ours(tree, alias, pipeline, found) : 0;
    qsort(found, all, sizeof(*found), index_generations_by_age);
    *count = all < max ? all : max;
    memcpy(out, found + (all - *count), *count * sizeof(*found));
    free(found);
    json_object_put(tree);
    return 0;
}

/* --- ready ------------------------------------------------------------------------------------ */

/* Reads the health status. Its answer is 408 if the time has expired. */
static int index_generations_read_health(const struct http_answer *answer, const char *path,
                                         char status[16], struct err *err)
{
    struct json_object *tree = NULL;
    if (answer->status == 403) {
        return INDEX_UNSEEN;
    }
    if (answer->status != 200 && answer->status != 408) {
        return http_refuse(answer, "GET", path, err);
    }
    int rc = body_expect(&tree, answer, BODY_SHORT, "GET", path, err);
    if (rc == 0 && json_tree_text(tree, "status")[0] == '\0') {
        rc = http_refuse(answer, "GET", path, err); /* a 408 from an intermediary */
    }
    if (rc == 0) {
        snprintf(status, 16, "%s", json_tree_text(tree, "status"));
    }
    json_object_put(tree);
    return rc;
}

int index_health(struct service *s, const char *name, const char *wanted, int64_t timeout_ms,
                 char status[16], struct err *err)
{
    struct buf path;
    struct http_answer answer;
    int64_t most_ms = s->options.request_timeout_ms / 2;
    ask_path(&path, "_cluster", "/health/");
    text_percent(&path, name, strlen(name));
    buf_printf(&path, "?wait_for_status=%s&timeout=%lldms", wanted,
               (long long)(timeout_ms < most_ms ? timeout_ms : most_ms));
    int rc = http_request(s, "GET", buf_text(&path), NO_BODY, &answer, err);
    if (rc == 0) {
        rc = index_generations_read_health(&answer, buf_text(&path), status, err);
        http_answer_release(&answer);
    }
    buf_release(&path);
    return rc;
}

int index_ready(struct service *s, const char *name, int64_t timeout_ms, bool *green,
                struct err *err)
{
    char status[16] = "";
    int64_t wait_ms = timeout_ms < 0 ? 0 : timeout_ms;
    *green = false;
    int rc = index_health(s, name, "green", wait_ms < READY_MAX_MS ? wait_ms : READY_MAX_MS, status,
                          err);
    if (rc < 0) {
        return rc;
    }
    *green = rc == INDEX_UNSEEN || strcmp(status, "green") == 0;
    if (strcmp(status, "red") == 0) {
        err_set(err, ERR_TRANSIENT, "index \"%s\" is red: one or more primary shards are missing",
                name);
        return err_hint(err, "GET _cluster/allocation/explain shows why a shard is not assigned");
    }
    return rc;
}

/* --- position in _meta ----------------------------------------------------------------------- */

/* Reads `_meta` of a concrete index. The caller owns *meta, which is null if there is no such
 * index. */
static int index_generations_read_meta(struct service *s, const char *name,
                                       struct json_object **meta, struct err *err)
{
    struct json_object *tree = NULL;
    *meta = NULL;
    int rc = ask_description(s, name, &tree, err);
    if (rc == 0 && json_tree_member(tree, name) != NULL) {
        struct json_object *found =
            json_tree_at(tree, (const char *const[]){name, "mappings", "_meta", NULL});
        *meta = json_tree_is_object(found) ? json_object_get(found) : json_build_object();
    }
    json_object_put(tree);
    return rc;
}

static struct json_object *index_generations_ours_in(struct json_object *meta)
{
    return json_tree_member(meta, "rowferry");
}

/* Reads `_meta` for a change. Its `rowferry` part must name the pipeline (null: any pipeline). */
static int index_generations_meta_to_change(struct service *s, const char *name,
                                            const char *pipeline, struct json_object **meta,
                                            struct err *err)
{
    int rc = index_name_check(name, err);
    *meta = NULL;
    if (rc == 0) {
        rc = index_generations_read_meta(s, name, meta, err);
    }
    if (rc == 0 && *meta == NULL) {
        rc = err_set(err, ERR_REJECTED, "there is no index \"%s\"", name);
    }
    if (rc != 0) {
        return rc;
    }
    const char *owner = json_tree_text(index_generations_ours_in(*meta), "pipeline");
    if (owner[0] == '\0' || (pipeline != NULL && strcmp(owner, pipeline) != 0)) {
        json_object_put(*meta);
        *meta = NULL;
        return err_set(
            err, ERR_INTERNAL, "refusing to change index \"%s\": its _meta does not name %s%s",
            name, pipeline != NULL ? "pipeline " : "a pipeline", pipeline != NULL ? pipeline : "");
    }
    return 0;
}

/* PUT replaces `_meta` as a whole, so the whole is sent. */
static int index_generations_put_mapping(struct service *s, const char *name,
                                         struct json_object *meta, const char *properties,
                                         struct err *err)
{
    struct buf body;
    buf_init(&body, ASK_MAX_BYTES);
    buf_push_literal(&body, "{\"_meta\":");
    buf_push_text(&body, json_build_string(meta, ASK_PLAIN));
    if (properties != NULL) {
        buf_push_literal(&body, ",\"properties\":");
        buf_push_text(&body, properties);
    }
    buf_push_char(&body, '}');
    int rc = body.failed ? err_set(err, ERR_REJECTED, "cannot send a mapping of over %zu bytes",
                                   ASK_MAX_BYTES)
                         : ask_of(s, "PUT", name, "/_mapping", span_make(body.data, body.len),
                                  BODY_ACKNOWLEDGED, NULL, err);
    buf_release(&body);
    return rc;
}

int index_leave(struct service *s, const char *name, const char *pipeline, const char *position,
                int64_t clock, struct err *err)
{
    struct json_object *meta;
    int rc = index_generations_meta_to_change(s, name, pipeline, &meta, err);
    if (rc != 0) {
        return rc;
    }
    struct json_object *left = json_build_object();
    json_build_member(left, "position", json_build_text(position));
    json_build_member(left, "clock", json_build_number(clock));
    json_build_member(index_generations_ours_in(meta), "left", left);
    rc = index_generations_put_mapping(s, name, meta, NULL, err);
    json_object_put(meta);
    return rc;
}

int index_left(struct service *s, const char *name, struct buf *position, int64_t *clock,
               bool *found, struct err *err)
{
    struct json_object *meta;
    *found = false;
    *clock = 0;
    int rc = index_generations_read_meta(s, name, &meta, err);
    if (rc != 0) {
        return rc;
    }
    struct json_object *left = json_tree_member(index_generations_ours_in(meta), "left");
    struct json_object *at = json_tree_member(left, "position");
    struct json_object *tick = json_tree_member(left, "clock");
    if (json_object_is_type(at, json_type_string) && json_object_is_type(tick, json_type_int)) {
        buf_push_text(position, json_object_get_string(at));
        *clock = json_object_get_int64(tick);
        *found = true;
    }
    json_object_put(meta);
    return 0;
}

/* --- mapping ---------------------------------------------------------------------------------- */

int index_mapping(struct service *s, const char *name, struct buf *json, struct err *err)
{
    struct json_object *tree = NULL;
    int rc = ask_of(s, "GET", name, "/_mapping", NO_BODY, BODY_MAPPING, &tree, err);
    if (rc != 0) {
        return rc;
    }
    struct json_object *mappings =
        json_tree_at(tree, (const char *const[]){name, "mappings", NULL});
    if (mappings == NULL) {
        rc = err_set(err, ERR_REJECTED, "\"%s\" is not the name of an index", name);
    } else {
        buf_push_text(json, json_build_string(mappings, ASK_PLAIN));
    }
    json_object_put(tree);
    return rc;
}

static int index_generations_merge(struct json_object *ours, const char *text, struct err *err)
{
    struct json_object *given = json_tree_of(text);
    if (!json_tree_is_object(given)) {
        json_object_put(given);
        return err_set(err, ERR_INTERNAL,
                       "cannot change _meta: its new members are not a JSON object");
    }
    for (struct json_members m = json_tree_members(given); json_tree_next(&m);) {
        json_build_member(ours, m.name, json_object_get(m.value));
    }
    json_object_put(given);
    return 0;
}

int index_extend(struct service *s, const char *name, const char *properties, const char *meta,
                 struct err *err)
{
    struct json_object *whole;
    int rc = index_generations_meta_to_change(s, name, NULL, &whole, err);
    if (rc == 0 && meta != NULL) {
        rc = index_generations_merge(index_generations_ours_in(whole), meta, err);
    }
    if (rc == 0) {
        rc = index_generations_put_mapping(s, name, whole, properties, err);
    }
    json_object_put(whole);
    return rc;
}
