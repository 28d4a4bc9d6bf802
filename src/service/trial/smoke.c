/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of the smoke test. */
#include "rowferry/service/trial/smoke.h"

#include <stdio.h>
#include <string.h>

#include "http/ask.h"
#include "rowferry/base/clock.h"
#include "rowferry/service/index/index.h"

enum smoke_step { STEP_CREATE, STEP_INDEX, STEP_SEARCH, STEP_REMOVE, STEP_LOOK };

/* Answer and required privileges per step: index privileges of Elasticsearch, action names of
 * OpenSearch. */
static const struct {
    enum body_use answer;
    const char *elasticsearch;
    const char *opensearch;
} steps[] = {
    [STEP_CREATE] = {BODY_ACKNOWLEDGED, "create_index", "indices:admin/create"},
    [STEP_INDEX] = {BODY_WRITTEN, "create_doc",
                    "indices:data/write/index and indices:data/write/bulk*"},
    [STEP_SEARCH] = {BODY_HITS, "read", "indices:data/read/search"},
    [STEP_REMOVE] = {BODY_ACKNOWLEDGED, "delete_index", "indices:admin/delete"},
    [STEP_LOOK] = {BODY_INDEX, "view_index_metadata", "indices:admin/get"},
};

/* Adds a hint to a 403 about privileges. Index blocks also cause a 403, but have their own hint. */
static void smoke_name_privilege(const struct smoke *t, enum smoke_step step, struct err *err)
{
    if (err->http_status != 403 || strcmp(err->service_type, "security_exception") != 0) {
        return;
    }
    const char *wanted = steps[step].elasticsearch;
    if (t->product == PRODUCT_OPENSEARCH) {
        wanted = steps[step].opensearch;
    } else if (step == STEP_INDEX && t->implicit) {
        wanted = "auto_configure and create_doc";
    }
    err_hint(err,
             "the account lacks the index privilege %s on \"%s\": grant it, or a role that has it",
             wanted, t->index);
}

/* Sends a request to "/<index><rest>". If the status is 200 or 201, *tree is the answer, owned by
 * the caller. */
static int smoke_step(struct service *s, const struct smoke *t, enum smoke_step which,
                      const char *method, const char *rest, struct span body,
                      struct json_object **tree, struct err *err)
{
    int rc = ask_of(s, method, t->index, rest, body, steps[which].answer, tree, err);
    if (rc < 0) {
        smoke_name_privilege(t, which, err);
    }
    return rc;
}

/* --- the index -------------------------------------------------------------------------------- */

static int smoke_refuse_taken(const struct smoke *t, struct err *err)
{
    err_set(err, ERR_REJECTED, "the name \"%s\" is taken", t->index);
    return err_hint(err, "the smoke test creates and removes its own index: name one that does not "
                         "exist with --index, or omit the option");
}

static int smoke_expect_free(struct service *s, struct smoke *t, struct err *err)
{
    struct index_info info;
    enum alias_kind kind;
    int rc = index_resolve(s, t->index, &kind, &info, err);
    if (rc < 0) {
        smoke_name_privilege(t, STEP_LOOK, err);
    }
    return rc == 0 && kind != ALIAS_ABSENT ? smoke_refuse_taken(t, err) : rc;
}

static void smoke_push_creation(struct buf *body, const struct smoke *t)
{
    buf_printf(body,
               "{\"settings\":{\"number_of_shards\":1,\"number_of_replicas\":0},"
               "\"mappings\":{\"_meta\":{\"rowferry\":{\"smoke\":\"%s\"}},\"properties\":{"
               "\"@timestamp\":{\"type\":\"date\"},\"message\":{\"type\":\"text\"},"
               "\"environment\":{\"type\":\"keyword\"}}}}",
               t->token);
}

/* Recognises that an index or alias of the name exists, in both products. */
static bool smoke_reports_taken(const struct err *err)
{
    return err->http_status == 400 && (strcmp(err->service_type, SERVICE_EXISTS) == 0 ||
                                       err->service_reason == SERVICE_REASON_NAME_TAKEN);
}

int smoke_create(struct service *s, struct smoke *t, struct err *err)
{
    struct json_object *tree = NULL;
    struct buf body;
    int rc = index_name_check(t->index, err);
    if (rc < 0 || t->implicit) {
        return rc < 0 ? rc : smoke_expect_free(s, t, err);
    }
    buf_init(&body, ASK_MAX_BYTES);
    smoke_push_creation(&body, t);
    t->state = SMOKE_UNSURE;
    rc = smoke_step(s, t, STEP_CREATE, "PUT", "", span_make(body.data, body.len), &tree, err);
    if (rc == 0) {
        t->state = SMOKE_PRESENT;
    } else if (rc != ERR_TRANSIENT) {
        t->state = SMOKE_ABSENT;
        rc = smoke_reports_taken(err) ? smoke_refuse_taken(t, err) : rc;
    }
    json_object_put(tree);
    buf_release(&body);
    return rc;
}

/* --- the document ----------------------------------------------------------------------------- */

static int smoke_read_indexed(struct smoke *t, struct json_object *tree, struct err *err)
{
    const char *result = json_tree_text(tree, "result");
    t->updated = strcmp(result, "updated") == 0;
    snprintf(t->id, sizeof(t->id), "%s", json_tree_text(tree, "_id"));
    if ((!t->updated && strcmp(result, "created") != 0) || t->id[0] == '\0') {
        return err_set(err, ERR_REJECTED,
                       "POST /%s/_doc: the service answered \"%s\", not \"created\" or \"updated\"",
                       t->index, result);
    }
    return 0;
}

