/* SPDX-License-Identifier: Apache-2.0 */
/* Index endpoints: create, get, delete, mapping, settings. */
#include "api/condition.h"
#include "api/server.h"
#include "api/streams.h"
#include "base/tree.h"

#include <stdlib.h>

static void push_aliases(const struct index *ix, struct buf *out)
{
    buf_push_literal(out, "\"aliases\":{");
    for (size_t i = 0; i < ix->alias_count; i++) {
        buf_push_text(out, i > 0 ? "," : "");
        push_json_text(out, ix->aliases[i].name);
        buf_push_text(out, ix->aliases[i].write < 0    ? ":{}"
                           : ix->aliases[i].write == 0 ? ":{\"is_write_index\":false}"
                                                       : ":{\"is_write_index\":true}");
    }
    buf_push_char(out, '}');
}

static void push_mappings(const struct index *ix, struct buf *out)
{
    buf_push_literal(out, "\"mappings\":");
    buf_push_text(out,
                  json_object_to_json_string_ext(ix->mapping.json, JSON_C_TO_STRING_NOSLASHESCAPE));
}

static void push_settings(const struct index *ix, struct buf *out, bool flat)
{
    buf_push_literal(out, "\"settings\":");
    settings_push(&ix->settings, out, flat);
}

enum parts { PART_ALIASES = 1, PART_MAPPINGS = 2, PART_SETTINGS = 4 };

static int show(struct server *s, const struct request *q, struct answer *a, unsigned parts,
                struct refusal *refusal)
{
    struct indices list = {NULL, 0};
    const char *expand = request_parameter(q, "expand_wildcards");
    bool all =
        expand != NULL && (strstr(expand, "all") != NULL || strstr(expand, "closed") != NULL);
    if ((all ? catalogue_resolve_all : catalogue_resolve)(&s->catalogue, q->segments[0], &list,
                                                          refusal) != 0) {
        return -1;
    }
    bool flat = request_flag(q, "flat_settings");
    buf_push_char(&a->body, '{');
    for (size_t i = 0; i < list.count; i++) {
        const struct index *ix = list.list[i];
        buf_push_text(&a->body, i > 0 ? "," : "");
        push_json_text(&a->body, ix->name);
        buf_push_literal(&a->body, ":{");
        if ((parts & PART_ALIASES) != 0) {
            push_aliases(ix, &a->body);
        }
        if ((parts & PART_MAPPINGS) != 0) {
            buf_push_text(&a->body, (parts & PART_ALIASES) != 0 ? "," : "");
            push_mappings(ix, &a->body);
        }
        if ((parts & PART_SETTINGS) != 0) {
            buf_push_text(&a->body, (parts & PART_ALIASES) != 0 ? "," : "");
            push_settings(ix, &a->body, flat);
        }
        if ((parts & PART_ALIASES) != 0 && ix->stream != NULL) {
            buf_push_literal(&a->body, ",\"data_stream\":");
            push_json_text(&a->body, ix->stream);
        }
        buf_push_char(&a->body, '}');
    }
    buf_push_char(&a->body, '}');
    free(list.list);
    return 0;
}

HANDLER(get_index)
{
    return show(s, q, a, PART_ALIASES | PART_MAPPINGS | PART_SETTINGS, refusal);
}

HANDLER(get_mapping)
{
    return show(s, q, a, PART_MAPPINGS, refusal);
}

HANDLER(get_settings)
{
    return show(s, q, a, PART_SETTINGS, refusal);
}

HANDLER(create_index)
{
    struct json_object *body = NULL;
    if (q->body.len > 0) {
        body = request_json(q, refusal);
        if (body == NULL) {
            struct refusal outer;
            refusal_init(&outer);
            refuse(&outer, 400, "parse_exception", "Failed to parse content to map");
            refusal_render(refusal, &outer.cause, false);
            refusal_release(refusal);
            *refusal = outer;
            return -1;
        }
    }
    struct json_object *given = template_aliases(&s->catalogue, q->segments[0]);
    if (given != NULL) {
        body = body != NULL ? body : json_object_new_object();
        json_object_object_add(body, "aliases", json_object_get(given));
    }
    struct index *ix = stream_check_index(&s->catalogue, q->segments[0], refusal) == 0
                           ? catalogue_create(&s->catalogue, q->segments[0], body, refusal)
                           : NULL;
    json_object_put(body);
    if (ix == NULL) {
        return -1;
    }
    buf_push_literal(&a->body, "{\"acknowledged\":true,\"shards_acknowledged\":true,\"index\":");
    push_json_text(&a->body, ix->name);
    buf_push_char(&a->body, '}');
    return 0;
}

