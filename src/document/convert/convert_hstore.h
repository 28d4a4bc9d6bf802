/* SPDX-License-Identifier: Apache-2.0 */
/* hstore as a JSON object of texts. */
#ifndef ROWFERRY_DOCUMENT_CONVERT_HSTORE_H
#define ROWFERRY_DOCUMENT_CONVERT_HSTORE_H

#include "rowferry/document/convert/type.h"

/* "a"=>"1", "b"=>NULL as {"a":"1","b":null}. A key that the property names goes through the inner
 * pair of that child, any other one as it is, or is refused where the property is strict. */
type_refusal convert_hstore(struct buf *out, const char *text, size_t len,
                            const struct type_pair *pair);

#endif
