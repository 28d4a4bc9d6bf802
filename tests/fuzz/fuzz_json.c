/* SPDX-License-Identifier: Apache-2.0 */
/* JSON that PostgreSQL has validated, and texts that only resemble it. */
#include "fuzz.h"

#define CHILDREN                                                                                   \
    "{\"dynamic\":\"strict\",\"properties\":{\"a\":{\"properties\":{\"b\":{\"type\":\"byte\"}}},"  \
    "\"k\":{\"type\":\"keyword\"},\"f\":{\"type\":\"flattened\"},\"g\":{\"type\":\"geo_point\"}}}"

static const struct fuzz_pair pairs[] = {
    {"jsonb", "{\"type\":\"object\"}"},
    {"jsonb", "{\"type\":\"keyword\"}"},
    {"json", "{\"type\":\"nested\"}"},
    {"json", "{\"type\":\"flattened\"}"},
    {"json", "{\"type\":\"long\"}"},
    {"json", CHILDREN},
    {"jsonb", CHILDREN},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_value(pairs, sizeof(pairs) / sizeof(pairs[0]), data, size);
    return 0;
}
