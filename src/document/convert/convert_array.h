/* SPDX-License-Identifier: Apache-2.0 */
/* Converts PostgreSQL's array text to a JSON array, element by element. */
#pragma once

#include "rowferry/document/convert/type.h"

/* Accepts any number of dimensions. Lower bounds are left out, NULL elements become null. */
type_refusal convert_array(struct buf *out, const char *text, size_t len,
                           const struct type_pair *pair);
