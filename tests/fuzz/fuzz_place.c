/* SPDX-License-Identifier: Apache-2.0 */
/* Geometric values in the forms of PostgreSQL and PostGIS, and sparse vectors. */
#include "fuzz.h"

static const struct fuzz_pair pairs[] = {
    {"point", "{\"type\":\"geo_point\"}"},
    {"point[]", "{\"type\":\"geo_point\"}"},
    {"path", "{\"type\":\"geo_shape\"}"},
    {"polygon", "{\"type\":\"geo_shape\"}"},
    {"box", "{\"type\":\"geo_shape\"}"},
    {"geometry", "{\"type\":\"geo_point\"}"},
    {"geometry", "{\"type\":\"geo_shape\"}"},
    {"geometry[]", "{\"type\":\"geo_point\"}"},
    {"pair(geometry,point)", "{\"type\":\"object\",\"enabled\":false}"},
    {"sparsevec", "{\"type\":\"dense_vector\",\"dims\":5}"},
    {"sparsevec", "{\"type\":\"rank_features\"}"},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_value(pairs, sizeof(pairs) / sizeof(pairs[0]), data, size);
    return 0;
}
