/* SPDX-License-Identifier: Apache-2.0 */
/* Walks through a value and the properties that it fills, in parallel. */
#include "convert/json_check.h"

#include <string.h>

#include "convert/convert_number.h"
#include "convert/json_walk.h"
#include "rowferry/base/ascii.h"
#include "rowferry/document/json/json_name.h"

#define NAME_BYTES 512 /* longest name with escapes that can match a property */
#define SAID_BYTES 100 /* maximum of each name in a path */
#define PATH_BYTES 512 /* maximum of the path in a refusal */

static void json_check_push_path(struct buf *out, const struct json_path *path)
{
    if (path->above != NULL) {
        json_check_push_path(out, path->above);
        buf_push_char(out, '.');
    }
    size_t len = text_cut(path->name.data, path->name.len, SAID_BYTES);
    buf_push(out, path->name.data, len);
    if (len < path->name.len) {
        buf_push_literal(out, "...");
    }
}

/* Writes `reason before"path"after`. Returns the reason alone if there is no room. The path is
 * copied first, because its names are in the same buffer and move with it. */
static type_refusal json_check_report(struct json_walk *w, const struct json_path *path,
                                      const char *reason, const char *before, const char *after)
{
    struct buf text;
    buf_init(&text, PATH_BYTES);
    json_check_push_path(&text, path);
    size_t start = w->out->len;
    buf_push_text(w->out, reason);
    buf_push_text(w->out, before);
    buf_push(w->out, buf_text(&text), text.len);
    buf_push_text(w->out, after);
    buf_release(&text);
    return w->out->failed ? reason : w->out->data + start;
}

type_refusal json_refuse(struct json_walk *w, const struct json_path *path, const char *reason)
{
    return path != NULL ? json_check_report(w, path, reason, " in \"", "\"") : reason;
}

/* Checks the value at the reader and steps behind it. */
static type_refusal json_check_walk_value(struct json_walk *w, const struct property *p,
                                          const struct json_path *path);

static type_refusal json_check_walk_elements(struct json_walk *w, const struct property *p,
                                             const struct json_path *path)
{
    struct json_reader *r = &w->reader;
    bool any = false;
    for (bool more = json_first(r); more; more = json_next(r)) {
        if (p->number == NUMBER_FEATURE && any && *r->at != 'n') {
            return json_refuse(w, path,
                               "an array of several values, of which the service takes one");
        }
        any |= *r->at != 'n';
        type_refusal refusal = json_check_walk_value(w, p, path);
        if (refusal != NULL) {
            return refusal;
        }
    }
    return NULL;
}

static const struct property *json_check_find_child(const struct property *p, struct span name)
{
    for (size_t i = 0; i < p->child_count; i++) {
        const struct property *child = &p->children[i];
        if (child->name_len == name.len && memcmp(child->name, name.data, name.len) == 0) {
            return child;
        }
    }
    return NULL;
}

/* Returns true if the mapping writes a child's path as one name, "a.b". Then members of "a" are not
 * looked up. */
static bool json_check_has_path(const struct property *p, struct span name)
{
    const char *dot = memchr(name.data, '.', name.len);
    size_t len = dot != NULL ? (size_t)(dot - name.data) : name.len;
    for (size_t i = 0; i < p->child_count; i++) {
        const struct property *child = &p->children[i];
        if (child->name_len > len && child->name[len] == '.' &&
            memcmp(child->name, name.data, len) == 0) {
            return true;
        }
    }
    return false;
}

/* Returns the child that a name refers to ("a.b" is b in a), or null if there is none. Then *parent
 * is the innermost object on the name's path, or null if that object accepts any member. */
static const struct property *json_check_resolve(const struct property **parent, struct span name)
{
    for (;;) {
        const struct property *child = json_check_find_child(*parent, name);
        const char *dot = memchr(name.data, '.', name.len);
        if (child != NULL) {
            return child;
        }
        const struct property *inner =
            dot != NULL
                ? json_check_find_child(*parent, span_make(name.data, (size_t)(dot - name.data)))
                : NULL;
        if (inner == NULL || inner->family != FAMILY_OBJECT || !inner->enabled) {
            bool anything = inner != NULL ? !inner->enabled : json_check_has_path(*parent, name);
            *parent = anything || !(*parent)->strict ? NULL : *parent;
            return NULL;
        }
        *parent = inner;
        name = span_make(dot + 1, (size_t)(name.data + name.len - dot - 1));
    }
}

/* Skips a member without a property, or refuses it if `strict`. A null is skipped even then,
 * because the products treat it differently. */
static type_refusal json_check_walk_unknown(struct json_walk *w, bool strict,
                                            const struct json_path *path)
{
    if (strict && *w->reader.at != 'n') {
        return json_check_report(w, path, "a member", " \"", "\" that the mapping does not have");
    }
    json_value(&w->reader);
    return NULL;
}

