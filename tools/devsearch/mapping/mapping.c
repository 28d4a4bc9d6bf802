/* SPDX-License-Identifier: Apache-2.0 */
/* Parses, merges and searches the mapping of an index. */
#include "mapping/mapping.h"
#include "base/tree.h"

#include <stdlib.h>

static const char *const root_parameters[] = {
    "dynamic", "_meta", "properties", "date_detection", "numeric_detection", NULL};

/* Wraps the refusal of an invalid mapping at creation; the inner refusal becomes cause and root
 * cause. */
static int wrap(struct refusal *r)
{
    struct refusal outer;
    refusal_init(&outer);
    refuse(&outer, r->status, "mapper_parsing_exception", "Failed to parse mapping [_doc]: %s",
           buf_text(&r->reason));
    refusal_render(r, &outer.cause, false);
    if (strcmp(r->type, "mapper_parsing_exception") == 0 && r->cause.len == 0) {
        refusal_root_is_cause(&outer);
    }
    refusal_release(r);
    *r = outer;
    return -1;
}

static int check_root(struct json_object *json, struct refusal *refusal)
{
    tree_foreach(json, name, value)
    {
        const char *const *known = root_parameters;
        while (*known != NULL && strcmp(*known, name) != 0) {
            known++;
        }
        if (strcmp(name, "dynamic_templates") == 0 || strcmp(name, "_source") == 0 ||
            strcmp(name, "_routing") == 0) {
            return refuse_unknown(refusal, "[%s] in a mapping", name);
        }
        if (*known == NULL) {
            return refuse(refusal, 400, "mapper_parsing_exception",
                          "Root mapping definition has unsupported parameters:  [%s : %s]", name,
                          tree_text(value));
        }
    }
    return 0;
}

size_t mapping_count(struct json_object *json)
{
    static const char *const inner[] = {"properties", "fields"};
    size_t n = 0;
    for (size_t i = 0; i < 2; i++) {
        tree_foreach(json_object_object_get(json, inner[i]), name, field)
        {
            (void)name;
            n += 1 + mapping_count(field);
        }
    }
    return n;
}

static void collect_text(void *context, const struct field *field)
{
    struct mapping *m = context;
    if (field->type->family == FAMILY_TEXT) {
        m->texts = mem_grow(m->texts, m->text_count + 1, sizeof(*m->texts));
        m->texts[m->text_count++] = field;
    }
}

static void each_list(const struct field *list, size_t n,
                      void (*leaf)(void *context, const struct field *field), void *context)
{
    for (size_t i = 0; i < n; i++) {
        mapping_each(&list[i], leaf, context);
    }
}

void mapping_each(const struct field *from, void (*leaf)(void *context, const struct field *field),
                  void *context)
{
    if (from->type->family != FAMILY_OBJECT && from->type->family != FAMILY_NESTED) {
        leaf(context, from);
    }
    each_list(from->children, from->child_count, leaf, context);
    each_list(from->subs, from->sub_count, leaf, context);
}

static void number_texts(struct mapping *m, struct field *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t slot = 0; slot < m->text_count; slot++) {
            if (m->texts[slot] == &list[i]) {
                list[i].text_slot = slot;
            }
        }
        number_texts(m, list[i].children, list[i].child_count);
        number_texts(m, list[i].subs, list[i].sub_count);
    }
}

/* Sorts properties by name, as the service returns them. */
static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static struct json_object *sorted(struct json_object *from)
{
    size_t n = tree_count(from);
    const char **names = mem_zero(n + 1, sizeof(*names));
    size_t i = 0;
    tree_foreach(from, key, ignored)
    {
        (void)ignored;
        names[i++] = key;
    }
    qsort(names, n, sizeof(*names), by_name);
    struct json_object *to = json_object_new_object();
    for (i = 0; i < n; i++) {
        struct json_object *value = json_object_object_get(from, names[i]);
        struct json_object *inner;
        if (json_object_object_get_ex(value, "properties", &inner)) {
            json_object_object_add(value, "properties", sorted(inner));
        }
        json_object_object_add(to, names[i], json_object_get(value));
    }
    free(names);
    return to;
}

static int compile(struct mapping *m, struct json_object *json, enum product product,
                   struct refusal *refusal)
{
    *m = (struct mapping){0};
    m->json = json != NULL ? json_object_get(json) : json_object_new_object();
    struct json_object *shape = json_object_new_object();
    tree_foreach(m->json, key, value)
    {
        if (strcmp(key, "dynamic") == 0 || strcmp(key, "properties") == 0) {
            json_object_object_add(shape, key, json_object_get(value));
        }
    }
    json_object_object_add(shape, "type", json_object_new_string("object"));
    int rc = check_root(m->json, refusal) != 0 ||
                     field_compile(&m->root, "", "", shape, product, refusal) != 0
                 ? -1
                 : 0;
    json_object_put(shape);
    if (rc == 0) {
        mapping_each(&m->root, collect_text, m);
        number_texts(m, m->root.children, m->root.child_count);
    }
    return rc;
}

int mapping_parse(struct mapping *m, struct json_object *json, enum product product,
                  struct refusal *refusal)
{
    *m = (struct mapping){0};
    if (json != NULL && !json_object_is_type(json, json_type_object)) {
        return refuse(refusal, 400, "mapper_parsing_exception", "malformed mapping");
    }
    if (compile(m, json, product, refusal) != 0) {
        return wrap(refusal);
    }
    struct json_object *properties;
    if (json_object_object_get_ex(m->json, "properties", &properties)) {
        json_object_object_add(m->json, "properties", sorted(properties));
    }
    return 0;
}

void mapping_release(struct mapping *m)
{
    json_object_put(m->json);
    field_release(&m->root);
    free(m->texts);
    *m = (struct mapping){0};
}