HANDLER(delete_index)
{
    const char *name = q->segments[0];
    if (strpbrk(name, "*,") != NULL || strcmp(name, "_all") == 0) {
        return s->options->product == ELASTICSEARCH
                   ? refuse(refusal, 400, "illegal_argument_exception",
                            "Wildcard expressions or all indices are not allowed")
                   : refuse_unknown(refusal, "deleting [%s], only one index by its name", name);
    }
    struct index *ix = catalogue_find(&s->catalogue, name);
    if (ix == NULL && catalogue_has_alias(&s->catalogue, name)) {
        return refuse(refusal, 400, "illegal_argument_exception",
                      "The provided expression [%s] matches an alias, specify the corresponding "
                      "concrete indices instead.",
                      name);
    }
    if (ix == NULL) {
        return refuse_no_index(refusal, name, "index_or_alias");
    }
    if (stream_check_delete(&s->catalogue, ix, refusal) != 0 ||
        index_check_changeable(ix, refusal) != 0 ||
        catalogue_delete(&s->catalogue, ix, refusal) != 0) {
        return -1;
    }
    buf_push_literal(&a->body, "{\"acknowledged\":true}");
    return 0;
}

/* Applies the body to every index of the expression. */
static int change(struct server *s, const struct request *q, struct answer *a,
                  int (*one)(struct server *s, struct index *ix, struct json_object *body,
                             struct refusal *refusal),
                  struct refusal *refusal)
{
    struct indices list = {0};
    struct json_object *body = request_json(q, refusal);
    int rc = body != NULL ? catalogue_resolve(&s->catalogue, q->segments[0], &list, refusal) : -1;
    for (size_t i = 0; rc == 0 && i < list.count; i++) {
        rc = one(s, list.list[i], body, refusal);
        rc = rc == 0 ? catalogue_save(&s->catalogue, list.list[i], refusal) : rc;
    }
    free(list.list);
    json_object_put(body);
    buf_push_literal(&a->body, "{\"acknowledged\":true}");
    return rc;
}

static int change_mapping(struct server *s, struct index *ix, struct json_object *body,
                          struct refusal *refusal)
{
    if (index_check_changeable(ix, refusal) != 0) {
        return -1;
    }
    return mapping_merge(&ix->mapping, body, s->options->product, refusal);
}

HANDLER(put_mapping)
{
    return change(s, q, a, change_mapping, refusal);
}

/* Returns true if only block settings change: a read-only index accepts no others. */
static bool only_blocks(struct json_object *settings)
{
    tree_foreach(settings, key, value)
    {
        bool inside = strcmp(key, "index") == 0 && json_object_is_type(value, json_type_object);
        if (inside ? !only_blocks(value)
                   : strncmp(key, "index.blocks", 12) != 0 && strncmp(key, "blocks", 6) != 0) {
            return false;
        }
    }
    return true;
}

static int change_settings(struct server *s, struct index *ix, struct json_object *body,
                           struct refusal *refusal)
{
    (void)s;
    struct json_object *inner;
    struct buf label;
    if (tree_count(body) == 1 && json_object_object_get_ex(body, "settings", &inner)) {
        body = inner;
    }
    if (!only_blocks(body) && index_check_changeable(ix, refusal) != 0) {
        return -1;
    }
    buf_init(&label, 4096);
    buf_printf(&label, "%s/%s", ix->name, ix->uuid);
    int rc = settings_apply(&ix->settings, body, false, buf_text(&label), refusal);
    buf_release(&label);
    if (rc == 0 && settings_get(&ix->settings, "index.number_of_replicas") == NULL) {
        settings_put(&ix->settings, "index.number_of_replicas", "1");
    }
    return rc;
}

HANDLER(put_settings)
{
    return change(s, q, a, change_settings, refusal);
}

static int push_alias_holder(const struct index *ix, const char *alias, bool first, struct buf *out)
{
    const struct alias *found = alias != NULL ? index_alias(ix, alias) : NULL;
    if (alias != NULL && found == NULL) {
        return 0;
    }
    buf_push_text(out, first ? "" : ",");
    push_json_text(out, ix->name);
    buf_push_literal(out, ":{");
    if (alias == NULL) {
        push_aliases(ix, out);
    } else {
        struct index one = {.aliases = ix->aliases + (found - ix->aliases), .alias_count = 1};
        push_aliases(&one, out);
    }
    buf_push_char(out, '}');
    return 1;
}

/* GET /_alias, /_alias/<name>, /<index>/_alias, /<index>/_alias/<name> */
HANDLER(get_alias)
{
    bool global = strcmp(q->segments[0], "_alias") == 0;
    size_t at = global ? 1 : 2;
    const char *alias = q->segment_count > at ? q->segments[at] : NULL;
    struct indices list;
    int found = 0;
    if (catalogue_resolve_all(&s->catalogue, global ? "_all" : q->segments[0], &list, refusal) !=
        0) {
        return -1;
    }
    buf_push_char(&a->body, '{');
    for (size_t i = 0; i < list.count; i++) {
        found += push_alias_holder(list.list[i], alias, found == 0, &a->body);
    }
    buf_push_char(&a->body, '}');
    free(list.list);
    if (alias != NULL && found == 0) {
        struct buf text;
        buf_init(&text, 8192);
        buf_printf(&text, "alias [%s] missing", alias);
        answer_plain_error(a, 404, buf_text(&text));
        buf_release(&text);
    }
    return 0;
}
