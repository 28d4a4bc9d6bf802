/* SPDX-License-Identifier: Apache-2.0 */
/* Converts json and jsonb: written on one line. */
#pragma once

#include "rowferry/document/convert/type.h"

/* Both services' parser (Jackson) reads 1,000 levels; the document is the first. */
#define JSON_MAX_DEPTH 999
/* OpenSearch 2.19 parses a flat_object by recursion. From 900 levels on, this overflowed the stack
 * of its thread in some of the trials; the bulk request with all its documents was never answered.
 */
#define FLAT_OBJECT_MAX_DEPTH 400

/*
 * Writes the JSON without white space between its parts, with numbers and escapes unchanged. If an
 * object repeats a name, the last member is kept, because the service refuses such a document.
 *
 * Does not check the content against the mapping. The services refuse what they cannot take with
 * the item's own status; the other documents of the request arrive. Measured with OpenSearch 2.19
 * and Elasticsearch 8.19: wrong types, numbers out of range, unknown and empty names, names of 5
 * MB, terms over 32,766 bytes, NUL, lone surrogates, invalid UTF-8, control characters and depth.
 * Only a line break among the bytes made them refuse the whole request.
 */
type_refusal convert_json(struct buf *out, const char *text, size_t len,
                          const struct type_pair *pair);
/* The same for a jsonb, which never repeats a name. */
type_refusal convert_jsonb(struct buf *out, const char *text, size_t len,
                           const struct type_pair *pair);
