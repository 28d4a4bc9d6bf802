/* SPDX-License-Identifier: Apache-2.0 */
/* PostgreSQL's array text, with elements of every kind. */
#include "fuzz.h"

static const struct fuzz_pair pairs[] = {
    {"text[]", "{\"type\":\"keyword\"}"},     {"text[]", "{\"type\":\"text\"}"},
    {"int4[]", "{\"type\":\"long\"}"},        {"int4[]", "{\"type\":\"byte\"}"},
    {"numeric[]", "{\"type\":\"double\"}"},   {"bool[]", "{\"type\":\"boolean\"}"},
    {"timestamptz[]", "{\"type\":\"date\"}"}, {"bytea[]", "{\"type\":\"binary\"}"},
    {"jsonb[]", "{\"type\":\"object\"}"},     {"bpchar[]", "{\"type\":\"keyword\"}"},
    {"inet[]", "{\"type\":\"ip_range\"}"},    {"mood[]", "{\"type\":\"keyword\"}"},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_value(pairs, sizeof(pairs) / sizeof(pairs[0]), data, size);
    return 0;
}
