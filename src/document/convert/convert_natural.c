/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a value for which no property defines a type. Values that JSON cannot represent (NaN,
 * infinity) become texts. */
#include "convert/converters.h"

#include <string.h>

static char any[] = "object";
const struct property natural_property = {.name = any, .type = any};

/* Calls the converter; writes a text if it refuses the value. */
#define OR_TEXT(type)                                                                              \
    static type_refusal type##_or_text(struct buf *out, const char *text, size_t len,              \
                                       const struct type_pair *pair)                               \
    {                                                                                              \
        size_t start = out->len;                                                                   \
        type_refusal refusal = convert_##type(out, text, len, pair);                               \
        if (refusal == NULL || refusal == type_absent || out->failed) {                            \
            return refusal;                                                                        \
        }                                                                                          \
        buf_truncate(out, start);                                                                  \
        return convert_string(out, text, len, pair);                                               \
    }

OR_TEXT(double)
OR_TEXT(date)
OR_TEXT(timestamp)
OR_TEXT(timestamptz)
OR_TEXT(vector)
OR_TEXT(geometry)

static const struct {
    const char *type;
    type_converter *convert;
} naturals[] = {
    {"int2", double_or_text},         {"int4", double_or_text},
    {"int8", double_or_text},         {"oid", double_or_text},
    {"numeric", double_or_text},      {"float4", double_or_text},
    {"float8", double_or_text},       {"bool", convert_bool},
    {"bpchar", convert_padded},       {"date", date_or_text},
    {"timestamp", timestamp_or_text}, {"timestamptz", timestamptz_or_text},
    {"json", convert_json},           {"jsonb", convert_jsonb},
    {"vector", vector_or_text},       {"halfvec", vector_or_text},
    {"geometry", geometry_or_text},   {"geography", geometry_or_text},
};

type_converter *convert_natural_converter(const struct column *column)
{
    for (size_t i = 0; i < sizeof(naturals) / sizeof(naturals[0]); i++) {
        if (column->category == 'b' && strcmp(column->type, naturals[i].type) == 0) {
            return naturals[i].convert;
        }
    }
    return convert_string;
}
