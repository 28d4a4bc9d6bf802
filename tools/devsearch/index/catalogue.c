/* SPDX-License-Identifier: Apache-2.0 */
/* Manages the indices, their names and their durable entries. */
#include "index/catalogue.h"
#include "base/limits.h"
#include "base/tree.h"
#include "rowferry/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *random_name(const struct clock *clock)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    char *name = mem_zero(23, 1);
    uint64_t random = 0;
    for (int i = 0; i < 22; i++) {
        random = i % 10 == 0 ? clock_random(clock) : random >> 6;
        name[i] = letters[i == 0 ? random % 62 : random & 63];
    }
    return name;
}

static int bad_name(struct refusal *refusal, bool alias, const char *name, const char *why)
{
    refuse(refusal, 400, alias ? "invalid_alias_name_exception" : "invalid_index_name_exception",
           alias ? "Invalid alias name [%s]: %s" : "Invalid index name [%s], %s", name, why);
    if (!alias) {
        refusal_member(refusal, "index", name);
        refusal_member(refusal, "index_uuid", "_na_");
    }
    return -1;
}

static bool is_utf8(const char *name)
{
    size_t len = strlen(name);
    for (size_t n; len > 0; name += n, len -= n) {
        n = text_character(name, len);
        if (n == 0) {
            return false;
        }
    }
    return true;
}

int name_check(const char *name, bool alias, struct refusal *refusal)
{
    if (!is_utf8(name)) { /* not quoted: an answer is JSON */
        return bad_name(refusal, alias, "?", "must be UTF-8");
    }
    if (strpbrk(name, " \"*\\<|,>/?") != NULL) {
        return bad_name(
            refusal, alias, name,
            "must not contain the following characters [ , \", *, \\, <, |, ,, >, /, ?]");
    }
    if (strchr(name, '#') != NULL) {
        return bad_name(refusal, alias, name, "must not contain '#'");
    }
    if (strchr(name, ':') != NULL) {
        return bad_name(refusal, alias, name, "must not contain ':'");
    }
    if (name[0] == '_' || name[0] == '-' || name[0] == '+' || name[0] == '\0') {
        return bad_name(refusal, alias, name, "must not start with '_', '-', or '+'");
    }
    if (strlen(name) > 255) {
        return bad_name(refusal, alias, name, "index name is too long");
    }
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        return bad_name(refusal, alias, name, "must not be '.' or '..'");
    }
    for (const char *p = name; !alias && *p != '\0'; p++) {
        if (*p >= 'A' && *p <= 'Z') {
            return bad_name(refusal, alias, name, "must be lowercase");
        }
    }
    return 0;
}

struct index *catalogue_find(const struct catalogue *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++) {
        if (strcmp(c->list[i]->name, name) == 0) {
            return c->list[i];
        }
    }
    return NULL;
}

const struct alias *index_alias(const struct index *ix, const char *name)
{
    for (size_t i = 0; i < ix->alias_count; i++) {
        if (strcmp(ix->aliases[i].name, name) == 0) {
            return &ix->aliases[i];
        }
    }
    return NULL;
}

bool index_alias_remove(struct index *ix, const char *name)
{
    for (size_t i = 0; i < ix->alias_count; i++) {
        if (strcmp(ix->aliases[i].name, name) == 0) {
            free(ix->aliases[i].name);
            ix->aliases[i] = ix->aliases[--ix->alias_count];
            return true;
        }
    }
    return false;
}

int index_alias_put(struct index *ix, const char *name, int write)
{
    index_alias_remove(ix, name);
    ix->aliases = mem_grow(ix->aliases, ix->alias_count + 1, sizeof(*ix->aliases));
    ix->aliases[ix->alias_count++] = (struct alias){text_copy(name), write};
    return 0;
}

bool catalogue_has_alias(const struct catalogue *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++) {
        if (index_alias(c->list[i], name) != NULL) {
            return true;
        }
    }
    return false;
}

static void index_free(struct index *ix)
{
    shelf_close(ix->shelf);
    mapping_release(&ix->mapping);
    settings_release(&ix->settings);
    while (ix->alias_count > 0) {
        free(ix->aliases[--ix->alias_count].name);
    }
    free(ix->aliases);
    free(ix->name);
    free(ix->uuid);
    free(ix->stream);
    free(ix);
}

