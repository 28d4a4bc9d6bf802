/* SPDX-License-Identifier: Apache-2.0 */
/* Converters of what already is JSON, or a vector: re-emitted on one line. */
#ifndef ROWFERRY_DOCUMENT_CONVERT_JSON_H
#define ROWFERRY_DOCUMENT_CONVERT_JSON_H

#include "rowferry/document/type.h"

#define JSON_MAX_DEPTH 200

/* The JSON without the blanks between its parts; order and numbers as they are. */
type_refusal convert_json(struct buf *out, const char *text, size_t len,
                          const struct type_pair *pair);
/* The same for an object field: an object, an array or null. */
type_refusal convert_object(struct buf *out, const char *text, size_t len,
                            const struct type_pair *pair);
/* "{1,2}", "[0:1]={1,2}" or "[1, 2]" as [1,2]; as many as the property's dimension, where said. */
type_refusal convert_vector(struct buf *out, const char *text, size_t len,
                            const struct type_pair *pair);

#endif
