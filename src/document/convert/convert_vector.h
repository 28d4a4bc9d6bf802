/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts vectors, with the service's own checks. The number of components must match the
 * mapping's dims or dimension (an eighth of it for bits). The numbers must fit a float, or be
 * integers from -128 to 127 for elements of bytes or bits. The length must be usable by the
 * similarity.
 */
#pragma once

#include "rowferry/document/convert/type.h"

/* Converts "{1,2}", "[0:1]={1,2}" or "[1, 2]" to [1,2]. */
type_refusal convert_vector(struct buf *out, const char *text, size_t len,
                            const struct type_pair *pair);
/* Converts pgvector's "{1:1.5,3:2}/5" to [1.5,0,2,0,0]. */
type_refusal convert_sparse_vector(struct buf *out, const char *text, size_t len,
                                   const struct type_pair *pair);
/* Converts the same to {"1":1.5,"3":2}: features with weights above zero. */
type_refusal convert_features(struct buf *out, const char *text, size_t len,
                              const struct type_pair *pair);
