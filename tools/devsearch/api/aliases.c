/* SPDX-License-Identifier: Apache-2.0 */
/* POST /_aliases: checks all actions first, then applies all of them. */
#include "api/condition.h"
#include "api/server.h"
#include "base/limits.h"
#include "base/tree.h"

#include <stdlib.h>

enum action_kind { ACTION_ADD, ACTION_REMOVE, ACTION_REMOVE_INDEX };

struct action {
    enum action_kind kind;
    struct index *index;
    const char *alias; /* borrowed from the body */
    int write;
    bool must_exist;
};

static int bad_actions(struct refusal *refusal, const char *type, const char *reason)
{
    refuse(refusal, 400, "x_content_parse_exception",
           "[1:1] [aliases] failed to parse field [actions]");
    refusal_cause(refusal, type, "%s", reason);
    return -1;
}

static int parse_members(struct action *act, struct json_object *body, const char **index,
                         struct refusal *refusal)
{
    act->write = -1;
    *index = NULL;
    tree_foreach(body, key, value)
    {
        if (strcmp(key, "index") == 0) {
            *index = tree_text(value);
        } else if (strcmp(key, "alias") == 0) {
            act->alias = tree_text(value);
        } else if (strcmp(key, "is_write_index") == 0) {
            act->write = json_object_get_boolean(value);
        } else if (strcmp(key, "must_exist") == 0) {
            act->must_exist = json_object_get_boolean(value);
        } else {
            return refuse_unknown(refusal, "[%s] of an alias action", key);
        }
    }
    if (act->alias == NULL && act->kind != ACTION_REMOVE_INDEX) {
        return bad_actions(refusal, "illegal_argument_exception",
                           "One of [alias] or [aliases] is required");
    }
    return *index != NULL ? 0
                          : bad_actions(refusal, "illegal_argument_exception",
                                        "One of [index] or [indices] is required");
}

static int check_add(const struct server *s, const struct action *act, struct refusal *refusal)
{
    const struct index *taken = catalogue_find(&s->catalogue, act->alias);
    if (act->kind != ACTION_ADD) {
        return 0;
    }
    if (name_check(act->alias, true, refusal) != 0) {
        return -1;
    }
    return taken == NULL ? 0 : 1;
}

static int parse_action(struct server *s, struct json_object *json, struct action *act,
                        struct refusal *refusal)
{
    static const char *const names[] = {"add", "remove", "remove_index"};
    const char *index;
    *act = (struct action){0};
    tree_foreach(json, kind, body)
    {
        size_t i = 0;
        while (i < 3 && strcmp(names[i], kind) != 0) {
            i++;
        }
        if (i == 3) {
            struct buf text;
            buf_init(&text, 4096);
            buf_printf(&text, "[1:14] [alias_action] unknown field [%s]", kind);
            bad_actions(refusal, "x_content_parse_exception", buf_text(&text));
            refusal_root_is_cause(refusal);
            buf_release(&text);
            return -1;
        }
        act->kind = (enum action_kind)i;
        if (parse_members(act, body, &index, refusal) != 0) {
            return -1;
        }
        act->index = catalogue_find(&s->catalogue, index);
        if (act->index == NULL && catalogue_has_alias(&s->catalogue, index)) {
            return refuse(
                refusal, 400, "illegal_argument_exception",
                "The provided expression [%s] matches an alias, specify the corresponding "
                "concrete indices instead.",
                index);
        }
        if (act->index == NULL) {
            return refuse_no_index(refusal, index, "index_or_alias");
        }
        return index_check_changeable(act->index, refusal);
    }
    return bad_actions(refusal, "illegal_argument_exception", "an empty action");
}

static bool removed_earlier(const struct action *list, size_t n, const struct index *ix)
{
    for (size_t i = 0; i < n; i++) {
        if (list[i].kind == ACTION_REMOVE_INDEX && list[i].index == ix) {
            return true;
        }
    }
    return false;
}

static int check_names(struct server *s, const struct action *list, size_t n,
                       struct refusal *refusal)
{
    for (size_t i = 0; i < n; i++) {
        if (list[i].kind != ACTION_ADD) {
            continue;
        }
        int taken = check_add(s, &list[i], refusal);
        const struct index *ix = catalogue_find(&s->catalogue, list[i].alias);
        if (taken < 0) {
            return -1;
        }
        if (taken > 0 && !removed_earlier(list, n, ix)) {
            refuse(refusal, 400, "invalid_alias_name_exception",
                   "Invalid alias name [%s], an index exists with the same name as the alias",
                   list[i].alias);
            refusal_member(refusal, "index", ix->name);
            refusal_member(refusal, "index_uuid", ix->uuid);
            return -1;
        }
    }
    return 0;
}

static bool pair_there(const struct action *act)
{
    return index_alias(act->index, act->alias) != NULL;
}

