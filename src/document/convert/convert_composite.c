/* SPDX-License-Identifier: Apache-2.0 */
/* Converts composite texts such as (1,"x ""y""",). */
#include "convert/converters.h"

#include "convert/pg_fields.h"

static const char malformed[] = "a composite that cannot be read";

/* Returns the name without the quotes and the colon of `"city":`. */
static struct span convert_composite_field_name(const struct type_pair *field)
{
    return span_make(field->name + 1, field->name_len - 3);
}

/* Writes one field with its name. *first is true until a field has been written. */
static type_refusal convert_composite_push_field(struct field_cursor *c, struct span value,
                                                 const struct type_pair *field, bool *first)
{
    struct buf *out = c->out;
    size_t start = out->len;
    if (!*first) {
        buf_push_char(out, ',');
    }
    buf_push(out, field->name, field->name_len);
    type_refusal refusal = type_convert(out, value.data, value.len, field);
    if (refusal != type_absent) {
        *first = false;
        return refusal == NULL ? NULL
                               : pg_fields_refuse(c, refusal, convert_composite_field_name(field));
    }
    if (!out->failed) {
        buf_truncate(out, start);
    }
    return NULL;
}

static type_refusal convert_composite_push_fields(struct field_cursor *c,
                                                  const struct type_inner *inner)
{
    bool first = true;
    for (size_t i = 0; i < inner->count; i++) {
        struct span value;
        bool quoted;
        if ((i > 0 && !cursor_takes(c, ',')) || !pg_fields_read(&value, &quoted, c, ",)")) {
            return malformed;
        }
        if (!quoted && value.len == 0) {
            continue;
        }
        type_refusal refusal = convert_composite_push_field(c, value, &inner->pairs[i], &first);
        if (refusal != NULL) {
            return refusal;
        }
    }
    return cursor_takes(c, ')') && c->at == c->end ? NULL : malformed;
}

type_refusal convert_composite(struct buf *out, const char *text, size_t len,
                               const struct type_pair *pair)
{
    struct field_cursor c = {text, text + len, out, &pair->inner->scratch};
    if (!cursor_takes(&c, '(')) {
        return malformed;
    }
    buf_push_char(out, '{');
    type_refusal refusal = convert_composite_push_fields(&c, pair->inner);
    if (refusal == NULL) {
        buf_push_char(out, '}');
    }
    return refusal;
}
