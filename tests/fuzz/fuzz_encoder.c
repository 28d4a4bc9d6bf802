/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole row through a plan with many converters. The bytes 0xfe and 0xff, which do not occur in
 * UTF-8, end a field; after 0xfe the next field is NULL. The first field is the key.
 */
#include <string.h>

#include "fuzz.h"

#define OF_TYPE(name) "{\"type\":\"" name "\"}"

static const struct fuzz_pair pairs[] = {
    {"text", OF_TYPE("text")},
    {"int8", OF_TYPE("long")},
    {"numeric", OF_TYPE("double")},
    {"text[]", OF_TYPE("keyword")},
    {"bytea", OF_TYPE("binary")},
    {"timestamptz", OF_TYPE("date")},
    {"bool", OF_TYPE("boolean")},
    {"jsonb", OF_TYPE("object")},
    {"float4[]", "{\"type\":\"dense_vector\",\"dims\":2}"},
    {"inet", OF_TYPE("ip_range")},
    {"bpchar", OF_TYPE("keyword")},
    {"jsonb[]", OF_TYPE("nested")},
};

#define COUNT (sizeof(pairs) / sizeof(pairs[0]))
#define JSON_FIELD 8
#define JSON_ARRAY_FIELD 12

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_plan plan;
    struct value values[COUNT + 1];
    char *texts[COUNT + 1];
    bool null = false;
    if (plan.columns.count == 0) {
        fuzz_plan(&plan, pairs, COUNT);
    }
    for (size_t i = 0; i <= COUNT; i++) {
        size_t len = 0;
        while (len < size && data[len] < 0xfe) {
            len++;
        }
        texts[i] = fuzz_text(data, len);
        values[i] = (struct value){.text = texts[i], .len = len, .null = null || size == 0};
        null = len < size && data[len] == 0xfe;
        data += len < size ? len + 1 : len;
        size -= len < size ? len + 1 : len;
    }
    bool json = values[JSON_ARRAY_FIELD].null &&
                (values[JSON_FIELD].null || json_valid(texts[JSON_FIELD], values[JSON_FIELD].len));
    fuzz_row(&plan, values, COUNT + 1, json);
    for (size_t i = 0; i <= COUNT; i++) {
        free(texts[i]);
    }
    return 0;
}
