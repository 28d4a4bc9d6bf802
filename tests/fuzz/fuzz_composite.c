/* SPDX-License-Identifier: Apache-2.0 */
/* PostgreSQL's row text, with rows, arrays and scalars as fields. */
#include "fuzz.h"

static const struct fuzz_pair pairs[] = {
    {"pair(int8,text)", "{\"type\":\"flattened\"}"},
    {"pair(int8,text)[]", "{\"type\":\"nested\"}"},
    {"three(text[],float8,timestamptz)", "{\"type\":\"flattened\"}"},
    {"pair(int4range(int4),hstore)", "{\"type\":\"flattened\"}"},
    {"one(bytea)", "{\"type\":\"keyword\"}"},
    {"pair(text,jsonb)", "{\"type\":\"flattened\"}"},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_value(pairs, sizeof(pairs) / sizeof(pairs[0]), data, size);
    return 0;
}
