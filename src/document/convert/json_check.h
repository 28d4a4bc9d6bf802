/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A value of JSON against the property that it fills, as deep as the mapping describes it.
 *
 * Only what both services refuse for certain, whatever their settings, is refused; all else is
 * theirs to judge. Where it follows the services' own code, the comment says what they do.
 */
#ifndef ROWFERRY_DOCUMENT_JSON_CHECK_H
#define ROWFERRY_DOCUMENT_JSON_CHECK_H

#include "rowferry/document/convert/type.h"

#define JSON_TERM_BYTES 32766 /* Lucene's longest term */

/*
 * Checks what stands in `out` from `start` on: valid JSON without blanks, each name once in its
 * object. A refusal that names a path is written behind it: valid until the next append to `out`.
 */
type_refusal json_check(struct buf *out, size_t start, const struct property *property);

#endif
