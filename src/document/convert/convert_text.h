/* SPDX-License-Identifier: Apache-2.0 */
/* Converters that write texts: strings, keywords, base64, booleans, addresses. */
#ifndef ROWFERRY_DOCUMENT_CONVERT_TEXT_H
#define ROWFERRY_DOCUMENT_CONVERT_TEXT_H

#include "rowferry/document/convert/type.h"

#define KEYWORD_MAX_BYTES 32766 /* Lucene's longest term; a longer one fails the document */
#define COMPLETION_UNITS 50     /* "max_input_length" where unsaid: what is behind is cut off */

/* The text as it is. */
type_refusal convert_string(struct buf *out, const char *text, size_t len,
                            const struct type_pair *pair);
/* The text without the blanks that pad a character(n). */
type_refusal convert_padded(struct buf *out, const char *text, size_t len,
                            const struct type_pair *pair);
/* The text, at most KEYWORD_MAX_BYTES unless ignore_above leaves it out of the index. */
type_refusal convert_keyword(struct buf *out, const char *text, size_t len,
                             const struct type_pair *pair);
type_refusal convert_padded_keyword(struct buf *out, const char *text, size_t len,
                                    const struct type_pair *pair);

/* The text, without two characters that the completion's automaton keeps for itself. */
type_refusal convert_completion(struct buf *out, const char *text, size_t len,
                                const struct type_pair *pair);
type_refusal convert_padded_completion(struct buf *out, const char *text, size_t len,
                                       const struct type_pair *pair);

/* t and f as true and false, or as the strings "true" and "false". */
type_refusal convert_bool(struct buf *out, const char *text, size_t len,
                          const struct type_pair *pair);
type_refusal convert_bool_string(struct buf *out, const char *text, size_t len,
                                 const struct type_pair *pair);

/* \x00ff as base64. */
type_refusal convert_bytes(struct buf *out, const char *text, size_t len,
                           const struct type_pair *pair);

/* An inet or cidr without its mask; the same with the mask always said. */
type_refusal convert_ip(struct buf *out, const char *text, size_t len,
                        const struct type_pair *pair);
type_refusal convert_ip_range(struct buf *out, const char *text, size_t len,
                              const struct type_pair *pair);

#endif
