/* SPDX-License-Identifier: Apache-2.0 */
/* hstore's text. */
#include "fuzz.h"

static const struct fuzz_pair pairs[] = {
    {"hstore", "{\"type\":\"flattened\"}"},
    {"hstore[]", "{\"type\":\"nested\"}"},
    {"hstore", "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"byte\"}}}"},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_value(pairs, sizeof(pairs) / sizeof(pairs[0]), data, size);
    return 0;
}
