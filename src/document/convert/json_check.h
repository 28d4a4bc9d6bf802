/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a JSON value against the property that it fills, as deep as the mapping describes it.
 *
 * Refuses only values that both services certainly refuse, whatever their settings; all others are
 * left to the service. If a check follows the services' own code, its comment describes what they
 * do.
 */
#pragma once

#include "rowferry/document/convert/type.h"

#define JSON_TERM_BYTES 32766 /* Lucene's longest term */

/*
 * Checks the value in `out` from `start` on: valid JSON without white space, in which no object
 * repeats a name. A refusal that names a path is written behind the value and is valid until the
 * next append to `out`.
 */
type_refusal json_check(struct buf *out, size_t start, const struct property *property);
