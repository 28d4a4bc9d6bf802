/* SPDX-License-Identifier: Apache-2.0 */
/* Two mappings walked side by side. */
#include "rowferry/document/mapdiff.h"
#include "rowferry/document/json_made.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "mapping_default.h"
#include "rowferry/base/text.h"
#include "rowferry/document/json_same.h"

#define MAX_DEPTH 100
#define PATH_MAX_BYTES 65536
#define ONE_LINE (JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)

/* Where the walk stands. */
struct place {
    struct mapdiff *out;
    const char *path;    /* "" = the root */
    const char *dynamic; /* of the object, inherited; as configured */
};

static struct json_object *member(struct json_object *object, const char *name)
{
    struct json_object *value = NULL;
    return json_object_is_type(object, json_type_object) &&
                   json_object_object_get_ex(object, name, &value)
               ? value
               : NULL;
}

static bool has(struct json_object *object, const char *name)
{
    return json_object_is_type(object, json_type_object) &&
           json_object_object_get_ex(object, name, NULL);
}

static char *json_text(struct json_object *value)
{
    return text_copy(json_made_string(value, ONE_LINE));
}

static struct mapdiff_line *add_line(struct place place, enum mapdiff_kind kind)
{
    struct mapdiff *d = place.out;
    d->lines = mem_grow(d->lines, d->count + 1, sizeof(*d->lines));
    struct mapdiff_line *line = &d->lines[d->count++];
    *line = (struct mapdiff_line){.kind = kind, .path = text_copy(place.path)};
    return line;
}

static void add_changed(struct place place, const char *parameter, bool was,
                        struct json_object *live, bool is, struct json_object *configured)
{
    struct mapdiff_line *line = add_line(place, MAPDIFF_CHANGED);
    line->parameter = text_copy(parameter);
    line->live = was ? json_text(live) : NULL;
    line->configured = is ? json_text(configured) : NULL;
}

/* --- values ----------------------------------------------------------------------------------- */

static bool same(struct json_object *a, struct json_object *b);

/* The text that a scalar would have without quotes: "true" is true, "100" is 100.0. */
static bool same_scalar(struct json_object *a, struct json_object *b)
{
    const char *x = json_object_get_string(a);
    const char *y = json_object_get_string(b);
    x = x != NULL ? x : "null";
    y = y != NULL ? y : "null";
    return strcmp(x, y) == 0 || json_scalar_same(span_make(x, strlen(x)), span_make(y, strlen(y)));
}

static bool same_array(struct json_object *a, struct json_object *b)
{
    size_t n = json_object_array_length(a);
    if (json_object_array_length(b) != n) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (!same(json_object_array_get_idx(a, i), json_object_array_get_idx(b, i))) {
            return false;
        }
    }
    return true;
}

/* Says no more than if it were not there: the "parameters" of a vector's method, for example. */
static bool is_empty(struct json_object *value)
{
    return json_object_is_type(value, json_type_object) && json_object_object_length(value) == 0;
}

static bool all_within(struct json_object *a, struct json_object *b)
{
    json_object_object_foreach(a, name, value)
    {
        if (!is_empty(value) && (!has(b, name) || !same(value, member(b, name)))) {
            return false;
        }
    }
    return true;
}

static bool same_object(struct json_object *a, struct json_object *b)
{
    return all_within(a, b) && all_within(b, a);
}

static bool is_container(struct json_object *value)
{
    return json_object_is_type(value, json_type_array) ||
           json_object_is_type(value, json_type_object);
}

/* One value of a list is as good as the list (copy_to). */
static bool same(struct json_object *a, struct json_object *b)
{
    bool lists[2] = {json_object_is_type(a, json_type_array),
                     json_object_is_type(b, json_type_array)};
    if (lists[0] && lists[1]) {
        return same_array(a, b);
    }
    if (lists[0] || lists[1]) {
        struct json_object *list = lists[0] ? a : b;
        return json_object_array_length(list) == 1 &&
               same(json_object_array_get_idx(list, 0), lists[0] ? b : a);
    }
    if (is_container(a) && is_container(b)) {
        return same_object(a, b);
    }
    return !is_container(a) && !is_container(b) && same_scalar(a, b);
}

/* --- parameters ------------------------------------------------------------------------------- */

static const char *type_of(struct json_object *property)
{
    struct json_object *type = member(property, "type");
    return json_object_is_type(type, json_type_string) ? json_object_get_string(type) : "object";
}

