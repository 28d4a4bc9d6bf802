/* SPDX-License-Identifier: Apache-2.0 */
/* PostgreSQL's composite text as a JSON object. */
#ifndef ROWFERRY_DOCUMENT_CONVERT_COMPOSITE_H
#define ROWFERRY_DOCUMENT_CONVERT_COMPOSITE_H

#include "rowferry/document/convert/type.h"

/* (1,"x y",) as {"a":1,"b":"x y"}: the pair's inner pairs are its fields; NULL ones are left out.
 */
type_refusal convert_composite(struct buf *out, const char *text, size_t len,
                               const struct type_pair *pair);

#endif
