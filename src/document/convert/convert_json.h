/* SPDX-License-Identifier: Apache-2.0 */
/* Converts json and jsonb: written on one line. */
#pragma once

#include "rowferry/document/convert/type.h"

/* Both services' parser (Jackson) reads 1,000 levels; the document is the first. */
#define JSON_MAX_DEPTH 999

/* Writes the JSON without white space between its parts, with numbers and escapes unchanged, and
 * checks it against the property (json_check.h). If an object repeats a name, the last member is
 * kept. */
type_refusal convert_json(struct buf *out, const char *text, size_t len,
                          const struct type_pair *pair);
/* The same for a jsonb, which never repeats a name. */
type_refusal convert_jsonb(struct buf *out, const char *text, size_t len,
                           const struct type_pair *pair);
