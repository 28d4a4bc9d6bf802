/* SPDX-License-Identifier: Apache-2.0 */
/* All types whose values have no parts. */
#include "fuzz.h"

static const struct fuzz_pair pairs[] = {
    {"text", "{\"type\":\"keyword\"}"},
    {"text", "{\"type\":\"keyword\",\"ignore_above\":2}"},
    {"bpchar", "{\"type\":\"text\"}"},
    {"bpchar", "{\"type\":\"keyword\"}"},
    {"int8", "{\"type\":\"byte\"}"},
    {"int8", "{\"type\":\"short\"}"},
    {"int8", "{\"type\":\"integer\"}"},
    {"int8", "{\"type\":\"long\"}"},
    {"int8", "{\"type\":\"unsigned_long\"}"},
    {"int8", "{\"type\":\"date\"}"},
    {"numeric", "{\"type\":\"unsigned_long\"}"},
    {"numeric", "{\"type\":\"half_float\"}"},
    {"numeric", "{\"type\":\"float\"}"},
    {"numeric", "{\"type\":\"double\"}"},
    {"numeric", "{\"type\":\"scaled_float\"}"},
    {"numeric", "{\"type\":\"keyword\"}"},
    {"float8", "{\"type\":\"long\"}"},
    {"float8", "{\"type\":\"double\"}"},
    {"float8", "{\"type\":\"rank_feature\"}"},
    {"bool", "{\"type\":\"boolean\"}"},
    {"bool", "{\"type\":\"keyword\"}"},
    {"date", "{\"type\":\"date\"}"},
    {"date", "{\"type\":\"date_nanos\"}"},
    {"timestamptz", "{\"type\":\"date\"}"},
    {"timestamptz", "{\"type\":\"date_nanos\"}"},
    {"timestamp", "{\"type\":\"date\"}"},
    {"timestamp", "{\"type\":\"date_nanos\"}"},
    {"bytea", "{\"type\":\"binary\"}"},
    {"inet", "{\"type\":\"ip\"}"},
    {"inet", "{\"type\":\"ip_range\"}"},
    {"tsvector", "{\"type\":\"keyword\"}"},
    {"tsvector", "{\"type\":\"text\"}"},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_value(pairs, sizeof(pairs) / sizeof(pairs[0]), data, size);
    return 0;
}
