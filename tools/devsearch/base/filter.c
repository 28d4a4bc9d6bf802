/* SPDX-License-Identifier: Apache-2.0 */
/* Reduces an answer to the requested paths. */
#include "base/filter.h"
#include "base/glob.h"
#include "base/reader.h"

#include <stdlib.h>

#define FILTER_MAX_PATHS 64

/* The rest of each path below the current value. */
struct paths {
    const char *rest[FILTER_MAX_PATHS];
    size_t count;
    bool whole; /* a path ends here: everything below is kept */
};

static size_t part_length(const char *rest)
{
    return strcspn(rest, ".,");
}

static void keep_rest(struct paths *p, const char *rest, size_t n)
{
    if (rest[n] != '.') {
        p->whole = true;
    } else if (p->count < FILTER_MAX_PATHS) {
        p->rest[p->count++] = rest + n + 1;
    }
}

static struct paths step(const struct paths *p, struct span key)
{
    struct paths next = {.count = 0};
    for (size_t i = 0; i < p->count; i++) {
        const char *rest = p->rest[i];
        size_t n = part_length(rest);
        if (n == 2 && rest[0] == '*' && rest[1] == '*') {
            if (next.count < FILTER_MAX_PATHS) {
                next.rest[next.count++] = rest;
            }
            if (rest[n] == '.') {
                rest += n + 1;
                n = part_length(rest);
            }
        }
        if (glob_matches(span_make(rest, n), key)) {
            keep_rest(&next, rest, n);
        }
    }
    return next;
}

static int filter_value(struct reader *r, const struct paths *p, struct buf *out);

static int filter_members(struct reader *r, const struct paths *p, struct buf *out)
{
    struct members mark = {0};
    struct span key;
    size_t kept = 0;
    int more = reader_enter(r);
    buf_push_char(out, '{');
    while (more == 0 && (more = reader_member(r, &mark, &key)) > 0) {
        struct paths next = step(p, key);
        size_t from = out->len;
        buf_push_text(out, kept > 0 ? "," : "");
        push_json(out, key);
        buf_push_char(out, ':');
        more = filter_value(r, &next, out);
        if (more > 0) {
            kept++;
            more = 0;
        } else {
            buf_truncate(out, from);
        }
    }
    buf_push_char(out, '}');
    return more < 0 ? -1 : kept > 0 ? 1 : 0;
}

static int filter_elements(struct reader *r, const struct paths *p, struct buf *out)
{
    bool begun = false;
    size_t kept = 0;
    int more = reader_enter(r);
    buf_push_char(out, '[');
    while (more == 0 && (more = reader_element(r, &begun)) > 0) {
        size_t from = out->len;
        buf_push_text(out, kept > 0 ? "," : "");
        more = filter_value(r, p, out);
        if (more > 0) {
            kept++;
            more = 0;
        } else {
            buf_truncate(out, from);
        }
    }
    buf_push_char(out, ']');
    return more < 0 ? -1 : kept > 0 ? 1 : 0;
}

/* Returns 1 if something was kept, 0 if not. */
static int filter_value(struct reader *r, const struct paths *p, struct buf *out)
{
    enum token token = reader_peek(r);
    struct span raw;
    if (!p->whole && p->count > 0 && token == TOKEN_OBJECT) {
        return filter_members(r, p, out);
    }
    if (!p->whole && p->count > 0 && token == TOKEN_ARRAY) {
        return filter_elements(r, p, out);
    }
    if (reader_skip(r, &raw) != 0) {
        return -1;
    }
    if (p->whole) {
        buf_push(out, raw.data, raw.len);
    }
    return p->whole ? 1 : 0;
}

int filter_answer(struct span json, const char *paths, struct buf *out)
{
    struct reader r;
    struct paths all = {.count = 0};
    for (const char *at = paths; *at != '\0' && all.count < FILTER_MAX_PATHS;) {
        all.rest[all.count++] = at;
        at += strcspn(at, ",");
        at += *at == ',' ? 1 : 0;
    }
    reader_init(&r, json);
    r.checked = true;
    int rc = filter_value(&r, &all, out);
    reader_release(&r);
    return rc < 0 ? -1 : 0;
}
