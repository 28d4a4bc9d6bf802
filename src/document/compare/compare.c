/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two documents member by member. */
#include "rowferry/document/compare/compare.h"

#include <string.h>

#include "compare/compare_derived.h"
#include "rowferry/base/buf.h"
#include "rowferry/document/json/json_compare.h"

#define PATH_MAX_BYTES ((size_t)64 << 10)

struct comparing {
    const struct compare_rules *rules;
    compare_each each;
    void *context;
    struct buf path;
    size_t count;
};

static void compare_report(struct comparing *c, struct span row, struct span indexed)
{
    c->count++;
    if (c->each != NULL) {
        c->each(c->context, &(struct difference){buf_text(&c->path), row, indexed});
    }
}

/* --- objects and arrays ----------------------------------------------------------------------- */

static void compare_values(struct comparing *c, const struct property *p, struct span row,
                           struct span indexed);

/* Finds the member of that name. Both sides mostly have the same order, so the search starts behind
 * the last member found. */
static struct span compare_find(struct span object, struct json_steps *hint, struct span name)
{
    struct span other;
    struct span value;
    if (json_steps_member(hint, &other, &value) && json_name_compare(other, name) == 0) {
        return value;
    }
    struct json_steps from = json_steps_into(object);
    value = json_steps_find(&from, name);
    *hint = value.data != NULL ? from : *hint;
    return value;
}

static size_t compare_enter(struct comparing *c, struct span name)
{
    size_t len = c->path.len;
    if (len > 0) {
        buf_push_char(&c->path, '.');
    }
    text_escape(&c->path, name.data, name.len);
    return len;
}

static const struct property *compare_child_named(const struct property *list, size_t count,
                                                  struct span name)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i].name_len == name.len && memcmp(list[i].name, name.data, name.len) == 0) {
            return &list[i];
        }
    }
    return NULL;
}

static const struct property *compare_child_of(const struct comparing *c, const struct property *p,
                                               struct span name)
{
    const struct mapping *m = c->rules->mapping;
    return c->path.len == 0 && m != NULL ? compare_child_named(m->properties, m->count, name)
           : p != NULL                   ? compare_child_named(p->children, p->child_count, name)
                                         : NULL;
}

/* Provenance tells of the write, not of the row. */
static bool compare_is_skipped(const struct comparing *c, struct span name,
                               const struct property *p)
{
    const struct mapping *m = c->rules->mapping;
    bool provenance = m != NULL && m->provenance && span_is(name, MAPPING_PROVENANCE);
    return c->path.len == 0 && (provenance || (p != NULL && compare_skips(c->rules, p) != NULL));
}

/* Reports members that only the index has. */
static void compare_rest(struct comparing *c, struct span row, struct span indexed)
{
    struct span name;
    struct span value;
    struct json_steps at = json_steps_into(indexed);
    struct json_steps hint = json_steps_into(row);
    while (json_steps_member(&at, &name, &value)) {
        if (!c->rules->filled && !compare_is_skipped(c, name, compare_child_of(c, NULL, name)) &&
            compare_find(row, &hint, name).data == NULL) {
            size_t len = compare_enter(c, name);
            compare_report(c, span_make(NULL, 0), value);
            buf_truncate(&c->path, len);
        }
    }
}

static void compare_objects(struct comparing *c, const struct property *p, struct span row,
                            struct span indexed)
{
    struct span name;
    struct span value;
    struct json_steps at = json_steps_into(row);
    struct json_steps hint = json_steps_into(indexed);
    while (json_steps_member(&at, &name, &value)) {
        const struct property *child = compare_child_of(c, p, name);
        if (compare_is_skipped(c, name, child)) {
            continue;
        }
        struct span other = compare_find(indexed, &hint, name);
        size_t len = compare_enter(c, name);
        if (other.data != NULL) {
            compare_values(c, child, value, other);
        } else {
            compare_report(c, value, other);
        }
        buf_truncate(&c->path, len);
    }
    compare_rest(c, row, indexed);
}

