/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of the null sink: 1 to N in the order of their text, for clients that list an index. The
 * responses are slices of one text that is prepared before the first request. Thread-safe once
 * prepared.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

void listing_prepare(long keys);
long listing_keys(void);

/* Appends the response to a search that sorts by source_id. Supports size and search_after. */
void listing_push(struct buf *body, struct span request);
