/* SPDX-License-Identifier: Apache-2.0 */
/* Converts hstore texts such as "a"=>"1", "b\"c"=>NULL. */
#include "convert/converters.h"

#include "convert/pg_fields.h"
#include "json/quote.h"

static const char malformed[] = "an hstore that cannot be read";

/* Returns the pair of the child of that name, or null. */
static const struct type_pair *convert_hstore_find_child(const struct type_inner *inner,
                                                         struct span key)
{
    for (size_t i = 0; i < inner->count; i++) {
        if (span_is(key, inner->pairs[i].property->name)) {
            return &inner->pairs[i];
        }
    }
    return NULL;
}

static type_refusal convert_hstore_push_value(struct buf *out, struct field_cursor *c,
                                              const struct type_pair *pair,
                                              const struct type_pair *child)
{
    struct span value;
    bool quoted;
    if (!pg_fields_read(&value, &quoted, c, ",")) {
        return malformed;
    }
    if (!quoted) {
        buf_push_literal(out, "null");
        return span_is(value, "NULL") ? NULL : malformed;
    }
    if (child == NULL) {
        return convert_string(out, value.data, value.len, pair);
    }
    type_refusal refusal = type_convert(out, value.data, value.len, child);
    return refusal == NULL
               ? NULL
               : pg_fields_refuse(c, refusal,
                                  span_make(child->property->name, child->property->name_len));
}

static type_refusal convert_hstore_push_item(struct buf *out, struct field_cursor *c,
                                             const struct type_pair *pair)
{
    struct span key;
    bool quoted;
    if (!pg_fields_read(&key, &quoted, c, "=") || !quoted) {
        return malformed;
    }
    const struct type_pair *child = convert_hstore_find_child(pair->inner, key);
    if (child == NULL && !pair->inner->open) {
        return "an hstore with a key that the mapping does not name";
    }
    quote_push(out, key.data, key.len); /* before the value overwrites the scratch */
    buf_push_char(out, ':');
    if (!cursor_takes(c, '=') || !cursor_takes(c, '>')) {
        return malformed;
    }
    return convert_hstore_push_value(out, c, pair, child);
}

type_refusal convert_hstore(struct buf *out, const char *text, size_t len,
                            const struct type_pair *pair)
{
    struct field_cursor c = {text, text + len, out, &pair->inner->scratch};
    buf_push_char(out, '{');
    while (c.at < c.end) {
        type_refusal refusal = convert_hstore_push_item(out, &c, pair);
        if (refusal != NULL) {
            return refusal;
        }
        if (cursor_takes(&c, ',')) {
            buf_push_char(out, ',');
            if (!cursor_takes(&c, ' ') || c.at == c.end) {
                return malformed;
            }
        } else if (c.at < c.end) {
            return malformed;
        }
    }
    buf_push_char(out, '}');
    return NULL;
}
