/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two mappings in parallel. */
#include "rowferry/document/mapping/mapdiff.h"
#include "rowferry/document/json/json_build.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "mapping/mapdiff_private.h"
#include "rowferry/base/text.h"
#include "rowferry/document/json/json_tree.h"

#define MAX_LEVELS 100 /* of nested properties, including names with dots */
#define PATH_MAX_BYTES 8192
#define LINES_MAX_BYTES ((size_t)16 << 20)
#define ONE_LINE (JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)

struct mapdiff_walk {
    struct mapdiff *out;
    size_t bytes;   /* of all lines */
    bool abandoned; /* a path is too long, or there are too many differences */
};

/* The current position of the walk. */
struct mapdiff_place {
    struct mapdiff_walk *walk;
    const char *path;    /* "" = the root */
    const char *dynamic; /* of the object, inherited; as configured */
};

/* Returns false once there are too many lines. The walk then continues without adding any. */
static bool mapdiff_has_room(struct mapdiff_place place, size_t bytes)
{
    struct mapdiff_walk *w = place.walk;
    w->bytes += strlen(place.path) + sizeof(struct mapdiff_line) + bytes;
    w->abandoned = w->abandoned || w->bytes > LINES_MAX_BYTES;
    return !w->abandoned;
}

static struct mapdiff_line *mapdiff_add_line(struct mapdiff_place place, enum mapdiff_kind kind)
{
    struct mapdiff *d = place.walk->out;
    d->lines = mem_grow(d->lines, d->count + 1, sizeof(*d->lines));
    struct mapdiff_line *line = &d->lines[d->count++];
    *line = (struct mapdiff_line){.kind = kind, .path = text_copy(place.path)};
    return line;
}

/* Both values are JSON, or null for the default. */
static void mapdiff_add_changed(struct mapdiff_place place, const char *parameter, const char *live,
                                const char *configured)
{
    size_t bytes = strlen(live != NULL ? live : "") + strlen(configured != NULL ? configured : "");
    if (mapdiff_has_room(place, strlen(parameter) + bytes)) {
        struct mapdiff_line *line = mapdiff_add_line(place, MAPDIFF_CHANGED);
        line->parameter = text_copy(parameter);
        line->live = live != NULL ? text_copy(live) : NULL;
        line->configured = configured != NULL ? text_copy(configured) : NULL;
    }
}

static void mapdiff_add_changed_word(struct mapdiff_place place, const char *parameter,
                                     const char *live, const char *configured)
{
    struct json_object *is = json_build_text(live);
    struct json_object *want = json_build_text(configured);
    mapdiff_add_changed(place, parameter, json_build_string(is, ONE_LINE),
                        json_build_string(want, ONE_LINE));
    json_object_put(is);
    json_object_put(want);
}

/* --- parameters ------------------------------------------------------------------------------- */

static const char *mapdiff_type_of(struct json_object *property)
{
    struct json_object *type = json_tree_member(property, "type");
    return json_object_is_type(type, json_type_string) ? json_object_get_string(type) : "object";
}

/* `value` is on one side only. The default of a search analyzer is the other analyzer. */
static bool mapdiff_is_default(struct json_object *property, const char *type, const char *name,
                               struct json_object *value)
{
    const char *twin = strcmp(name, "search_analyzer") == 0         ? "analyzer"
                       : strcmp(name, "search_quote_analyzer") == 0 ? "search_analyzer"
                                                                    : NULL;
    struct json_object *other = twin != NULL ? json_tree_member(property, twin) : NULL;
    if (twin != NULL && other == NULL) {
        other = json_tree_member(property, "analyzer");
    }
    return other != NULL ? mapdiff_value_same(other, value)
                         : mapping_is_default(type, name, json_object_get_string(value));
}