static void insert(struct catalogue *c, struct index *ix)
{
    c->list = mem_grow(c->list, c->count + 1, sizeof(*c->list));
    size_t at = c->count++;
    for (; at > 0 && strcmp(c->list[at - 1]->name, ix->name) > 0; at--) {
        c->list[at] = c->list[at - 1];
    }
    c->list[at] = ix;
    c->next_number = ix->number >= c->next_number ? ix->number + 1 : c->next_number;
}

static int take_aliases(struct catalogue *c, struct index *ix, struct json_object *aliases,
                        struct refusal *refusal)
{
    tree_foreach(aliases, name, given)
    {
        struct json_object *write;
        if (name_check(name, true, refusal) != 0) {
            return -1;
        }
        const struct index *taken = catalogue_find(c, name);
        if (taken != NULL || strcmp(name, ix->name) == 0) {
            refuse(refusal, 400, "invalid_alias_name_exception",
                   "Invalid alias name [%s], an index exists with the same name as the alias",
                   name);
            refusal_member(refusal, "index", name);
            refusal_member(refusal, "index_uuid", taken != NULL ? taken->uuid : ix->uuid);
            return -1;
        }
        tree_foreach(given, key, ignored)
        {
            (void)ignored;
            if (strcmp(key, "is_write_index") != 0) {
                return refuse_unknown(refusal, "[%s] of an alias", key);
            }
        }
        bool said = json_object_object_get_ex(given, "is_write_index", &write);
        index_alias_put(ix, name, said ? json_object_get_boolean(write) : -1);
    }
    return 0;
}

/* Fills a new index from a creation body or from its durable entry. */
static int fill(struct catalogue *c, struct index *ix, struct json_object *body,
                struct refusal *refusal)
{
    struct json_object *mappings = NULL;
    tree_foreach(body, key, value)
    {
        if (strcmp(key, "mappings") == 0) {
            mappings = value;
        } else if (strcmp(key, "settings") == 0) {
            if (settings_apply(&ix->settings, value, true, ix->name, refusal) != 0) {
                return -1;
            }
        } else if (strcmp(key, "aliases") == 0) {
            if (take_aliases(c, ix, value, refusal) != 0) {
                return -1;
            }
        } else {
            return refuse(refusal, 400, "parse_exception", "unknown key [%s] for create index",
                          key);
        }
    }
    return mapping_parse(&ix->mapping, mappings, c->product, refusal);
}

static void put_defaults(struct catalogue *c, struct index *ix)
{
    char created[32];
    snprintf(created, sizeof(created), "%lld", (long long)(clock_wall_us(&c->clock) / 1000));
    settings_put(&ix->settings, "index.uuid", ix->uuid);
    settings_put(&ix->settings, "index.creation_date", created);
    settings_put(&ix->settings, "index.provided_name", ix->name);
    settings_put(&ix->settings, "index.version.created",
                 c->product == OPENSEARCH ? "136408227" : "8536000");
    if (settings_get(&ix->settings, "index.number_of_shards") == NULL) {
        settings_put(&ix->settings, "index.number_of_shards", "1");
    }
    if (settings_get(&ix->settings, "index.number_of_replicas") == NULL) {
        settings_put(&ix->settings, "index.number_of_replicas", "1");
    }
}

static int name_free(const struct catalogue *c, const char *name, struct refusal *refusal)
{
    if (name_check(name, false, refusal) != 0) {
        return -1;
    }
    const struct index *old = catalogue_find(c, name);
    if (old != NULL) {
        refuse(refusal, 400, "resource_already_exists_exception", "index [%s/%s] already exists",
               name, old->uuid);
        refusal_member(refusal, "index", name);
        refusal_member(refusal, "index_uuid", old->uuid);
        return -1;
    }
    return catalogue_has_alias(c, name) ? bad_name(refusal, false, name, "already exists as alias")
                                        : 0;
}

