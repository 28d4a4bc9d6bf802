/* SPDX-License-Identifier: Apache-2.0 */
/* Converts hstore to a JSON object of texts. */
#pragma once

#include "rowferry/document/convert/type.h"

/* Converts "a"=>"1", "b"=>NULL to {"a":"1","b":null}. A key with a child property is converted by
 * the inner pair of that child. Any other key is copied, or refused if the property is strict. */
type_refusal convert_hstore(struct buf *out, const char *text, size_t len,
                            const struct type_pair *pair);
