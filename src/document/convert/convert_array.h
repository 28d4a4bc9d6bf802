/* SPDX-License-Identifier: Apache-2.0 */
/* PostgreSQL's array text as a JSON array, element by element through a converter. */
#ifndef ROWFERRY_DOCUMENT_CONVERT_ARRAY_H
#define ROWFERRY_DOCUMENT_CONVERT_ARRAY_H

#include "rowferry/document/convert/type.h"

/* Any dimensions, lower bounds left out, NULL elements as null. */
type_refusal convert_array(struct buf *out, const char *text, size_t len,
                           const struct type_pair *pair);

#endif
