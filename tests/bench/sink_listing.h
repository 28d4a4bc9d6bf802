/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The null sink's keys: 1 to N in the order of their text, for who lists an index. The answers are
 * slices of one text that is made before the first request. Thread-safe once prepared.
 */
#ifndef ROWFERRY_BENCH_SINK_LISTING_H
#define ROWFERRY_BENCH_SINK_LISTING_H

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

void listing_prepare(long keys);
long listing_keys(void);

/* Appends the answer to a search that sorts by source_id: its size and search_after are heeded. */
void listing_push(struct buf *body, struct span request);

#endif
