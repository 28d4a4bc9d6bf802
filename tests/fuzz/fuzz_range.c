/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges and multiranges of numbers, dates and addresses. */
#include "fuzz.h"

static const struct fuzz_pair pairs[] = {
    {"int4range(int4)", "{\"type\":\"integer_range\"}"},
    {"int8range(int8)", "{\"type\":\"long_range\"}"},
    {"numrange(numeric)", "{\"type\":\"double_range\"}"},
    {"floatrange(float8)", "{\"type\":\"float_range\"}"},
    {"tstzrange(timestamptz)", "{\"type\":\"date_range\"}"},
    {"daterange(date)", "{\"type\":\"date_range\"}"},
    {"int4multirange(int4range(int4))", "{\"type\":\"integer_range\"}"},
    {"tsmultirange(tsrange(timestamp))", "{\"type\":\"date_range\"}"},
    {"int4range(int4)[]", "{\"type\":\"integer_range\"}"},
    {"iprange(inet)", "{\"type\":\"ip_range\"}"},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_value(pairs, sizeof(pairs) / sizeof(pairs[0]), data, size);
    return 0;
}
