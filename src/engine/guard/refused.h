/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides when a document that is refused "for now" (429 or 5xx of its own item) is refused for
 * good.
 *
 * An ingest processor that fails answers 500 for its document, and always will. So an upsert that
 * was refused REFUSED_TIMES in a row becomes a dead letter if the service accepted others in that
 * period. Two things are required as evidence:
 *
 * - From the third attempt on, the same request carries a witness: a delete of the same id
 *   with the lowest version, which changes nothing. It goes to the same shard, so a busy, full
 *   or unavailable shard refuses both. A refusal counts only if its witness passed.
 * - Since the first refusal the index accepted another upsert, or the key already has a dead
 *   letter. So an ingest pipeline that refuses everything makes no dead letters.
 *
 * A data stream takes no deletes. There a refusal counts if another document passed since the last
 * one, unless its status is 429, 502, 503 or 504.
 */
#pragma once

#include "core/hashset.h"
#include "rowferry/document/bulk/batch.h"

#define REFUSED_TIMES 10

/* Adds a witness for each operation that needs one, as the last operations of the batch. */
void refused_accompany(struct batch *b);

/*
 * Removes the witnesses from an answered batch and counts refusals. An operation refused for good
 * becomes REJECTED. open: keys that have a dead letter (may be null). passed: number of upserts
 * that the index accepted, kept by the caller. Returns the number of operations that must be
 * repeated although the service accepts others; they are not a sign of an outage.
 */
size_t refused_judge(struct batch *b, const struct hashset *open, uint64_t *passed);
