/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converters of vectors, which are looked at as the service would: the number of components (the
 * mapping's dims or dimension; of bits an eighth of it), numbers that a float can hold (whole ones
 * of -128 to 127 for elements of bytes or bits), and a length that the similarity can work with.
 */
#ifndef ROWFERRY_DOCUMENT_CONVERT_VECTOR_H
#define ROWFERRY_DOCUMENT_CONVERT_VECTOR_H

#include "rowferry/document/convert/type.h"

/* "{1,2}", "[0:1]={1,2}" or "[1, 2]" as [1,2]. */
type_refusal convert_vector(struct buf *out, const char *text, size_t len,
                            const struct type_pair *pair);
/* pgvector's "{1:1.5,3:2}/5" as [1.5,0,2,0,0]. */
type_refusal convert_sparse_vector(struct buf *out, const char *text, size_t len,
                                   const struct type_pair *pair);
/* The same as {"1":1.5,"3":2}: features with weights above zero. */
type_refusal convert_features(struct buf *out, const char *text, size_t len,
                              const struct type_pair *pair);

#endif
