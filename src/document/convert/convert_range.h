/* SPDX-License-Identifier: Apache-2.0 */
/* Converts PostgreSQL's ranges to the service's: {"gte":1,"lt":5}. */
#pragma once

#include "rowferry/document/convert/type.h"

/* Converts each bound by the pair's inner pair, as gt, gte, lt or lte. A bound that is open or
 * infinite is left out. Returns type_absent if the range is empty. */
type_refusal convert_range(struct buf *out, const char *text, size_t len,
                           const struct type_pair *pair);
/* Converts {[1,3),[5,7)} to an array; the pair's inner pair is the range's. */
type_refusal convert_multirange(struct buf *out, const char *text, size_t len,
                                const struct type_pair *pair);
