/* SPDX-License-Identifier: Apache-2.0 */
/* Converts numbers, digit for digit; refuses those that the mapping type cannot hold. */
#pragma once

#include "rowferry/base/text.h"
#include "rowferry/document/convert/type.h"

type_refusal convert_byte(struct buf *out, const char *text, size_t len,
                          const struct type_pair *pair);
type_refusal convert_short(struct buf *out, const char *text, size_t len,
                           const struct type_pair *pair);
type_refusal convert_integer(struct buf *out, const char *text, size_t len,
                             const struct type_pair *pair);
type_refusal convert_long(struct buf *out, const char *text, size_t len,
                          const struct type_pair *pair);
type_refusal convert_unsigned_long(struct buf *out, const char *text, size_t len,
                                   const struct type_pair *pair);
type_refusal convert_half_float(struct buf *out, const char *text, size_t len,
                                const struct type_pair *pair);
type_refusal convert_float(struct buf *out, const char *text, size_t len,
                           const struct type_pair *pair);
type_refusal convert_double(struct buf *out, const char *text, size_t len,
                            const struct type_pair *pair);

enum coordinate {
    LATITUDE,
    LONGITUDE,
    SHAPE_LONGITUDE, /* of a geo_shape, where it may exceed a full turn */
};

/* Returns why a number is not such a coordinate, or null. */
type_refusal convert_coordinate_refusal(struct span number, enum coordinate coordinate);
