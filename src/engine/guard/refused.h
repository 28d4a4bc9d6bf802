/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a document that is refused "for now" (429 or 5xx of its own item) is refused for good.
 *
 * An ingest processor that fails answers 500 for its document, and always will. So an upsert that
 * was refused REFUSED_TIMES in a row is a dead letter if the service took others meanwhile. Two
 * things show that it did:
 *
 * - From its third attempt on, a witness travels in the same request: a delete of the same id
 *   with the lowest version, which changes nothing. It meets the same shard, so a shard that is
 * busy, full or away refuses both. A refusal counts only if its witness passed.
 * - Since its first refusal the index took another upsert, or its key has a dead letter already: an
 *   ingest pipeline that refuses everything makes no dead letters.
 *
 * A data stream takes no deletes. A refusal by its own status counts there if another document
 * passed since the last one; 429, 502, 503 and 504 do not.
 */
#ifndef ROWFERRY_ENGINE_REFUSED_H
#define ROWFERRY_ENGINE_REFUSED_H

#include "pipeline/hashset.h"
#include "rowferry/document/bulk/batch.h"

#define REFUSED_TIMES 10

/* Adds a witness for each operation that needs one. They are the batch's last operations. */
void refused_accompany(struct batch *b);

/*
 * Takes the witnesses of an answered batch out of it again and counts refusals: what is refused for
 * good becomes REJECTED. open: keys that have a dead letter (may be null); passed: how many
 * upserts the index took, kept by the caller. Returns how many operations repeat though the service
 * takes others: they are no sign of an outage.
 */
size_t refused_judge(struct batch *b, const struct hashset *open, uint64_t *passed);

#endif
