/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over "[0:1]={{a,"b, c"},{NULL,d}}". */
#include "array.h"

#include <string.h>

#include "rowferry/base/buf.h"

#define ARRAY_MAX_DEPTH 6 /* PostgreSQL's MAXDIM */

static const char malformed[] = "not an array";

struct walk {
    struct buf *out;
    struct buf *scratch;
    const char *at;
    const char *end;
    const struct type_pair *element;
    char delimiter;
};

/* What has no form in JSON keeps its place. */
static type_refusal push_element(struct walk *w, const char *text, size_t len)
{
    type_refusal refusal = type_convert(w->out, text, len, w->element);
    if (refusal == type_absent) {
        buf_push_literal(w->out, "null");
        return NULL;
    }
    return refusal;
}

/* From behind the opening quote; leaves `at` behind the closing one. */
static type_refusal quoted_element(struct walk *w)
{
    const char *start = w->at;
    while (w->at < w->end && *w->at != '"' && *w->at != '\\') {
        w->at++;
    }
    if (w->at < w->end && *w->at == '"') {
        return push_element(w, start, (size_t)(w->at++ - start));
    }
    buf_reset(w->scratch);
    buf_push(w->scratch, start, (size_t)(w->at - start));
    while (w->at < w->end && *w->at != '"') {
        w->at += *w->at == '\\';
        if (w->at == w->end) {
            break;
        }
        buf_push_char(w->scratch, *w->at++);
    }
    if (w->at == w->end) {
        return malformed;
    }
    w->at++;
    if (w->scratch->failed) {
        w->out->failed = true;
        return NULL;
    }
    return push_element(w, buf_text(w->scratch), w->scratch->len);
}

static type_refusal bare_element(struct walk *w)
{
    const char *start = w->at;
    while (w->at < w->end && *w->at != w->delimiter && *w->at != '}') {
        w->at++;
    }
    size_t len = (size_t)(w->at - start);
    if (len == 0) {
        return malformed;
    }
    if (len == 4 && memcmp(start, "NULL", 4) == 0) {
        buf_push_literal(w->out, "null");
        return NULL;
    }
    return push_element(w, start, len);
}

static type_refusal element(struct walk *w)
{
    if (*w->at != '"') {
        return bare_element(w);
    }
    w->at++;
    return quoted_element(w);
}

/* One step behind a value: to the next element, or out of a dimension. */
static type_refusal separator(struct walk *w, int *depth)
{
    if (*w->at == '}') {
        buf_push_char(w->out, ']');
        --*depth;
    } else if (*w->at == w->delimiter) {
        buf_push_char(w->out, ',');
    } else {
        return malformed;
    }
    w->at++;
    return NULL;
}

static type_refusal walk_array(struct walk *w)
{
    int depth = 0;
    bool value_follows = true; /* else a separator */
    do {
        type_refusal refusal = NULL;
        if (w->at == w->end || depth > ARRAY_MAX_DEPTH) {
            return malformed;
        }
        if (value_follows && *w->at == '{') {
            buf_push_char(w->out, '[');
            depth++;
            w->at++;
            value_follows = w->at == w->end || *w->at != '}';
        } else if (value_follows) {
            refusal = element(w);
            value_follows = false;
        } else {
            value_follows = *w->at == w->delimiter;
            refusal = separator(w, &depth);
        }
        if (refusal != NULL) {
            return refusal;
        }
    } while (depth > 0);
    return w->at == w->end ? NULL : malformed;
}

type_refusal convert_array(struct buf *out, const char *text, size_t len,
                           const struct type_pair *pair)
{
    struct type_inner *inner = pair->inner;
    struct walk w = {out, &inner->scratch, text, text + len, &inner->pairs[0], inner->delimiter};
    if (len > 0 && text[0] == '[') {
        const char *bounds = memchr(text, '=', len);
        w.at = bounds != NULL ? bounds + 1 : w.end;
    }
    if (w.at == w.end || *w.at != '{') {
        return malformed;
    }
    return walk_array(&w);
}
