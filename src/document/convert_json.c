/* SPDX-License-Identifier: Apache-2.0 */
/* JSON copied to one line, and vectors. PostgreSQL has checked the JSON: only what could break the
 * request's lines or its depth is looked at. */
#include "convert_json.h"

#include <string.h>

#include "convert_number.h"
#include "quote.h"
#include "rowferry/base/buf.h"

static const char not_json[] = "not valid JSON";

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Copies a string from its opening quote to its closing one; null where it does not end. */
static const char *copy_string(char **to, const char *from, const char *end)
{
    *(*to)++ = *from++;
    while (from < end) {
        size_t plain = quote_copy_plain(*to, from, (size_t)(end - from));
        *to += plain;
        from += plain;
        if (from == end || (unsigned char)*from < 0x20) {
            return NULL;
        }
        char mark = *from++;
        *(*to)++ = mark;
        if (mark == '"') {
            return from;
        }
        if (from == end || (unsigned char)*from < 0x20) {
            return NULL;
        }
        *(*to)++ = *from++;
    }
    return NULL;
}

/* to has room for all of the text. */
static type_refusal copy_json(char **to, const char *from, const char *end)
{
    int depth = 0;
    while (from < end) {
        char c = *from;
        if (c == '"') {
            from = copy_string(to, from, end);
            if (from == NULL) {
                return not_json;
            }
            continue;
        }
        from++;
        if (is_blank(c)) {
            continue;
        }
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        if (depth < 0 || (unsigned char)c < 0x20) {
            return not_json;
        }
        if (depth > JSON_MAX_DEPTH) {
            return "JSON that is nested more than 200 deep";
        }
        *(*to)++ = c;
    }
    return depth == 0 ? NULL : not_json;
}

type_refusal convert_json(struct buf *out, const char *text, size_t len,
                          const struct property *property)
{
    (void)property;
    if (!buf_reserve(out, len)) {
        return NULL;
    }
    char *to = out->data + out->len;
    type_refusal refusal = copy_json(&to, text, text + len);
    if (refusal != NULL || to == out->data + out->len) {
        return refusal != NULL ? refusal : not_json;
    }
    *to = '\0';
    out->len = (size_t)(to - out->data);
    return NULL;
}

type_refusal convert_object(struct buf *out, const char *text, size_t len,
                            const struct property *property)
{
    size_t start = out->len;
    type_refusal refusal = convert_json(out, text, len, property);
    if (refusal != NULL || out->failed) {
        return refusal;
    }
    char first = out->data[start];
    return first == '{' || first == '[' || first == 'n' ? NULL : "a JSON scalar for an object";
}

/* One number of a vector up to ',' or the closing bracket. */
static type_refusal push_component(struct buf *out, const char **at, const char *end,
                                   const struct property *property)
{
    const char *from = *at;
    while (from < end && *from == ' ') {
        from++;
    }
    const char *to = from;
    while (to < end && *to != ',' && *to != ' ' && *to != '}' && *to != ']') {
        to++;
    }
    *at = to;
    while (*at < end && **at == ' ') {
        (*at)++;
    }
    return convert_float(out, from, (size_t)(to - from), property) == NULL
               ? NULL
               : "a vector with something else than finite numbers";
}

static type_refusal push_components(struct buf *out, const char *from, const char *end,
                                    const struct property *property)
{
    int64_t count = 0;
    buf_push_char(out, '[');
    for (;;) {
        type_refusal refusal = push_component(out, &from, end, property);
        if (refusal != NULL) {
            return refusal;
        }
        count++;
        if (from == end || *from != ',') {
            break;
        }
        buf_push_char(out, ',');
        from++;
    }
    buf_push_char(out, ']');
    if (from + 1 != end || (*from != '}' && *from != ']')) {
        return "not a vector";
    }
    bool fits = property->dimension <= 0 || count == property->dimension;
    return fits ? NULL : "a vector of another dimension than the mapping's";
}

type_refusal convert_vector(struct buf *out, const char *text, size_t len,
                            const struct property *property)
{
    const char *end = text + len;
    if (len == 4 && memcmp(text, "null", 4) == 0) {
        buf_push(out, text, len);
        return NULL;
    }
    const char *bounds = memchr(text, '=', len);
    const char *from = bounds != NULL ? bounds + 1 : text;
    if (from == end || (*from != '{' && *from != '[')) {
        return "not a vector";
    }
    return push_components(out, from + 1, end, property);
}