int smoke_index(struct service *s, struct smoke *t, int64_t wall_us, struct err *err)
{
    struct json_object *tree = NULL;
    struct buf body;
    char at[CLOCK_ISO_BYTES];
    buf_init(&body, ASK_MAX_BYTES);
    buf_printf(
        &body,
        "{\"@timestamp\":\"%s\",\"message\":\"rowferry smoke test %s\",\"environment\":\"smoke\"}",
        clock_iso(at, wall_us, 3), t->token);
    t->state = t->state == SMOKE_ABSENT ? SMOKE_UNSURE : t->state;
    int rc = smoke_step(s, t, STEP_INDEX, "POST", "/_doc?refresh=wait_for",
                        span_make(body.data, body.len), &tree, err);
    if (rc == 0) {
        t->state = SMOKE_PRESENT;
        rc = smoke_read_indexed(t, tree, err);
    } else if (rc != ERR_TRANSIENT && t->implicit) {
        t->state = err->http_status == 403 || err->http_status == 404 ? SMOKE_ABSENT : SMOKE_UNSURE;
    }
    json_object_put(tree);
    buf_release(&body);
    return rc;
}

/* Only this document contains the token. That suffices if its id was lost with the answer. */
static bool smoke_among_hits(const struct smoke *t, struct json_object *tree)
{
    static const char *const path[] = {"hits", "hits", NULL};
    struct json_object *hits = json_tree_at(tree, path);
    for (size_t i = 0; i < json_tree_length(hits); i++) {
        if (t->id[0] == '\0' ||
            strcmp(json_tree_text(json_tree_item(hits, i), "_id"), t->id) == 0) {
            return true;
        }
    }
    return false;
}

int smoke_search(struct service *s, const struct smoke *t, struct err *err)
{
    struct json_object *tree = NULL;
    char rest[sizeof("/_search?q=message:") + SMOKE_TOKEN_BYTES];
    snprintf(rest, sizeof(rest), "/_search?q=message:%s", t->token);
    int rc = smoke_step(s, t, STEP_SEARCH, "GET", rest, NO_BODY, &tree, err);
    if (rc == 0 && !smoke_among_hits(t, tree)) {
        rc = err_set(err, ERR_REJECTED,
                     "GET /%s%s does not find the document \"%s\" that was indexed with "
                     "refresh=wait_for",
                     t->index, rest, t->id);
    }
    json_object_put(tree);
    return rc;
}

/* --- removing --------------------------------------------------------------------------------- */

/* Reports whether an index with the name exists, and whether this trial created it. */
static int smoke_is_ours(struct service *s, const struct smoke *t, bool *there, bool *ours,
                         struct err *err)
{
    struct json_object *tree = NULL;
    *there = *ours = false;
    int rc = ask_description(s, t->index, &tree, err);
    if (rc < 0 || tree == NULL) {
        return rc;
    }
    const char *const path[] = {t->index, "mappings", "_meta", "rowferry", NULL};
    *there = true;
    *ours = strcmp(json_tree_text(json_tree_at(tree, path), "smoke"), t->token) == 0;
    json_object_put(tree);
    return 0;
}

/* An implicitly created index must hold only our document. */
static int smoke_holds_ours_alone(struct service *s, const struct smoke *t, bool *there, bool *ours,
                                  struct err *err)
{
    int64_t count = 0;
    *there = true;
    *ours = false;
    int rc = index_refresh(s, t->index, err);
    if (rc < 0 && err->http_status == 403) {
        rc = 0; /* the document already waited for its own refresh */
    }
    if (rc == 0) {
        rc = index_count(s, t->index, &count, err);
    }
    if (rc < 0) {
        *there = err->http_status != 404;
        return *there ? rc : 0;
    }
    if (count == 1) {
        rc = smoke_search(s, t, err);
        *ours = rc == 0;
        return rc == ERR_REJECTED ? 0 : rc;
    }
    return 0;
}

static int smoke_look_before(struct service *s, const struct smoke *t, bool *there, bool *ours,
                             struct err *err)
{
    if (t->implicit) {
        return smoke_holds_ours_alone(s, t, there, ours, err);
    }
    if (t->state == SMOKE_PRESENT) {
        *there = *ours = true;
        return 0;
    }
    return smoke_is_ours(s, t, there, ours, err);
}

int smoke_remove(struct service *s, struct smoke *t, struct err *err)
{
    struct json_object *tree = NULL;
    bool there = false;
    bool ours = false;
    if (t->state == SMOKE_ABSENT) {
        return 0;
    }
    int rc = smoke_look_before(s, t, &there, &ours, err);
    if (rc == 0 && there && !ours) {
        err_set(
            err, ERR_REJECTED,
            "index \"%s\" has documents that the smoke test did not write, so it was not removed",
            t->index);
        return err_hint(err, "look at its documents, and delete it yourself if it is not needed");
    }
    if (rc == 0 && there) {
        rc = smoke_step(s, t, STEP_REMOVE, "DELETE", "", NO_BODY, &tree, err);
        rc = rc < 0 && err->http_status == 404 ? 0 : rc;
        json_object_put(tree);
    }
    if (rc == 0) {
        t->state = SMOKE_ABSENT;
    }
    return rc;
}
