/* SPDX-License-Identifier: Apache-2.0 */
/* Converts PostgreSQL's composite text to a JSON object. */
#pragma once

#include "rowferry/document/convert/type.h"

/* Converts (1,"x y",) to {"a":1,"b":"x y"}. The inner pairs are the fields; NULL fields are left
 * out. */
type_refusal convert_composite(struct buf *out, const char *text, size_t len,
                               const struct type_pair *pair);
