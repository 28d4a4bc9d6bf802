/* SPDX-License-Identifier: Apache-2.0 */
/* One walk that records the names of the open objects and compares them when an object ends. */
#include "json/json_unique.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/document/json/json_compare.h"

#define FIRST_NAMES 64
#define FEW_NAMES 16 /* up to this number, compare every pair */

struct name {
    char *text; /* behind its quote, in the output; null: beginning of an object */
    size_t len; /* at the beginning of an object: the value of `first` for the enclosing one */
    bool escaped;
    bool dead; /* a later member has the same name */
};

struct unique_walk {
    char *to; /* end of the output */
    const char *from;
    const char *end;
    struct name *names; /* of the open objects, from the outermost on */
    size_t count;
    size_t capacity;
    size_t first;      /* index of the first name of the innermost object */
    struct name *heap; /* null while the caller's initial names suffice */
};

static int json_unique_compare(const struct name *a, const struct name *b)
{
    if (a->escaped || b->escaped) {
        return json_name_compare(span_make(a->text, a->len), span_make(b->text, b->len));
    }
    int order = memcmp(a->text, b->text, a->len < b->len ? a->len : b->len);
    return order != 0 ? order : (a->len > b->len) - (a->len < b->len);
}

static bool json_unique_same(const struct name *a, const struct name *b)
{
    bool plain = !a->escaped && !b->escaped;
    return (!plain || a->len == b->len) && json_unique_compare(a, b) == 0;
}

static int json_unique_by_place(const void *a, const void *b)
{
    const struct name *one = a;
    const struct name *other = b;
    return (one->text > other->text) - (one->text < other->text);
}

static int json_unique_by_name(const void *a, const void *b)
{
    int order = json_unique_compare(a, b);
    return order != 0 ? order : json_unique_by_place(a, b);
}

static bool json_unique_mark_few(struct name *names, size_t count)
{
    bool found = false;
    for (size_t i = 0; i + 1 < count; i++) {
        for (size_t j = i + 1; j < count && !names[i].dead; j++) {
            names[i].dead = json_unique_same(&names[i], &names[j]);
        }
        found |= names[i].dead;
    }
    return found;
}

static bool json_unique_mark_many(struct name *names, size_t count)
{
    bool found = false;
    qsort(names, count, sizeof(*names), json_unique_by_name);
    for (size_t i = 0; i + 1 < count; i++) {
        names[i].dead = json_unique_same(&names[i], &names[i + 1]);
        found |= names[i].dead;
    }
    if (found) {
        qsort(names, count, sizeof(*names), json_unique_by_place);
    }
    return found;
}

/* Removes the dead members. The last member is never dead, so each hole ends at a name. */
static void json_unique_close_holes(struct unique_walk *w, const struct name *names, size_t count)
{
    char *to = names[0].text - 1;
    for (size_t i = 0; i < count; i++) {
        const char *start = names[i].text - 1;
        const char *next = i + 1 < count ? names[i + 1].text - 1 : w->to;
        if (!names[i].dead) {
            memmove(to, start, (size_t)(next - start));
            to += next - start;
        }
    }
    w->to = to;
}

static bool json_unique_push(struct unique_walk *w, struct name name)
{
    if (w->count == w->capacity) {
        size_t capacity = w->capacity * 2;
        struct name *grown = realloc(w->heap, capacity * sizeof(*grown));
        if (grown == NULL) {
            return false;
        }
        if (w->heap == NULL) {
            memcpy(grown, w->names, w->count * sizeof(*grown));
        }
        w->heap = grown;
        w->names = grown;
        w->capacity = capacity;
    }
    w->names[w->count++] = name;
    return true;
}

static void json_unique_close_object(struct unique_walk *w)
{
    struct name *names = w->names + w->first;
    size_t count = w->count - w->first;
    if (count > 1 && (count <= FEW_NAMES ? json_unique_mark_few(names, count)
                                         : json_unique_mark_many(names, count))) {
        json_unique_close_holes(w, names, count);
    }
    w->count = w->first - 1;
    w->first = w->names[w->count].len;
}

static void json_unique_move(struct unique_walk *w, const char *until)
{
    size_t len = (size_t)(until - w->from);
    if (w->to != w->from) {
        memmove(w->to, w->from, len);
    }
    w->to += len;
    w->from = until;
}

/* Copies a string, and records it as a name if a colon follows. */
static bool json_unique_take_string(struct unique_walk *w)
{
    const char *close = json_string_end(w->from, w->end);
    const char *until = close != NULL ? close + 1 : w->end;
    char *text = w->to + 1;
    json_unique_move(w, until);
    if (until == w->end || *until != ':' || w->first == 0) {
        return true;
    }
    size_t len = (size_t)(w->to - 1 - text);
    bool escaped = memchr(text, '\\', len) != NULL;
    return json_unique_push(w, (struct name){.text = text, .len = len, .escaped = escaped});
}

static bool json_unique_walk(struct unique_walk *w)
{
    while (w->from < w->end) {
        char byte = *w->from;
        if (byte == '"') {
            if (!json_unique_take_string(w)) {
                return false;
            }
            continue;
        }
        if (byte == '{') {
            if (!json_unique_push(w, (struct name){.len = w->first})) {
                return false;
            }
            w->first = w->count;
        }
        if (byte == '}' && w->first > 0) {
            json_unique_close_object(w);
        }
        *w->to++ = byte;
        w->from++;
    }
    return true;
}

bool json_unique(char *text, size_t *len)
{
    struct name few[FIRST_NAMES];
    struct unique_walk w = {
        .to = text, .from = text, .end = text + *len, .names = few, .capacity = FIRST_NAMES};
    bool done = json_unique_walk(&w);
    *len = (size_t)(w.to - text);
    free(w.heap);
    return done;
}
