/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encoder: one pass from a row's text to action line and document in the batch's bytes,
 * without a tree, a copy in between or an allocation.
 *
 *     {"index":{"_id":"42","version":1763719200000000,"version_type":"external"}}
 *     {"source_id":"42","title":"..."}
 *
 * With batch.routing the action line has a member "routing" too, of the key's part: of a row that
 * is gone nothing else is known, and whoever changes the part changes the key.
 *
 * With batch.creates it is {"create":{"_id":"42"}}.
 *
 * The index is in the request's path, so the action line does not repeat it.
 */
#ifndef ROWFERRY_DOCUMENT_ENCODE_H
#define ROWFERRY_DOCUMENT_ENCODE_H

#include <stdbool.h>
#include <stdint.h>

#include "rowferry/document/bulk/batch.h"
#include "rowferry/document/model/row.h"
#include "rowferry/document/plan/plan.h"

/* Why a row never became an operation: what a dead letter says. */
struct refusal {
    const char *column; /* borrowed from the plan; null: the row as a whole (key, size) */
    const char *reason; /* a static text, the plan's, or the batch's until its next operation */
    bool no_room;       /* the batch had no room or the machine no memory: not the row's fault, no
                           dead letter, but again with an empty batch */
    char beginning[64]; /* of the value, escaped, cut */
};

/* Adds the upsert of a row. False: nothing was added, `refusal` says why. */
bool encode_upsert(struct batch *b, const struct plan *plan, const struct row *row, int64_t version,
                   uint64_t page, struct refusal *refusal);

/* Adds the delete of a key. False: the key cannot be an _id (empty or over 512 bytes), or the batch
 * takes none. */
bool encode_delete(struct batch *b, struct span key, int64_t version, uint64_t page,
                   struct refusal *refusal);

#endif
