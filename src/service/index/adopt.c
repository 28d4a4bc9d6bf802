/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces an index that has the alias's name: clones it under another name, then removes it. */
#include <stdio.h>
#include <string.h>

#include "http/ask.h"
#include "index/index_private.h"
#include "rowferry/base/failpoint.h"
#include "rowferry/document/json/json_build.h"

#define CLONE_WAIT_MS 10000
#define CLONE_TURNS 6

struct adoption {
    struct service *service;
    const char *alias;
    const char *kept;
    const char *to;
    struct json_object *old; /* description of the index with the alias's name */
    char uuid[64];           /* its uuid */
    bool blocked;            /* this call blocked its writes */
    bool cloned;             /* this call created the clone `kept` */
    bool was_cloned;         /* an earlier call created the clone */
};

static int adopt_put_block(const struct adoption *a, bool on, struct err *err)
{
    const char *body = on ? "{\"index\":{\"blocks\":{\"write\":true}}}"
                          : "{\"index\":{\"blocks\":{\"write\":null}}}";
    return ask_of(a->service, "PUT", a->alias, "/_settings", span_make(body, strlen(body)),
                  BODY_ACKNOWLEDGED, NULL, err);
}

/* Reads the index. Its uuid identifies it, whatever becomes of the name. */
static int adopt_look_at(struct adoption *a, struct index_info *info, struct err *err)
{
    struct json_object *tree = NULL;
    int rc = ask_description(a->service, a->alias, &tree, err);
    struct json_object *found = json_tree_member(tree, a->alias);
    if (rc == 0 && found == NULL) {
        rc = err_set(err, ERR_REJECTED, "\"%s\" is not the name of an index", a->alias);
    }
    if (rc == 0) {
        index_info_read(info, a->alias, found);
        snprintf(a->uuid, sizeof(a->uuid), "%s", info->uuid);
        a->old = json_object_get(found);
    }
    json_object_put(tree);
    return rc;
}

static bool adopt_is_marked(const struct adoption *a, struct json_object *index)
{
    return strcmp(json_tree_text(index_ours_in(index), "kept"), a->uuid) == 0;
}

/* Elasticsearch does not keep the source of a clone, so we recorded it (note_clone). */
static bool adopt_is_clone(const struct adoption *a, struct json_object *index)
{
    struct json_object *source =
        json_tree_at(index, (const char *const[]){"settings", "index", "resize", "source", NULL});
    return strcmp(json_tree_text(source, "uuid"), a->uuid) == 0 || adopt_is_marked(a, index);
}

/* Checks for a clone left by an earlier, interrupted call. It is complete only if writes have been
 * blocked since. */
static int adopt_look_at_clone(struct adoption *a, bool write_blocked, struct err *err)
{
    struct json_object *tree = NULL;
    int rc = ask_description(a->service, a->kept, &tree, err);
    if (rc != 0 || tree == NULL) {
        return rc;
    }
    a->was_cloned = write_blocked && adopt_is_clone(a, json_tree_member(tree, a->kept));
    json_object_put(tree);
    if (a->was_cloned) {
        return 0;
    }
    err_set(err, ERR_REJECTED, "cannot keep index \"%s\" as \"%s\": that name is taken", a->alias,
            a->kept);
    return err_hint(err, "delete \"%s\" if it is not needed, and try again", a->kept);
}

static bool adopt_cannot_keep(const struct err *err)
{
    return err->http_status == 400 || err->http_status == 403 || err->http_status == 405;
}

static int adopt_block(struct adoption *a, struct err *err)
{
    int rc = adopt_put_block(a, true, err);
    a->blocked = rc == 0;
    if (rc == 0 && FAILPOINT("index_blocked")) {
        return err_set(err, ERR_TRANSIENT, "failpoint \"index_blocked\"");
    }
    return rc != 0 && adopt_cannot_keep(err) ? ADOPT_CANNOT_KEEP : rc;
}

/* Elasticsearch does not copy the number of replicas to a clone. */
static void adopt_push_clone(struct buf *out, const struct adoption *a)
{
    static const char *const names[] = {"number_of_replicas", "auto_expand_replicas"};
    struct json_object *old =
        json_tree_at(a->old, (const char *const[]){"settings", "index", NULL});
    buf_push_literal(out, "{\"settings\":{\"index.blocks.write\":null");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = json_tree_text(old, names[i]);
        if (value[0] != '\0') {
            buf_printf(out, ",\"index.%s\":", names[i]);
            text_json(out, value, strlen(value));
        }
    }
    buf_push_literal(out, "}}");
}

static int adopt_clone(struct adoption *a, struct err *err)
{
    struct buf rest;
    struct buf body;
    buf_init(&rest, 3 * INDEX_NAME_MAX_BYTES + 16);
    buf_init(&body, ASK_MAX_BYTES);
    buf_push_literal(&rest, "/_clone/");
    text_percent(&rest, a->kept, strlen(a->kept));
    adopt_push_clone(&body, a);
    int rc = ask_of(a->service, "POST", a->alias, buf_text(&rest), span_make(body.data, body.len),
                    BODY_ACKNOWLEDGED, NULL, err);
    buf_release(&body);
    buf_release(&rest);
    a->cloned = rc == 0;
    if (rc == 0) {
        return 0;
    }
    err_context(err, "cannot keep index \"%s\" as \"%s\"", a->alias, a->kept);
    return adopt_cannot_keep(err) ? ADOPT_CANNOT_KEEP : rc;
}

/* Records the source's uuid in the clone's `_meta`. Only a later call that continues this one reads
 * it. A failure is ignored: without the record, that call is refused. */
