/* SPDX-License-Identifier: Apache-2.0 */
/* Copies JSON to one line. PostgreSQL has validated it, so only errors that could break the
 * request's lines or its depth are detected. */
#include "convert/convert_json.h"

#include <string.h>

#include "convert/convert_number.h"
#include "convert/json_check.h"
#include "rowferry/base/buf.h"
#include "json/json_unique.h"
#include "json/quote.h"

static const char not_json[] = "not valid JSON";

enum part { PART_OTHER, PART_STRING, PART_BLANK, PART_OPEN, PART_CLOSE };

static const unsigned char parts[256] = {
    ['\t'] = PART_BLANK, ['\n'] = PART_BLANK, ['\r'] = PART_BLANK,
    [' '] = PART_BLANK,  ['{'] = PART_OPEN,   ['['] = PART_OPEN,
    ['}'] = PART_CLOSE,  [']'] = PART_CLOSE,  ['"'] = PART_STRING,
};

struct copy {
    char *to;
    const char *from;
    const char *end;
};

/* Copies a string from its opening quote to its closing one. Returns false if it is
 * unterminated. */
static inline bool convert_json_copy_string(struct copy *c)
{
    char *to = c->to;
    const char *from = c->from;
    *to++ = *from++;
    while (from < c->end) {
        size_t plain = quote_copy_plain(to, from, (size_t)(c->end - from));
        to += plain;
        from += plain;
        if (from == c->end || (unsigned char)*from < 0x20) {
            return false;
        }
        char mark = *from++;
        *to++ = mark;
        if (mark == '"') {
            c->to = to;
            c->from = from;
            return true;
        }
        if (from == c->end || (unsigned char)*from < 0x20) {
            return false;
        }
        *to++ = *from++;
    }
    return false;
}

/* Properties of the JSON, found while copying. */
struct shape {
    int depth;
    bool jsonb; /* no repeated names, no NUL in a string */
};

/* c->to has room for the whole text. */
static type_refusal convert_json_copy(struct copy *c, struct shape *shape)
{
    int depth = 0;
    while (c->from < c->end) {
        unsigned char part = parts[(unsigned char)*c->from];
        if (part == PART_STRING) {
            if (!convert_json_copy_string(c)) {
                return not_json;
            }
            continue;
        }
        char byte = *c->from++;
        if (part == PART_BLANK) {
            continue;
        }
        *c->to++ = byte;
        if (part == PART_OTHER) {
            if ((unsigned char)byte < 0x20) {
                return not_json;
            }
            continue;
        }
        depth += part == PART_OPEN ? 1 : -1;
        if (depth < 0) {
            return not_json;
        }
        shape->depth = depth > shape->depth ? depth : shape->depth;
    }
    return depth == 0 ? NULL : not_json;
}

static type_refusal convert_json_push(struct buf *out, const char *text, size_t len,
                                      struct shape *shape)
{
    if (!buf_reserve(out, len)) {
        return NULL;
    }
    struct copy copy = {out->data + out->len, text, text + len};
    type_refusal refusal = convert_json_copy(&copy, shape);
    if (refusal != NULL || copy.to == out->data + out->len) {
        return refusal != NULL ? refusal : not_json;
    }
    *copy.to = '\0';
    out->len = (size_t)(copy.to - out->data);
    return shape->depth > JSON_MAX_DEPTH ? "JSON that is nested more than 999 deep" : NULL;
}

static void convert_json_drop_repeated_names(struct buf *out, size_t start)
{
    size_t len = out->len - start;
    if (!json_unique(out->data + start, &len)) {
        out->failed = true; /* memory is exhausted: not the row's fault */
        return;
    }
    out->len = start + len;
    out->data[out->len] = '\0';
}

/* Returns true if a quick look suffices to see that the property accepts the value in `out` from
 * `start` on. */
static bool convert_json_fits_at_a_glance(const struct buf *out, size_t start,
                                          const struct property *p, const struct shape *shape)
{
    bool object = out->data[start] == '{';
    switch (p->family) {
    case FAMILY_OTHER:
        return true;
    case FAMILY_OBJECT:
        return !p->enabled || (object && p->child_count == 0 && !p->strict);
    case FAMILY_FLAT:
        return object && out->len - start + 2 * (p->name_len + 1) <= JSON_TERM_BYTES &&
               (p->depth_limit == 0 ||
                (shape->depth <= p->depth_limit &&
                 (shape->jsonb || strstr(out->data + start, "\\u0000") == NULL)));
    default:
        return p->lenient;
    }
}

static type_refusal convert_json_convert(struct buf *out, const char *text, size_t len,
                                         const struct property *property, bool jsonb)
{
    size_t start = out->len;
    struct shape shape = {.jsonb = jsonb};
    type_refusal refusal = convert_json_push(out, text, len, &shape);
    if (refusal == NULL && !out->failed && !jsonb) {
        convert_json_drop_repeated_names(out, start);
    }
    if (refusal != NULL || out->failed ||
        convert_json_fits_at_a_glance(out, start, property, &shape)) {
        return refusal;
    }
    return json_check(out, start, property);
}

type_refusal convert_json(struct buf *out, const char *text, size_t len,
                          const struct type_pair *pair)
{
    return convert_json_convert(out, text, len, pair->property, false);
}

type_refusal convert_jsonb(struct buf *out, const char *text, size_t len,
                           const struct type_pair *pair)
{
    return convert_json_convert(out, text, len, pair->property, true);
}
