/* SPDX-License-Identifier: Apache-2.0 */
/* PostgreSQL's array text as a JSON array, element by element through a converter. */
#ifndef ROWFERRY_DOCUMENT_ARRAY_H
#define ROWFERRY_DOCUMENT_ARRAY_H

#include "rowferry/document/type.h"

/* Any dimensions, lower bounds left out, NULL elements as null. scratch: for elements that hold
 * escapes; its content is lost. */
type_refusal array_convert(struct buf *out, struct buf *scratch, const char *text, size_t len,
                           type_converter convert, const struct property *property);

#endif
