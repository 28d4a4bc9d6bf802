/* SPDX-License-Identifier: Apache-2.0 */
/* Converts numbers, digit for digit; refuses those that the mapping type cannot hold. */
#pragma once

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

/* Returns why a JSON number does not fit that type, or null. */
type_refusal convert_number_refusal(const char *text, size_t len, enum number number);
