/* SPDX-License-Identifier: Apache-2.0 */
/* Proposes properties for JSON values. Members on which all values of a sample agree are mapped;
 * all others are stored in the document but not searched. */
#include <stdlib.h>
#include <string.h>

#include "propose/propose_private.h"
#include "rowferry/base/text.h"

#define MOST_MEMBERS 60 /* more members mean that data is used as names */
#define TITLE_BYTES 256

void propose_json_shape_release(struct shape *s)
{
    for (size_t i = 0; i < s->member_count; i++) {
        propose_json_shape_release(&s->members[i]);
    }
    free(s->members);
    free(s->name);
    *s = (struct shape){0};
}

static size_t propose_json_scalars(const struct shape *s)
{
    return s->strings + s->numbers + s->booleans;
}

/* Returns true if a document's path can contain the name. */
static bool propose_json_is_plain(const char *name)
{
    return name[0] != '\0' && strchr(name, '.') == NULL && name[strspn(name, " \t")] != '\0';
}

/* The service refuses an empty name at any level below a mapped object. */
static bool propose_json_has_nameless(const struct shape *s)
{
    for (size_t i = 0; i < s->member_count; i++) {
        if (s->members[i].name[0] == '\0' || propose_json_has_nameless(&s->members[i])) {
            return true;
        }
    }
    return false;
}

static bool propose_json_is_open(const struct shape *s)
{
    return s->cut || s->member_count > MOST_MEMBERS || s->member_count == 0 ||
           propose_json_has_nameless(s);
}

static bool propose_json_has_one_kind(const struct shape *s)
{
    return (s->objects > 0) + (s->strings > 0) + (s->numbers > 0) + (s->booleans > 0) == 1;
}

static bool propose_json_is_mapped(const struct shape *s)
{
    bool lists_some = s->listed > 0 && s->listed < s->objects;
    return propose_json_is_plain(s->name) && propose_json_has_one_kind(s) && !lists_some &&
           !(s->objects > 0 && propose_json_is_open(s));
}

static void propose_json_string(struct proposed *out, const struct shape *s)
{
    if (s->dates == s->strings) {
        propose_set(out, "\"type\": \"date\", \"ignore_malformed\": true");
        propose_note(out, "dates");
    } else if (s->longest > TITLE_BYTES) {
        propose_set(out, "\"type\": \"text\"");
        propose_note(out, "long strings");
    } else if (s->words * 2 > s->strings) {
        propose_text_both(out);
        propose_note(out, "words");
    } else {
        propose_set(out, "\"type\": \"keyword\", \"ignore_above\": %d", PROPOSE_WORD_BYTES);
        propose_note(out, "strings");
    }
}

static void propose_json_scalar(struct proposed *out, const struct shape *s)
{
    if (s->strings > 0) {
        propose_json_string(out, s);
    } else if (s->numbers > 0) {
        propose_set(out, "\"type\": \"%s\", \"ignore_malformed\": true",
                    s->whole == s->numbers ? "long" : "double");
        propose_note(out, s->whole == s->numbers ? "whole numbers" : "numbers");
    } else {
        propose_set(out, "\"type\": \"boolean\"");
        propose_note(out, "true or false");
    }
}

static void propose_json_object(struct proposed *out, const struct shape *s)
{
    size_t left = 0;
    propose_set(out, "\"type\": \"%s\", \"dynamic\": false", s->listed > 0 ? "nested" : "object");
    for (size_t i = 0; i < s->member_count; i++) {
        const struct shape *m = &s->members[i];
        if (!propose_json_is_mapped(m)) {
            left++;
            continue;
        }
        struct proposed *child = propose_child(out, m->name);
        if (m->objects > 0) {
            propose_json_object(child, m);
        } else {
            propose_json_scalar(child, m);
        }
    }
    propose_note(out, "%s; other members are kept, not searched",
                 s->listed > 0 ? "lists of objects" : "objects");
    if (left > 0) {
        propose_note(out, " (%zu of several kinds)", left);
    }
}

void propose_unmapped(struct proposed *out, const char *why)
{
    propose_set(out, "\"type\": \"object\", \"enabled\": false");
    propose_note(out, "%skept, not searched", why);
}

void propose_anything(struct proposed *out, const struct proposer *how)
{
    const char *type = how->product == PROPOSE_OPENSEARCH      ? "flat_object"
                       : how->product == PROPOSE_ELASTICSEARCH ? "flattened"
                                                               : NULL;
    if (type != NULL && !how->in_json) {
        propose_set(out, "\"type\": \"%s\"", type);
        propose_note(out, ", searched as a whole by %s", type);
    } else {
        propose_unmapped(out, ", ");
    }
}

void propose_shape(struct proposed *out, const struct shape *s, const struct proposer *how)
{
    bool whole_object = s != NULL && s->objects > 0 && propose_json_scalars(s) == 0 &&
                        (s->listed == 0 || s->listed == s->objects);
    if (whole_object && !propose_json_is_open(s)) {
        propose_note(out, ", ");
        propose_json_object(out, s);
    } else if (whole_object && !propose_json_has_nameless(s) && s->listed == 0 &&
               s->member_count > 0) {
        propose_note(out, ", names that are data");
        propose_anything(out, how);
    } else if (s != NULL && s->objects == 0 && propose_json_has_one_kind(s)) {
        propose_note(out, ", ");
        propose_json_scalar(out, s);
    } else {
        propose_unmapped(out, s == NULL || (s->objects == 0 && propose_json_scalars(s) == 0)
                                  ? ", no values to examine yet: "
                                  : ", values of several kinds: ");
    }
}
