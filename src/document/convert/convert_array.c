/* SPDX-License-Identifier: Apache-2.0 */
/* Converts array texts such as "[0:1]={{a,"b, c"},{NULL,d}}". */
#include "convert/converters.h"

#include <string.h>

#include "rowferry/base/buf.h"

#define CONVERT_ARRAY_MAX_DEPTH 6 /* PostgreSQL's MAXDIM */

static const char malformed[] = "not an array";

struct array_walk {
    struct buf *out;
    struct buf *scratch;
    const char *at;
    const char *end;
    const struct type_pair *element;
    char delimiter;
    bool drops_nulls;
    bool one_value;
    bool any; /* a non-null element has been written */
};

static type_refusal convert_array_push_null(struct array_walk *w)
{
    if (!w->drops_nulls) {
        buf_push_literal(w->out, "null");
    }
    return NULL;
}

/* Writes an element. A value without a JSON form counts as NULL. */
static type_refusal convert_array_push_element(struct array_walk *w, const char *text, size_t len)
{
    if (w->one_value && w->any) {
        return "an array of several values, of which the service takes one";
    }
    w->any = true;
    type_refusal refusal = type_convert(w->out, text, len, w->element);
    return refusal == type_absent ? convert_array_push_null(w) : refusal;
}

/* Leaves `at` behind the closing quote. */
static type_refusal convert_array_quoted_element(struct array_walk *w)
{
    const char *start = w->at + 1;
    const char *at = start;
    while (at < w->end && *at != '"' && *at != '\\') {
        at++;
    }
    w->at = at;
    if (w->at < w->end && *w->at == '"') {
        return convert_array_push_element(w, start, (size_t)(w->at++ - start));
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
    return convert_array_push_element(w, buf_text(w->scratch), w->scratch->len);
}

static type_refusal convert_array_bare_element(struct array_walk *w)
{
    const char *start = w->at;
    const char *at = start;
    while (at < w->end && *at != w->delimiter && *at != '}') {
        at++;
    }
    w->at = at;
    size_t len = (size_t)(at - start);
    if (len == 0) {
        return malformed;
    }
    if (len == 4 && memcmp(start, "NULL", 4) == 0) {
        return convert_array_push_null(w);
    }
    return convert_array_push_element(w, start, len);
}

static bool convert_array_ends_with(const struct array_walk *w, char byte)
{
    return w->drops_nulls && !w->out->failed && w->out->data[w->out->len - 1] == byte;
}

/* Steps from a value, which may have been left out, to the next one or out of a dimension. */
static type_refusal convert_array_separator(struct array_walk *w, int *depth)
{
    if (*w->at == '}') {
        if (convert_array_ends_with(w, ',')) {
            buf_truncate(w->out, w->out->len - 1);
        }
        buf_push_char(w->out, ']');
        --*depth;
    } else if (*w->at == w->delimiter) {
        if (!convert_array_ends_with(w, '[') && !convert_array_ends_with(w, ',')) {
            buf_push_char(w->out, ',');
        }
    } else {
        return malformed;
    }
    w->at++;
    return NULL;
}

static type_refusal convert_array_walk(struct array_walk *w)
{
    int depth = 0;
    bool value_follows = true; /* else a separator */
    do {
        type_refusal refusal = NULL;
        if (w->at == w->end || depth > CONVERT_ARRAY_MAX_DEPTH) {
            return malformed;
        }
        if (value_follows && *w->at == '{') {
            buf_push_char(w->out, '[');
            depth++;
            w->at++;
            value_follows = w->at == w->end || *w->at != '}';
        } else if (value_follows) {
            refusal =
                *w->at == '"' ? convert_array_quoted_element(w) : convert_array_bare_element(w);
            value_follows = false;
        } else {
            value_follows = *w->at == w->delimiter;
            refusal = convert_array_separator(w, &depth);
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
    struct array_walk w = {.out = out,
                           .scratch = &inner->scratch,
                           .at = text,
                           .end = text + len,
                           .element = &inner->pairs[0],
                           .delimiter = inner->delimiter,
                           .drops_nulls = inner->drops_nulls,
                           .one_value = inner->one_value};
    if (len > 0 && text[0] == '[') {
        const char *bounds = memchr(text, '=', len);
        w.at = bounds != NULL ? bounds + 1 : w.end;
    }
    if (w.at == w.end || *w.at != '{') {
        return malformed;
    }
    return convert_array_walk(&w);
}