static bool holds_fields(const struct field *f)
{
    return f->type->family == FAMILY_OBJECT || f->type->family == FAMILY_NESTED;
}

static int fixed_parameter(const struct field *old, const char *name, const char *from,
                           const char *to, struct refusal *refusal)
{
    if (strcmp(from, to) == 0) {
        return 0;
    }
    return refuse(refusal, 400, "illegal_argument_exception",
                  "Mapper for [%s] conflicts with existing mapper:\n\tCannot update parameter [%s] "
                  "from [%s] to [%s]",
                  old->path, name, from, to);
}

static const char *yes_no(bool value)
{
    return value ? "true" : "false";
}

static int list_conflicts(const struct field *old, size_t count, const struct field *update,
                          size_t update_count, enum product product, struct refusal *refusal);

static int nesting_conflicts(const struct field *old, enum product product, struct refusal *refusal)
{
    bool nested = old->type->family == FAMILY_NESTED;
    return product == ELASTICSEARCH
               ? refuse(refusal, 400, "illegal_argument_exception",
                        "can't merge a non-nested mapping [%s] with a nested mapping", old->path)
               : refuse(refusal, 400, "illegal_argument_exception",
                        "cannot change object mapping from %s to %s",
                        nested ? "nested" : "non-nested", nested ? "non-nested" : "nested");
}

static int field_conflicts(const struct field *old, const struct field *f, enum product product,
                           struct refusal *refusal)
{
    if (holds_fields(old) != holds_fields(f)) {
        return refuse(refusal, 400, "illegal_argument_exception",
                      "can't merge a non object mapping [%s] with an object mapping", old->path);
    }
    if (holds_fields(old)) {
        return old->type->family != f->type->family ? nesting_conflicts(old, product, refusal)
                                                    : mapping_conflicts(old, f, product, refusal);
    }
    if (old->type != f->type) {
        return refuse(refusal, 400, "illegal_argument_exception",
                      "mapper [%s] cannot be changed from type [%s] to [%s]", old->path,
                      old->type->name, f->type->name);
    }
    if (fixed_parameter(old, "doc_values", yes_no(old->doc_values), yes_no(f->doc_values),
                        refusal) != 0 ||
        fixed_parameter(old, "index", yes_no(old->indexed), yes_no(f->indexed), refusal) != 0) {
        return -1;
    }
    if (fixed_parameter(old, "format", old->format, f->format, refusal) != 0) {
        return -1;
    }
    return list_conflicts(old->subs, old->sub_count, f->subs, f->sub_count, product, refusal);
}

static int list_conflicts(const struct field *old, size_t count, const struct field *update,
                          size_t update_count, enum product product, struct refusal *refusal)
{
    for (size_t i = 0; i < update_count; i++) {
        for (size_t k = 0; k < count; k++) {
            if (strcmp(old[k].name, update[i].name) == 0 &&
                field_conflicts(&old[k], &update[i], product, refusal) != 0) {
                return -1;
            }
        }
    }
    return 0;
}

int mapping_conflicts(const struct field *old, const struct field *update, enum product product,
                      struct refusal *refusal)
{
    return list_conflicts(old->children, old->child_count, update->children, update->child_count,
                          product, refusal);
}

/* Overwrites members of `to` with those of `from`; merges the contents of "properties" and
 * "fields". */
static void merge_json(struct json_object *to, struct json_object *from)
{
    tree_foreach(from, key, value)
    {
        struct json_object *mine;
        bool inside = strcmp(key, "properties") == 0 || strcmp(key, "fields") == 0;
        if (!inside || !json_object_object_get_ex(to, key, &mine)) {
            json_object_object_add(to, key, json_object_get(value));
            continue;
        }
        tree_foreach(value, name, field)
        {
            struct json_object *known;
            if (json_object_object_get_ex(mine, name, &known)) {
                merge_json(known, field);
            } else {
                json_object_object_add(mine, name, json_object_get(field));
            }
        }
    }
}

int mapping_merge(struct mapping *m, struct json_object *update, enum product product,
                  struct refusal *refusal)
{
    struct mapping wanted = {0};
    struct mapping merged = {0};
    struct json_object *copy = NULL;
    int rc = -1;
    if (compile(&wanted, update, product, refusal) != 0 ||
        mapping_conflicts(&m->root, &wanted.root, product, refusal) != 0) {
        goto done;
    }
    if (json_object_deep_copy(m->json, &copy, NULL) != 0) {
        refuse(refusal, 500, "exception", "the mapping could not be copied");
        goto done;
    }
    merge_json(copy, update);
    if (mapping_parse(&merged, copy, product, refusal) != 0) {
        mapping_release(&merged);
        goto done;
    }
    mapping_release(m);
    *m = merged;
    rc = 0;
done:
    json_object_put(copy);
    mapping_release(&wanted);
    return rc;
}

const struct field *field_child(const struct field *parent, struct span name)
{
    for (size_t i = 0; i < parent->child_count; i++) {
        if (span_is(name, parent->children[i].name)) {
            return &parent->children[i];
        }
    }
    return NULL;
}

static const struct field *find_in(const struct field *list, size_t n, const char *path)
{
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(list[i].path);
        if (strcmp(list[i].path, path) == 0) {
            return &list[i];
        }
        if (strncmp(list[i].path, path, len) == 0 && path[len] == '.') {
            const struct field *found = find_in(list[i].children, list[i].child_count, path);
            return found != NULL ? found : find_in(list[i].subs, list[i].sub_count, path);
        }
    }
    return NULL;
}

const struct field *mapping_find(const struct mapping *m, const char *path)
{
    return find_in(m->root.children, m->root.child_count, path);
}
