/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors as arrays of numbers, as JSON, and in pgvector's form. */
#include "fuzz.h"

static const struct fuzz_pair pairs[] = {
    {"float4[]", "{\"type\":\"dense_vector\",\"dims\":3}"},
    {"numeric[]", "{\"type\":\"dense_vector\"}"},
    {"vector", "{\"type\":\"knn_vector\",\"dimension\":2}"},
    {"halfvec", "{\"type\":\"knn_vector\"}"},
    {"jsonb", "{\"type\":\"dense_vector\"}"},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_value(pairs, sizeof(pairs) / sizeof(pairs[0]), data, size);
    return 0;
}
