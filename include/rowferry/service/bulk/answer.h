/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streaming parser of a bulk response, in constant memory.
 *
 * The caller feeds bytes in pieces of any size. The parser sets status, outcome
 * (service/bulk/outcome.h), seen version and reason of the matching operation. An item matches the
 * first unanswered operation with its _id and kind, or operation i if item i has no _id. Successful
 * items in the services' usual form are recognised by their bytes; only others are parsed. An item
 * without a matching operation, or a second item for the same operation, makes the whole answer
 * foreign. The top-level "errors" is ignored, because it is false if a failure store took
 * documents. Depth, sizes and numbers are bounded; anything unexpected is an error.
 */
#pragma once

#include "rowferry/document/bulk/batch.h"

struct answer; /* opaque */

struct answer *answer_new(void);
void answer_free(struct answer *a);

/*
 * Begins the answer of a batch (borrowed until answer_end). index: the name that the request was
 * sent to, a write alias (service/index/index.h), or a stream's name if the batch creates; null:
 * where documents went is not checked. An upsert that an ingest pipeline dropped, or moved to
 * another index, is REJECTED: "_index" of its item is then not the index that the name stands for.
 */
void answer_begin(struct answer *a, struct batch *batch, const char *index);
/* False where the bytes are no bulk answer: further bytes are ignored. */
bool answer_feed(struct answer *a, const char *bytes, size_t len);
/*
 * Call after the last byte. Returns 0 if the answer was complete and had one item for each
 * operation sent. Otherwise every operation is UNKNOWN and err (ERR_TRANSIENT) describes the
 * problem.
 */
int answer_end(struct answer *a, struct err *err) MUST_CHECK;