struct index *catalogue_create(struct catalogue *c, const char *name, struct json_object *body,
                               struct refusal *refusal)
{
    if (name_free(c, name, refusal) != 0) {
        return NULL;
    }
    if (c->count >= INDICES_MAX) {
        refuse(refusal, 400, "validation_exception",
               "Validation Failed: 1: this action would add [1] total shards, but this cluster "
               "currently has [%zu]/[%d] maximum shards open;",
               c->count, INDICES_MAX);
        return NULL;
    }
    struct json_object *empty = json_object_new_object();
    struct index *ix = mem_zero(1, sizeof(*ix));
    ix->number = c->next_number;
    ix->name = text_copy(name);
    ix->uuid = random_name(&c->clock);
    int rc = fill(c, ix, body != NULL ? body : empty, refusal);
    json_object_put(empty);
    put_defaults(c, ix);
    if (rc == 0) {
        ix->shelf = shelf_open(c->store, ix->number, refusal);
    }
    if (ix->shelf == NULL || catalogue_save(c, ix, refusal) != 0) {
        index_free(ix);
        return NULL;
    }
    insert(c, ix);
    return ix;
}

int catalogue_delete(struct catalogue *c, struct index *ix, struct refusal *refusal)
{
    size_t at = 0;
    while (c->list[at] != ix) {
        at++;
    }
    int rc = shelf_drop(ix->shelf, refusal);
    ix->shelf = NULL;
    rc = store_entry_delete(c->store, ix->number, refusal) != 0 ? -1 : rc;
    memmove(c->list + at, c->list + at + 1, (--c->count - at) * sizeof(*c->list));
    index_free(ix);
    return rc;
}

int catalogue_save(struct catalogue *c, const struct index *ix, struct refusal *refusal)
{
    struct buf json;
    buf_init(&json, (size_t)256 << 20);
    buf_push_literal(&json, "{\"name\":");
    push_json_text(&json, ix->name);
    if (ix->stream != NULL) {
        buf_push_literal(&json, ",\"stream\":");
        push_json_text(&json, ix->stream);
    }
    buf_push_literal(&json, ",\"settings\":");
    settings_push(&ix->settings, &json, true);
    buf_push_literal(&json, ",\"aliases\":{");
    for (size_t i = 0; i < ix->alias_count; i++) {
        buf_push_text(&json, i > 0 ? "," : "");
        push_json_text(&json, ix->aliases[i].name);
        buf_printf(&json, ":%d", ix->aliases[i].write);
    }
    buf_printf(&json, "},\"mappings\":%s}", json_object_to_json_string(ix->mapping.json));
    int rc = store_entry_put(c->store, ix->number, buf_text(&json), refusal);
    buf_release(&json);
    return rc;
}

struct loading {
    struct catalogue *catalogue;
    struct refusal *refusal;
};

static int load(void *context, int64_t number, const char *text)
{
    struct loading *l = context;
    struct catalogue *c = l->catalogue;
    struct json_object *json = json_tokener_parse(text);
    struct index *ix = mem_zero(1, sizeof(*ix));
    ix->number = number;
    ix->name = text_copy(tree_text(json_object_object_get(json, "name")));
    struct json_object *stream = json_object_object_get(json, "stream");
    ix->stream = stream != NULL ? text_copy(tree_text(stream)) : NULL;
    tree_foreach(json_object_object_get(json, "settings"), name, value)
    {
        settings_put(&ix->settings, name, tree_text(value));
    }
    tree_foreach(json_object_object_get(json, "aliases"), alias, write)
    {
        index_alias_put(ix, alias, json_object_get_int(write));
    }
    ix->uuid = text_copy(settings_get(&ix->settings, "index.uuid"));
    insert(c, ix);
    int rc = mapping_parse(&ix->mapping, json_object_object_get(json, "mappings"), c->product,
                           l->refusal);
    ix->shelf = rc == 0 ? shelf_open(c->store, number, l->refusal) : NULL;
    json_object_put(json);
    if (ix->shelf == NULL || shelf_last(ix->shelf, &ix->next_seq, &ix->refresh, l->refusal) != 0) {
        return -1;
    }
    ix->next_seq++;
    return 0;
}

int catalogue_open(struct catalogue *c, struct store *store, enum product product,
                   struct refusal *refusal)
{
    *c = (struct catalogue){
        .store = store, .product = product, .clock = clock_system(), .next_number = 1};
    struct loading l = {c, refusal};
    return store_entries(store, load, &l);
}

void catalogue_close(struct catalogue *c)
{
    for (size_t i = 0; i < c->count; i++) {
        index_free(c->list[i]);
    }
    free(c->list);
    for (size_t i = 0; i < c->template_count; i++) {
        free(c->templates[i].name);
        json_object_put(c->templates[i].json);
    }
    free(c->templates);
    *c = (struct catalogue){0};
}