static type_refusal json_check_walk_member(struct json_walk *w, const struct property *p,
                                           const struct json_path *path)
{
    char decoded[NAME_BYTES];
    struct span name = path->name;
    if (name.len == 0) {
        return json_refuse(w, path->above, "a member with an empty name");
    }
    if (name.len <= sizeof(decoded) && memchr(name.data, '\\', name.len) != NULL) {
        name = span_make(decoded, json_name_decode(decoded, name));
    }
    const struct property *parent = p;
    const struct property *child = json_check_resolve(&parent, name);
    if (child == NULL) {
        return json_check_walk_unknown(w, parent != NULL, path);
    }
    return json_check_walk_value(w, child, path);
}

static type_refusal json_check_walk_members(struct json_walk *w, const struct property *p,
                                            const struct json_path *path)
{
    struct json_reader *r = &w->reader;
    for (bool more = json_first(r); more; more = json_next(r)) {
        struct json_path inner = {path, json_member(r)};
        type_refusal refusal = json_check_walk_member(w, p, &inner);
        if (refusal != NULL) {
            return refusal;
        }
    }
    return NULL;
}

static type_refusal json_check_walk_object(struct json_walk *w, const struct property *p,
                                           const struct json_path *path)
{
    switch (*w->reader.at) {
    case '{':
        if (p->child_count > 0 || p->strict) {
            return json_check_walk_members(w, p, path);
        }
        json_value(&w->reader);
        return NULL;
    case '[':
        return json_check_walk_elements(w, p, path);
    case 'n':
        json_value(&w->reader);
        return NULL;
    default:
        return json_refuse(w, path, "a JSON scalar for an object");
    }
}

/* The same check as for a text column; ignore_above counts UTF-16 units in both products. */
static type_refusal json_check_keyword(const struct property *p, struct span value)
{
    if (value.len <= JSON_TERM_BYTES || value.data[0] != '"' || p->unindexed) {
        return NULL;
    }
    struct json_measure m = json_measure(span_make(value.data + 1, value.len - 2));
    bool ignored = p->ignore_above > 0 && m.units > (uint64_t)p->ignore_above;
    return m.bytes > JSON_TERM_BYTES && !ignored ? "a keyword of more than 32766 bytes" : NULL;
}

static type_refusal json_check_number(const struct property *p, struct span value)
{
    if (value.data[0] == '"') {
        return NULL; /* the service parses it, as for a text column */
    }
    if (value.data[0] == 't' || value.data[0] == 'f') {
        return "a boolean for a number";
    }
    return convert_number_refusal(value.data, value.len, p->number);
}

static type_refusal json_check_scalar(const struct property *p, struct span value)
{
    switch (p->family) {
    case FAMILY_KEYWORD:
        return json_check_keyword(p, value);
    case FAMILY_NUMBER:
        return json_check_number(p, value);
    case FAMILY_BOOLEAN:
        return value.data[0] == '-' || ascii_is_digit(value.data[0]) ? "a number for a boolean"
                                                                     : NULL;
    default:
        return NULL;
    }
}

static type_refusal json_check_walk_scalar(struct json_walk *w, const struct property *p,
                                           const struct json_path *path)
{
    if (*w->reader.at == '[') {
        return json_check_walk_elements(w, p, path);
    }
    if (*w->reader.at == '{') {
        return json_refuse(w, path, "a JSON object for a scalar");
    }
    struct span value = json_value(&w->reader);
    bool null = value.len > 0 && value.data[0] == 'n';
    type_refusal refusal = null || value.len == 0 ? NULL : json_check_scalar(p, value);
    return refusal != NULL ? json_refuse(w, path, refusal) : NULL;
}

static type_refusal json_check_walk_value(struct json_walk *w, const struct property *p,
                                          const struct json_path *path)
{
    bool judged = p->family != FAMILY_OTHER && !p->lenient && p->enabled;
    switch (judged ? p->family : FAMILY_OTHER) {
    case FAMILY_OBJECT:
        return json_check_walk_object(w, p, path);
    case FAMILY_FLAT:
        return json_walk_flat(w, p, path);
    case FAMILY_PLACE:
        return json_walk_place(w, p, path);
    case FAMILY_FEATURES:
        return json_walk_features(w, path);
    case FAMILY_TEXT:
    case FAMILY_KEYWORD:
    case FAMILY_BOOLEAN:
    case FAMILY_NUMBER:
        return json_check_walk_scalar(w, p, path);
    case FAMILY_ALIAS:
        return json_refuse(w, path, "a value for an alias");
    case FAMILY_OTHER:
    default:
        json_value(&w->reader);
        return NULL;
    }
}

type_refusal json_check(struct buf *out, size_t start, const struct property *property)
{
    struct json_walk w = {{out->data + start, out->data + out->len}, out};
    return json_check_walk_value(&w, property, NULL);
}
