/* SPDX-License-Identifier: Apache-2.0 */
/* Converters of what already is JSON: re-emitted on one line. */
#ifndef ROWFERRY_DOCUMENT_CONVERT_JSON_H
#define ROWFERRY_DOCUMENT_CONVERT_JSON_H

#include "rowferry/document/convert/type.h"

/* Both services' parser (Jackson) reads 1,000 levels; the document is the first. */
#define JSON_MAX_DEPTH 999

/* The JSON without the blanks between its parts, numbers and escapes as they are, checked against
 * the property (json_check.h). Of the members of an object that have the same name the last one. */
type_refusal convert_json(struct buf *out, const char *text, size_t len,
                          const struct type_pair *pair);
/* The same of a jsonb, which never repeats a name. */
type_refusal convert_jsonb(struct buf *out, const char *text, size_t len,
                           const struct type_pair *pair);

#endif