/* Of the one that is unsaid on the other side. An analyzer for searches is the other one. */
static bool is_default(struct json_object *property, const char *type, const char *name,
                       struct json_object *value)
{
    const char *twin = strcmp(name, "search_analyzer") == 0         ? "analyzer"
                       : strcmp(name, "search_quote_analyzer") == 0 ? "search_analyzer"
                                                                    : NULL;
    struct json_object *other = twin != NULL ? member(property, twin) : NULL;
    if (twin != NULL && other == NULL) {
        other = member(property, "analyzer");
    }
    return other != NULL ? same(other, value)
                         : mapping_is_default(type, name, json_object_get_string(value));
}

/* What is walked by itself, or no part of the mapping. */
static bool apart(const char *name, bool root)
{
    static const char *const names[] = {"properties", "fields", "type", "dynamic"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return root && (strcmp(name, "_meta") == 0 || strcmp(name, "_data_stream_timestamp") == 0);
}

static void compare_parameters(struct place place, struct json_object *configured,
                               struct json_object *live)
{
    bool root = place.path[0] == '\0';
    const char *type = root ? "" : type_of(configured);
    json_object_object_foreach(configured, name, value)
    {
        if (apart(name, root)) {
            continue;
        }
        bool told = has(live, name);
        bool equal =
            told ? same(value, member(live, name)) : is_default(configured, type, name, value);
        if (!equal) {
            add_changed(place, name, told, member(live, name), true, value);
        }
    }
    json_object_object_foreach(live, other, found)
    {
        if (!apart(other, root) && !has(configured, other) &&
            !is_default(live, type, other, found)) {
            add_changed(place, other, true, found, false, NULL);
        }
    }
}

/* Unsaid it is inherited, and at the root "strict", as it is sent. */
static const char *dynamic_of(struct json_object *object, const char *inherited)
{
    struct json_object *dynamic = member(object, "dynamic");
    return dynamic != NULL ? json_object_get_string(dynamic) : inherited;
}

static void compare_dynamic(struct place place, const char *live_dynamic,
                            struct json_object *configured, struct json_object *live)
{
    bool said = place.path[0] == '\0' || has(configured, "dynamic") || has(live, "dynamic");
    if (said && strcmp(place.dynamic, live_dynamic) != 0) {
        struct json_object *want = json_made_text(place.dynamic);
        struct json_object *is = json_made_text(live_dynamic);
        add_changed(place, "dynamic", true, is, true, want);
        json_object_put(want);
        json_object_put(is);
    }
}

/* --- properties ------------------------------------------------------------------------------- */

static void compare_property(struct place place, const char *live_dynamic,
                             struct json_object *configured, struct json_object *live);

/* A dynamic object grows by itself. */
static bool grows(const char *dynamic)
{
    return strcmp(dynamic, "strict") != 0 && strcmp(dynamic, "false") != 0;
}

static void add_whole(struct place place, enum mapdiff_kind kind, struct json_object *value)
{
    struct mapdiff_line *line = add_line(place, kind);
    line->additive = kind == MAPDIFF_ADDED;
    *(kind == MAPDIFF_ADDED ? &line->configured : &line->live) = json_text(value);
}

static struct place below(struct place parent, const char *name, struct buf *path)
{
    buf_reset(path);
    buf_printf(path, "%s%s%s", parent.path, parent.path[0] != '\0' ? "." : "", name);
    return (struct place){parent.out, buf_text(path), parent.dynamic};
}

/* The members of "properties" or of "fields". */
static void compare_members(struct place place, const char *live_dynamic, const char *which,
                            struct json_object *configured_parent, struct json_object *live_parent)
{
    struct json_object *configured = member(configured_parent, which);
    struct json_object *live = member(live_parent, which);
    bool fields = strcmp(which, "fields") == 0;
    struct buf path;
    buf_init(&path, PATH_MAX_BYTES);
    if (json_object_is_type(configured, json_type_object)) {
        json_object_object_foreach(configured, name, value)
        {
            struct place at = below(place, name, &path);
            if (has(live, name)) {
                compare_property(at, live_dynamic, value, member(live, name));
            } else {
                add_whole(at, MAPDIFF_ADDED, value);
            }
        }
    }
    if (json_object_is_type(live, json_type_object) && (fields || !grows(place.dynamic))) {
        json_object_object_foreach(live, other, found)
        {
            bool own = place.path[0] == '\0' && strcmp(other, "source_id") == 0;
            if (!has(configured, other) && !own) {
                add_whole(below(place, other, &path), MAPDIFF_REMOVED, found);
            }
        }
    }
    buf_release(&path);
}

static void compare_property(struct place place, const char *live_dynamic,
                             struct json_object *configured, struct json_object *live)
{
    const char *type = type_of(configured);
    if (strcmp(type, type_of(live)) != 0) {
        struct json_object *want = json_made_text(type);
        struct json_object *is = json_made_text(type_of(live));
        add_changed(place, "type", true, is, true, want);
        json_object_put(want);
        json_object_put(is);
        return;
    }
    place.dynamic = dynamic_of(configured, place.dynamic);
    live_dynamic = dynamic_of(live, live_dynamic);
    compare_dynamic(place, live_dynamic, configured, live);
    compare_parameters(place, configured, live);
    compare_members(place, live_dynamic, "properties", configured, live);
    compare_members(place, live_dynamic, "fields", configured, live);
}

/* --- names with dots -------------------------------------------------------------------------- */

static void put_property(struct json_object *into, const char *name, struct json_object *value);

/* {"a.b": P} is {"a": {"properties": {"b": P}}} to the service, in whatever order it comes. */
static struct json_object *spelt_out(struct json_object *properties)
{
    struct json_object *out = json_made_object();
    json_object_object_foreach(properties, name, value)
    {
        struct json_object *inner = member(value, "properties");
        if (json_object_is_type(inner, json_type_object)) {
            json_made_member(value, "properties", spelt_out(inner));
        }
        put_property(out, name, value);
    }
    return out;
}

static void put_property(struct json_object *into, const char *name, struct json_object *value)
{
    const char *dot = strchr(name, '.');
    if (dot == NULL || dot == name || dot[1] == '\0') {
        json_made_member(into, name, json_object_get(value));
        return;
    }
    char *first = text_copy_span(span_make(name, (size_t)(dot - name)));
    struct json_object *parent = member(into, first);
    if (parent == NULL) {
        parent = json_made_object();
        json_made_member(into, first, parent);
    }
    if (!has(parent, "properties")) {
        json_made_member(parent, "properties", json_made_object());
    }
    put_property(member(parent, "properties"), dot + 1, value);
    free(first);
}

static struct json_object *parse(const char *json)
{
    struct json_tokener *tokener = json_made_tokener(MAX_DEPTH);
    struct json_object *object = json_made_parsed(tokener, json, strlen(json) + 1);
    json_tokener_free(tokener);
    if (!json_object_is_type(object, json_type_object)) {
        json_object_put(object);
        return NULL;
    }
    struct json_object *properties = member(object, "properties");
    if (json_object_is_type(properties, json_type_object) &&
        !(has(object, "subobjects") && !json_object_get_boolean(member(object, "subobjects")))) {
        json_made_member(object, "properties", spelt_out(properties));
    }
    return object;
}

/* --- the whole -------------------------------------------------------------------------------- */

int mapdiff_make(struct mapdiff *out, const char *configured, const char *live, struct err *err)
{
    *out = (struct mapdiff){0};
    struct json_object *want = parse(configured);
    struct json_object *is = parse(live);
    int rc = 0;
    if (want == NULL) {
        rc = err_set(err, ERR_CONFIG, "\"mappings\" is no JSON object");
    } else if (is == NULL) {
        rc = err_set(err, ERR_TRANSIENT, "the index's mapping is no JSON object");
    } else {
        struct place root = {out, "", dynamic_of(want, "strict")};
        const char *live_dynamic = dynamic_of(is, "true");
        compare_dynamic(root, live_dynamic, want, is);
        compare_parameters(root, want, is);
        compare_members(root, live_dynamic, "properties", want, is);
    }
    json_object_put(want);
    json_object_put(is);
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

void mapdiff_say(struct buf *out, const struct mapdiff_line *line)
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

static bool added_in(const struct mapdiff *d, const char *property)
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
    struct json_object *want = parse(configured);
    struct json_object *added = json_made_object();
    struct json_object *properties = member(want, "properties");
    if (json_object_is_type(properties, json_type_object)) {
        json_object_object_foreach(properties, name, value)
        {
            if (added_in(d, name)) {
                json_made_member(added, name, json_object_get(value));
            }
        }
    }
    buf_push_text(out, json_made_string(added, ONE_LINE));
    json_object_put(added);
    json_object_put(want);
}
