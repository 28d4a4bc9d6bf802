/* SPDX-License-Identifier: Apache-2.0 */
/* Converters that write texts: strings, keywords, base64, booleans, addresses. */
#pragma once

#include "rowferry/document/convert/type.h"

#define KEYWORD_MAX_BYTES 32766 /* Lucene's longest term; a longer one fails the document */
#define COMPLETION_UNITS 50     /* default "max_input_length": later characters are ignored */

/* Writes the text as it is. */
type_refusal convert_string(struct buf *out, const char *text, size_t len,
                            const struct type_pair *pair);
/* Writes the text without the blanks that pad a character(n). */
type_refusal convert_padded(struct buf *out, const char *text, size_t len,
                            const struct type_pair *pair);
/* Writes the text. Refuses more than KEYWORD_MAX_BYTES, unless ignore_above excludes it from the
 * index. */
type_refusal convert_keyword(struct buf *out, const char *text, size_t len,
                             const struct type_pair *pair);
type_refusal convert_padded_keyword(struct buf *out, const char *text, size_t len,
                                    const struct type_pair *pair);

/* Writes the text. Refuses the two characters that are reserved by the completion's automaton. */
type_refusal convert_completion(struct buf *out, const char *text, size_t len,
                                const struct type_pair *pair);
type_refusal convert_padded_completion(struct buf *out, const char *text, size_t len,
                                       const struct type_pair *pair);

/* Converts t and f to true and false, or to the strings "true" and "false". */
type_refusal convert_bool(struct buf *out, const char *text, size_t len,
                          const struct type_pair *pair);
type_refusal convert_bool_string(struct buf *out, const char *text, size_t len,
                                 const struct type_pair *pair);

/* Converts \x00ff to base64. */
type_refusal convert_bytes(struct buf *out, const char *text, size_t len,
                           const struct type_pair *pair);

/* Write an inet or cidr without its mask, or always with its mask. */
type_refusal convert_ip(struct buf *out, const char *text, size_t len,
                        const struct type_pair *pair);
type_refusal convert_ip_range(struct buf *out, const char *text, size_t len,
                              const struct type_pair *pair);
