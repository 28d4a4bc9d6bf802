/* SPDX-License-Identifier: Apache-2.0 */
/* Converts ranges such as [1,5) and {[1,3),["2024-01-01 00:00:00+00",)}. */
#include "convert/converters.h"

#include <strings.h>

#include "convert/pg_fields.h"

static const char malformed[] = "a range that cannot be read";

/* Returns true if the bound is infinite, as PostgreSQL writes it for dates and numbers. */
static bool convert_range_is_infinite(struct span bound, bool upper)
{
    static const char word[] = "infinity";
    size_t sign = !upper;
    return bound.len == sizeof(word) - 1 + sign && (upper || bound.data[0] == '-') &&
           strncasecmp(bound.data + sign, word, sizeof(word) - 1) == 0;
}

/* Reads a bound and appends it after its name. The closing bracket decides whether the upper bound
 * is inclusive. */
static type_refusal convert_range_push_bound(struct buf *out, struct field_cursor *c,
                                             const struct type_pair *bounds, bool upper,
                                             struct span name)
{
    struct span bound;
    bool quoted;
    if (!pg_fields_read(&bound, &quoted, c, ",)]")) {
        return malformed;
    }
    if (upper) {
        bool inclusive = c->at < c->end && *c->at == ']';
        name = inclusive ? span_make("\"lte\":", 6) : span_make("\"lt\":", 5);
    }
    if ((!quoted && bound.len == 0) || convert_range_is_infinite(bound, upper)) {
        return NULL;
    }
    if (out->len > 0 && out->data[out->len - 1] != '{') {
        buf_push_char(out, ',');
    }
    buf_push(out, name.data, name.len);
    return type_convert(out, bound.data, bound.len, bounds);
}

/* Converts one range and steps behind its closing bracket. */
static type_refusal convert_range_push(struct buf *out, struct field_cursor *c,
                                       const struct type_pair *bounds)
{
    bool inclusive = cursor_takes(c, '[');
    if (!inclusive && !cursor_takes(c, '(')) {
        return malformed;
    }
    struct span name = inclusive ? span_make("\"gte\":", 6) : span_make("\"gt\":", 5);
    buf_push_char(out, '{');
    type_refusal refusal = convert_range_push_bound(out, c, bounds, false, name);
    if (refusal == NULL) {
        refusal =
            cursor_takes(c, ',') ? convert_range_push_bound(out, c, bounds, true, name) : malformed;
    }
    if (refusal != NULL) {
        return refusal;
    }
    buf_push_char(out, '}');
    return cursor_takes(c, ']') || cursor_takes(c, ')') ? NULL : malformed;
}

type_refusal convert_range(struct buf *out, const char *text, size_t len,
                           const struct type_pair *pair)
{
    struct field_cursor c = {text, text + len, out, &pair->inner->scratch};
    if (span_is(span_make(text, len), "empty")) {
        return type_absent;
    }
    type_refusal refusal = convert_range_push(out, &c, &pair->inner->pairs[0]);
    return refusal != NULL || c.at == c.end ? refusal : malformed;
}

type_refusal convert_multirange(struct buf *out, const char *text, size_t len,
                                const struct type_pair *pair)
{
    struct field_cursor c = {text, text + len, out, &pair->inner->scratch};
    const struct type_pair *bounds = &pair->inner->pairs[0].inner->pairs[0];
    if (!cursor_takes(&c, '{')) {
        return malformed;
    }
    buf_push_char(out, '[');
    if (!cursor_takes(&c, '}')) {
        do {
            type_refusal refusal = convert_range_push(out, &c, bounds);
            if (refusal != NULL) {
                return refusal;
            }
            buf_push(out, ",", c.at < c.end && *c.at == ',');
        } while (cursor_takes(&c, ','));
        if (!cursor_takes(&c, '}')) {
            return malformed;
        }
    }
    buf_push_char(out, ']');
    return c.at == c.end ? NULL : malformed;
}