static void compare_arrays(struct comparing *c, const struct property *p, struct span row,
                           struct span indexed)
{
    struct json_steps a = json_steps_into(row);
    struct json_steps b = json_steps_into(indexed);
    struct span value = span_make(NULL, 0);
    struct span other = span_make(NULL, 0);
    for (size_t i = 0;; i++) {
        bool more = json_steps_element(&a, &value);
        bool others = json_steps_element(&b, &other);
        if (!more && !others) {
            return;
        }
        size_t len = c->path.len;
        buf_printf(&c->path, "[%zu]", i);
        if (more && others) {
            compare_values(c, p, value, other);
        } else {
            compare_report(c, more ? value : span_make(NULL, 0),
                           others ? other : span_make(NULL, 0));
        }
        buf_truncate(&c->path, len);
        if (!more || !others) {
            return; /* the remaining elements are shifted: one difference is enough */
        }
    }
}

/* --- values ----------------------------------------------------------------------------------- */

static bool compare_is_vector(const struct property *p)
{
    return p != NULL &&
           (strcmp(p->type, "dense_vector") == 0 || strcmp(p->type, "knn_vector") == 0);
}

static bool compare_both(struct span a, struct span b, char bracket)
{
    return a.len > 0 && b.len > 0 && a.data[0] == bracket && b.data[0] == bracket;
}

static void compare_values(struct comparing *c, const struct property *p, struct span row,
                           struct span indexed)
{
    if (span_equal(row, indexed)) {
        return;
    }
    bool apart = c->rules->form == SOURCE_VECTORS_APART && compare_is_vector(p);
    if (compare_both(row, indexed, '{')) {
        compare_objects(c, p, row, indexed);
    } else if (compare_both(row, indexed, '[')) {
        compare_arrays(c, p, row, indexed);
    } else if (!(apart ? compare_as_floats(row, indexed) : json_scalar_same(row, indexed))) {
        compare_report(c, row, indexed);
    }
}

/* Compares each property as a set of values. */
static void compare_derived(struct comparing *c, struct span row, struct span indexed)
{
    const struct mapping *m = c->rules->mapping;
    for (size_t i = 0; i < m->count; i++) {
        const struct property *p = &m->properties[i];
        struct span value = compare_derived_member(row, p);
        struct span other = compare_derived_member(indexed, p);
        if (!compare_is_skipped(c, span_make(p->name, p->name_len), p) &&
            !compare_derived_same(p, value, other)) {
            size_t len = compare_enter(c, span_make(p->name, p->name_len));
            compare_report(c, value, other);
            buf_truncate(&c->path, len);
        }
    }
}

size_t compare_documents(const struct compare_rules *rules, struct span row, struct span indexed,
                         compare_each each, void *context)
{
    struct comparing c = {.rules = rules, .each = each, .context = context};
    row = json_trim(row);
    indexed = json_trim(indexed);
    if (span_equal(row, indexed)) {
        return 0;
    }
    buf_init(&c.path, PATH_MAX_BYTES);
    if (rules->form == SOURCE_DERIVED && rules->mapping != NULL) {
        compare_derived(&c, row, indexed);
    } else {
        compare_values(&c, NULL, row, indexed);
    }
    buf_release(&c.path);
    return c.count;
}

const char *compare_skips(const struct compare_rules *rules, const struct property *property)
{
    for (size_t i = 0; i < rules->field_count; i++) {
        if (rules->fields[i].column == NULL &&
            strcmp(rules->fields[i].property, property->name) == 0) {
            return "the service fills it (\"fields\")";
        }
    }
    if (rules->form == SOURCE_VECTORS_APART && compare_is_vector(property) &&
        property->similarity != NULL && strcmp(property->similarity, "cosinesimil") == 0) {
        return "the service keeps the vector at length 1";
    }
    return rules->form == SOURCE_DERIVED && !compare_derived_comparable(property)
               ? "the service derives the source, and its type has no one form there"
               : NULL;
}