/* Checks remove actions. A missing alias is an error if the action has must_exist, or if the
 * request has no other effect. */
static int check_removes(const struct action *list, size_t n, bool *missing,
                         struct refusal *refusal)
{
    size_t useful = 0;
    const struct action *lost = NULL;
    for (size_t i = 0; i < n; i++) {
        bool gone = list[i].kind == ACTION_REMOVE && !pair_there(&list[i]);
        useful += gone ? 0 : 1;
        lost = gone && (lost == NULL || list[i].must_exist) ? &list[i] : lost;
    }
    *missing = lost != NULL;
    if (lost == NULL || (useful > 0 && !lost->must_exist)) {
        return 0;
    }
    refuse(refusal, 404, "aliases_not_found_exception", "aliases [%s] missing", lost->alias);
    refusal_member(refusal, "resource.id", lost->alias);
    refusal_member(refusal, "resource.type", "aliases");
    return -1;
}

/* Returns true if the index will be the alias's write index after all actions. */
static bool will_write(const struct action *list, size_t n, const struct index *ix,
                       const char *alias)
{
    const struct alias *now = index_alias(ix, alias);
    bool write = now != NULL && now->write == 1;
    for (size_t i = 0; i < n; i++) {
        if (list[i].index != ix) {
            continue;
        }
        if (list[i].kind == ACTION_REMOVE_INDEX) {
            write = false;
        } else if (list[i].alias != NULL && strcmp(list[i].alias, alias) == 0) {
            write = list[i].kind == ACTION_ADD && list[i].write == 1;
        }
    }
    return write;
}

static int check_writers(const struct server *s, const struct action *list, size_t n,
                         struct refusal *refusal)
{
    for (size_t i = 0; i < n; i++) {
        size_t writers = 0;
        struct buf names;
        buf_init(&names, 65536);
        for (size_t k = 0; list[i].kind == ACTION_ADD && k < s->catalogue.count; k++) {
            if (will_write(list, n, s->catalogue.list[k], list[i].alias)) {
                buf_printf(&names, "%s%s", writers++ > 0 ? "," : "", s->catalogue.list[k]->name);
            }
        }
        if (writers > 1) {
            refuse(refusal, 500, "illegal_state_exception",
                   "alias [%s] has more than one write index [%s]", list[i].alias,
                   buf_text(&names));
        }
        buf_release(&names);
        if (writers > 1) {
            return -1;
        }
    }
    return 0;
}

static int carry_out(struct server *s, struct action *list, size_t n, struct refusal *refusal)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        if (list[i].kind == ACTION_REMOVE) {
            index_alias_remove(list[i].index, list[i].alias);
            rc = catalogue_save(&s->catalogue, list[i].index, refusal);
        } else if (list[i].kind == ACTION_ADD) {
            index_alias_put(list[i].index, list[i].alias, list[i].write);
            rc = catalogue_save(&s->catalogue, list[i].index, refusal);
        }
    }
    for (size_t i = 0; rc == 0 && i < n; i++) {
        if (list[i].kind == ACTION_REMOVE_INDEX) {
            rc = catalogue_delete(&s->catalogue, list[i].index, refusal);
        }
    }
    return rc;
}

static void push_results(const struct server *s, bool missing, struct buf *out)
{
    if (s->options->product == OPENSEARCH) {
        buf_push_literal(out, "{\"acknowledged\":true}");
    } else {
        buf_printf(out, "{\"acknowledged\":true,\"errors\":%s}", missing ? "true" : "false");
    }
}

HANDLER(post_aliases)
{
    struct json_object *body = request_json(q, refusal);
    struct json_object *actions = NULL;
    struct action *list = NULL;
    bool missing = false;
    int rc = body != NULL ? 0 : -1;
    size_t n = 0;
    if (rc == 0 && json_object_object_get_ex(body, "actions", &actions) &&
        json_object_is_type(actions, json_type_array)) {
        n = tree_length(actions);
    }
    if (rc == 0 && n == 0) {
        rc = refuse(refusal, 400, "illegal_argument_exception", "No action specified");
    }
    if (rc == 0 && n > ACTIONS_MAX) {
        rc = refuse_unknown(refusal, "more than %d actions in a request", ACTIONS_MAX);
    }
    list = mem_zero(n + 1, sizeof(*list));
    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = parse_action(s, tree_item(actions, i), &list[i], refusal);
    }
    if (rc == 0 &&
        (check_names(s, list, n, refusal) != 0 || check_removes(list, n, &missing, refusal) != 0 ||
         check_writers(s, list, n, refusal) != 0)) {
        rc = -1;
    }
    rc = rc == 0 ? carry_out(s, list, n, refusal) : rc;
    push_results(s, missing, &a->body);
    free(list);
    json_object_put(body);
    return rc;
}