/* Returns true for parameters that are compared separately, or are not part of the mapping. */
static bool mapdiff_apart(const char *name, bool root)
{
    static const char *const names[] = {"properties", "fields", "type", "dynamic"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return root && (strcmp(name, "_meta") == 0 || strcmp(name, "_data_stream_timestamp") == 0);
}

static void mapdiff_compare_parameters(struct mapdiff_place place, struct json_object *configured,
                                       struct json_object *live)
{
    bool root = place.path[0] == '\0';
    const char *type = root ? "" : mapdiff_type_of(configured);
    for (struct json_members m = json_tree_members(configured); json_tree_next(&m);) {
        if (mapdiff_apart(m.name, root)) {
            continue;
        }
        bool told = json_tree_has(live, m.name);
        struct json_object *found = json_tree_member(live, m.name);
        bool equal = told ? mapdiff_value_same(m.value, found)
                          : mapdiff_is_default(configured, type, m.name, m.value);
        if (!equal) {
            mapdiff_add_changed(place, m.name, told ? json_build_string(found, ONE_LINE) : NULL,
                                json_build_string(m.value, ONE_LINE));
        }
    }
    for (struct json_members m = json_tree_members(live); json_tree_next(&m);) {
        if (!mapdiff_apart(m.name, root) && !json_tree_has(configured, m.name) &&
            !mapdiff_is_default(live, type, m.name, m.value)) {
            mapdiff_add_changed(place, m.name, json_build_string(m.value, ONE_LINE), NULL);
        }
    }
}

/* The default of dynamic is inherited; at the root it is "strict", as sent. */
static const char *mapdiff_dynamic_of(struct json_object *object, const char *inherited)
{
    struct json_object *dynamic = json_tree_member(object, "dynamic");
    return dynamic != NULL ? json_object_get_string(dynamic) : inherited;
}

static void mapdiff_compare_dynamic(struct mapdiff_place place, const char *live_dynamic,
                                    struct json_object *configured, struct json_object *live)
{
    bool said = place.path[0] == '\0' || json_tree_has(configured, "dynamic") ||
                json_tree_has(live, "dynamic");
    if (said && strcmp(place.dynamic, live_dynamic) != 0) {
        mapdiff_add_changed_word(place, "dynamic", live_dynamic, place.dynamic);
    }
}

/* --- properties ------------------------------------------------------------------------------- */

static void mapdiff_compare_property(struct mapdiff_place place, const char *live_dynamic,
                                     struct json_object *configured, struct json_object *live);

static void mapdiff_add_whole(struct mapdiff_place place, enum mapdiff_kind kind,
                              struct json_object *value)
{
    const char *text = json_build_string(value, ONE_LINE);
    if (mapdiff_has_room(place, strlen(text))) {
        struct mapdiff_line *line = mapdiff_add_line(place, kind);
        line->additive = kind == MAPDIFF_ADDED;
        *(kind == MAPDIFF_ADDED ? &line->configured : &line->live) = text_copy(text);
    }
}

static struct mapdiff_place mapdiff_below(struct mapdiff_place parent, const char *name,
                                          struct buf *path)
{
    buf_reset(path);
    buf_printf(path, "%s%s%s", parent.path, parent.path[0] != '\0' ? "." : "", name);
    parent.walk->abandoned = parent.walk->abandoned || path->failed;
    return (struct mapdiff_place){parent.walk, buf_text(path), parent.dynamic};
}

/* Compares the members of "properties" or of "fields". */
static void mapdiff_compare_members(struct mapdiff_place place, const char *live_dynamic,
                                    const char *which, struct json_object *configured_parent,
                                    struct json_object *live_parent)
{
    struct json_object *configured = json_tree_member(configured_parent, which);
    struct json_object *live = json_tree_member(live_parent, which);
    bool fields = strcmp(which, "fields") == 0;
    struct buf path;
    buf_init(&path, PATH_MAX_BYTES);
    for (struct json_members m = json_tree_members(configured); json_tree_next(&m);) {
        struct mapdiff_place at = mapdiff_below(place, m.name, &path);
        if (place.walk->abandoned) {
            break;
        }
        if (json_tree_has(live, m.name)) {
            mapdiff_compare_property(at, live_dynamic, m.value, json_tree_member(live, m.name));
        } else {
            mapdiff_add_whole(at, MAPDIFF_ADDED, m.value);
        }
    }
    bool grows = strcmp(place.dynamic, "strict") != 0 && strcmp(place.dynamic, "false") != 0;
    struct json_object *kept = fields || !grows ? live : NULL;
    for (struct json_members m = json_tree_members(kept); json_tree_next(&m);) {
        bool own = place.path[0] == '\0' && strcmp(m.name, "source_id") == 0;
        if (!json_tree_has(configured, m.name) && !own) {
            mapdiff_add_whole(mapdiff_below(place, m.name, &path), MAPDIFF_REMOVED, m.value);
        }
    }
    buf_release(&path);
}

static void mapdiff_compare_property(struct mapdiff_place place, const char *live_dynamic,
                                     struct json_object *configured, struct json_object *live)
{
    const char *type = mapdiff_type_of(configured);
    if (strcmp(type, mapdiff_type_of(live)) != 0) {
        mapdiff_add_changed_word(place, "type", mapdiff_type_of(live), type);
        return;
    }
    place.dynamic = mapdiff_dynamic_of(configured, place.dynamic);
    live_dynamic = mapdiff_dynamic_of(live, live_dynamic);
    mapdiff_compare_dynamic(place, live_dynamic, configured, live);
    mapdiff_compare_parameters(place, configured, live);
    mapdiff_compare_members(place, live_dynamic, "properties", configured, live);
    mapdiff_compare_members(place, live_dynamic, "fields", configured, live);
}

/* --- names with dots -------------------------------------------------------------------------- */

/* Returns the object of that name, which is created if it does not exist. */
static struct json_object *mapdiff_object_in(struct json_object *parent, const char *name)
{
    struct json_object *found = json_tree_member(parent, name);
    if (!json_tree_is_object(found)) {
        found = json_build_object();
        json_build_member(parent, name, found);
    }
    return found;
}

static const char *mapdiff_dot_in(const char *name)
{
    const char *dot = strchr(name, '.');
    return dot == NULL || dot == name || dot[1] == '\0' ? NULL : dot;
}

static void mapdiff_put_property(struct json_object *into, const char *name,
                                 struct json_object *value)
{
    for (const char *dot; (dot = mapdiff_dot_in(name)) != NULL; name = dot + 1) {
        char *first = text_copy_span(span_make(name, (size_t)(dot - name)));
        into = mapdiff_object_in(mapdiff_object_in(into, first), "properties");
        free(first);
    }
    json_build_member(into, name, json_object_get(value));
}

static unsigned mapdiff_levels_of(const char *name)
{
    unsigned levels = 1;
    for (const char *dot; levels <= MAX_LEVELS && (dot = mapdiff_dot_in(name)) != NULL;
         name = dot + 1) {
        levels++;
    }
    return levels;
}

/* Expands names with dots: {"a.b": P} equals {"a": {"properties": {"b": P}}} for the service.
 * `level` is the parent's. Returns null if the result is deeper than MAX_LEVELS. */
static struct json_object *mapdiff_spelt_out(struct json_object *properties, unsigned level)
{
    struct json_object *out = json_build_object();
    for (struct json_members m = json_tree_members(properties); json_tree_next(&m);) {
        unsigned below_level = level + mapdiff_levels_of(m.name);
        struct json_object *inner = json_tree_member(m.value, "properties");
        bool deep = below_level > MAX_LEVELS;
        if (!deep && json_tree_is_object(inner)) {
            inner = mapdiff_spelt_out(inner, below_level);
            deep = inner == NULL;
            json_build_member(m.value, "properties", inner);
        }
        if (deep) {
            json_object_put(out);
            return NULL;
        }
        mapdiff_put_property(out, m.name, m.value);
    }
    return out;
}

/* Returns null if the text is not a JSON object or too deep, which sets *deep. */
static struct json_object *mapdiff_parse(const char *json, bool *deep)
{
    struct json_object *object = json_tree_of(json);
    struct json_object *properties = json_tree_member(object, "properties");
    bool good = json_tree_is_object(object);
    *deep = false;
    if (json_tree_is_object(properties) &&
        !(json_tree_has(object, "subobjects") &&
          !json_object_get_boolean(json_tree_member(object, "subobjects")))) {
        properties = mapdiff_spelt_out(properties, 0);
        good = properties != NULL;
        *deep = !good;
        json_build_member(object, "properties", properties);
    }
    if (!good) {
        json_object_put(object);
        return NULL;
    }
    return object;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int mapdiff_refuse(struct mapdiff *out, struct err *err)
{
    mapdiff_release(out);
    err_set(err, ERR_REJECTED,
            "cannot compare the index's mapping with the configured one: it is "
            "larger or deeper than a mapping can be");
    return err_hint(err,
                    "at most %d levels of properties, paths of %d bytes and %d MiB of "
                    "differences are compared",
                    MAX_LEVELS, PATH_MAX_BYTES, (int)(LINES_MAX_BYTES >> 20));
}

static void mapdiff_compare(struct mapdiff_walk *walk, struct json_object *want,
                            struct json_object *is)
{
    struct mapdiff_place root = {walk, "", mapdiff_dynamic_of(want, "strict")};
    const char *live_dynamic = mapdiff_dynamic_of(is, "true");
    mapdiff_compare_dynamic(root, live_dynamic, want, is);
    mapdiff_compare_parameters(root, want, is);
    mapdiff_compare_members(root, live_dynamic, "properties", want, is);
}

int mapdiff_make(struct mapdiff *out, const char *configured, const char *live, struct err *err)
{
    bool deep[2];
    struct mapdiff_walk walk = {.out = out};
    *out = (struct mapdiff){0};
    struct json_object *want = mapdiff_parse(configured, &deep[0]);
    struct json_object *is = mapdiff_parse(live, &deep[1]);
    int rc = 0;
    if (want == NULL && !deep[0]) {
        rc = err_set(err, ERR_CONFIG, "\"mappings\" is not a JSON object");
    } else if (is == NULL && !deep[1]) {
        rc = err_set(err, ERR_TRANSIENT, "the index's mapping is not a JSON object");
    } else if (want != NULL && is != NULL) {
        mapdiff_compare(&walk, want, is);
    }
    json_object_put(want);
    json_object_put(is);
    if (rc == 0 && (deep[0] || deep[1] || walk.abandoned)) {
        return mapdiff_refuse(out, err);
    }
    out->additive = out->count > 0;
    for (size_t i = 0; i < out->count; i++) {
        out->additive &= out->lines[i].additive;
    }
    return rc;
}

void mapdiff_release(struct mapdiff *d)
{
    for (size_t i = 0; i < d->count; i++) {
        free(d->lines[i].path);
        free(d->lines[i].parameter);
        free(d->lines[i].live);
        free(d->lines[i].configured);
    }
    free(d->lines);
    *d = (struct mapdiff){0};
}

const char *mapdiff_kind_name(enum mapdiff_kind kind)
{
    static const char *const names[] = {"added", "removed", "changed"};
    return names[kind];
}

void mapdiff_describe(struct buf *out, const struct mapdiff_line *line)
{
    buf_printf(out, "%s: %s", line->path[0] != '\0' ? line->path : "the mapping",
               mapdiff_kind_name(line->kind));
    if (line->kind != MAPDIFF_CHANGED) {
        buf_printf(out, " %s", line->kind == MAPDIFF_ADDED ? line->configured : line->live);
        return;
    }
    buf_printf(out, " %s from %s to %s", line->parameter,
               line->live != NULL ? line->live : "its default",
               line->configured != NULL ? line->configured : "its default");
}

static bool mapdiff_added_in(const struct mapdiff *d, const char *property)
{
    size_t len = strlen(property);
    for (size_t i = 0; i < d->count; i++) {
        const char *path = d->lines[i].path;
        if (d->lines[i].additive && strncmp(path, property, len) == 0 &&
            (path[len] == '\0' || path[len] == '.')) {
            return true;
        }
    }
    return false;
}

void mapdiff_additions(struct buf *out, const struct mapdiff *d, const char *configured)
{
    bool deep;
    struct json_object *want = mapdiff_parse(configured, &deep);
    struct json_object *added = json_build_object();
    struct json_object *properties = json_tree_member(want, "properties");
    for (struct json_members m = json_tree_members(properties); json_tree_next(&m);) {
        if (mapdiff_added_in(d, m.name)) {
            json_build_member(added, m.name, json_object_get(m.value));
        }
    }
    buf_push_text(out, json_build_string(added, ONE_LINE));
    json_object_put(added);
    json_object_put(want);
}