static void adopt_note_clone(const struct adoption *a)
{
    struct err unsaid;
    struct json_object *tree = json_build_object();
    struct json_object *meta =
        json_tree_at(a->old, (const char *const[]){"mappings", "_meta", NULL});
    meta = json_tree_is_object(meta) ? json_object_get(meta) : json_build_object();
    struct json_object *note = json_build_object();
    json_build_member(note, "kept", json_build_text(a->uuid));
    json_build_member(meta, "rowferry", note);
    json_build_member(tree, "_meta", meta);
    (void)!ask_put(a->service, a->kept, "/_mapping", tree, &unsaid);
    json_object_put(tree);
}

static int adopt_wait_for_clone(struct adoption *a, struct err *err)
{
    char status[16] = "";
    for (int i = 0; i < CLONE_TURNS; i++) {
        int rc = index_health(a->service, a->kept, "yellow", CLONE_WAIT_MS, status, err);
        if (rc != 0 || strcmp(status, "red") != 0) {
            return rc == INDEX_UNSEEN ? 0 : rc;
        }
    }
    return err_set(err, ERR_TRANSIENT, "could not keep index \"%s\" as \"%s\": its clone is red",
                   a->alias, a->kept);
}

static int adopt_keep(struct adoption *a, bool write_blocked, struct err *err)
{
    int rc = adopt_look_at_clone(a, write_blocked, err);
    if (rc != 0 || a->was_cloned) {
        return rc != 0 ? rc : adopt_wait_for_clone(a, err);
    }
    rc = write_blocked ? 0 : adopt_block(a, err);
    if (rc == 0) {
        rc = adopt_clone(a, err);
    }
    if (rc == 0) {
        adopt_note_clone(a);
    }
    if (rc == 0 && FAILPOINT("index_cloned")) {
        rc = err_set(err, ERR_TRANSIENT, "failpoint \"index_cloned\"");
    }
    return rc == 0 ? adopt_wait_for_clone(a, err) : rc;
}

/* Restores the previous state as far as the service is reachable; reports what could not be
 * undone. */
static void adopt_take_back(const struct adoption *a, struct err *err)
{
    struct index_info at;
    struct err failed = {0};
    bool found = false;
    if (!a->blocked && !a->cloned && !a->was_cloned) {
        return;
    }
    int rc = index_look(a->service, a->alias, &found, &at, &failed);
    if (rc == 0 && (!found || strcmp(at.uuid, a->uuid) != 0)) {
        return; /* another index has the name now */
    }
    if (rc == 0 && a->blocked) {
        rc = adopt_put_block(a, false, &failed);
    }
    if (rc == 0 && a->cloned) {
        rc = ask_of(a->service, "DELETE", a->kept, "", NO_BODY, BODY_ACKNOWLEDGED, NULL, &failed);
    }
    if (a->was_cloned || rc != 0) {
        err_hint(
            err,
            "index \"%s\" may still have index.blocks.write, and its clone \"%s\" may still exist",
            a->alias, a->kept);
    }
}

int adopt_swap_alias(struct service *s, const char *alias, const char *kept, const char *to,
                     bool *kept_it, struct err *err)
{
    struct adoption a = {.service = s, .alias = alias, .kept = kept, .to = to};
    struct index_info info;
    *kept_it = false;
    int rc = index_name_check(alias, err);
    if (rc == 0 && kept != NULL) {
        rc = index_name_check(kept, err);
    }
    if (rc == 0) {
        rc = adopt_look_at(&a, &info, err);
    }
    if (rc == 0 && kept != NULL) {
        rc = adopt_keep(&a, info.write_block != NULL, err);
    }
    if (rc == 0) {
        const struct index_action swap[] = {{"remove_index", alias, NULL, ""},
                                            {"add", to, alias, ""}};
        rc = index_change_aliases(s, swap, 2, alias, err);
        rc = rc != 0 && index_swapped_after_all(s, alias, to) ? 0 : rc;
    }
    if (rc != 0) {
        adopt_take_back(&a, err);
    }
    *kept_it = rc == 0 && (a.cloned || a.was_cloned);
    json_object_put(a.old);
    return rc;
}

/* Removes the clone. A clone found while the index is blocked was made behind our block; any other
 * is ours only if it is marked. */
static int adopt_remove_clone(const struct adoption *a, bool blocked, struct err *err)
{
    struct json_object *tree = NULL;
    int rc = ask_description(a->service, a->kept, &tree, err);
    struct json_object *found = json_tree_member(tree, a->kept);
    bool ours = rc == 0 && found != NULL &&
                (adopt_is_marked(a, found) || (blocked && adopt_is_clone(a, found)));
    json_object_put(tree);
    return ours ? ask_of(a->service, "DELETE", a->kept, "", NO_BODY, BODY_ACKNOWLEDGED, NULL, err)
                : rc;
}

int adopt_undo_alias(struct service *s, const char *alias, const char *kept, struct err *err)
{
    struct adoption a = {.service = s, .alias = alias, .kept = kept};
    struct json_object *tree = NULL;
    int rc = index_name_check(alias, err);
    if (rc == 0) {
        rc = ask_description(s, alias, &tree, err);
    }
    struct json_object *found = json_tree_member(tree, alias);
    if (rc != 0 || found == NULL) {
        json_object_put(tree);
        return rc;
    }
    struct index_info info;
    index_info_read(&info, alias, found);
    snprintf(a.uuid, sizeof(a.uuid), "%s", info.uuid);
    const char *const blocks[] = {"settings", "index", "blocks", NULL};
    bool blocked = strcmp(json_tree_text(json_tree_at(found, blocks), "write"), "true") == 0;
    json_object_put(tree);
    rc = adopt_remove_clone(&a, blocked, err);
    return rc == 0 && blocked ? adopt_put_block(&a, false, err) : rc;
}
