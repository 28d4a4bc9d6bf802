/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encoder: writes a row's action line and document into the batch's bytes in one pass, without
 * a tree, an intermediate copy or an allocation.
 *
 *     {"index":{"_id":"42","version":1763719200000000,"version_type":"external"}}
 *     {"source_id":"42","title":"..."}
 *
 * If batch.routing is set, the action line also has a member "routing". It is taken from the key,
 * because of a deleted row nothing but the key is known. A change of the routing part is therefore
 * a change of the key.
 *
 * If batch.routing.hashed is set, the _id of a long key is its hash (key_id); source_id has the
 * whole key.
 *
 * If batch.creates is set, the action line is {"create":{"_id":"42"}}.
 *
 * If plan.provenance is set, the document ends with the object "provenance", which says where it
 * comes from.
 *
 * The index is named in the request's path, not in the action line.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rowferry/document/bulk/batch.h"
#include "rowferry/document/model/row.h"
#include "rowferry/document/plan/plan.h"

/* The reason why a row did not become an operation, for a dead letter. */
struct refusal {
    const char *column; /* borrowed from the plan; null: the row as a whole (key, size) */
    const char *reason; /* static, owned by the plan, or in the batch until its next operation */
    bool no_room;       /* batch or memory full: not the row's fault; retry with an empty batch */
    char beginning[64]; /* start of the value, escaped, cut */
};

/* Adds the upsert of a row. If it returns false, nothing was added and `refusal` has the reason. */
bool encode_upsert(struct batch *b, const struct plan *plan, const struct row *row, int64_t version,
                   uint64_t page, struct refusal *refusal);

/* Adds the delete of a key. Returns false if the key cannot have a document (it is empty or too
 * long) or the batch does not accept deletes. */
bool encode_delete(struct batch *b, struct span key, int64_t version, uint64_t page,
                   struct refusal *refusal);

/* Refuses a key that is too long even for a hash, and of which only the beginning is known. Returns
 * false. */
bool encode_refuse_cut(struct span key, struct refusal *refusal);
