/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a bulk answer as it arrives, in constant memory: a pull parser for this one shape.
 *
 * Feed it the bytes in any pieces. It sets status, outcome (service/bulk/outcome.h), seen version
 * and reason of the operation that an item is of: that with its _id and kind which has none yet, or
 * item i of operation i where the item has no _id. An item as the services write it where all is
 * well is known by its bytes; only others are read. One that is of no operation, or a second of the
 * same, makes the whole answer somebody else's. The top-level "errors" is not read: it is false
 * where a failure store took documents, and the items say all. Depth, sizes and numbers are
 * bounded; anything unexpected is an error.
 */
#ifndef ROWFERRY_SERVICE_ANSWER_H
#define ROWFERRY_SERVICE_ANSWER_H

#include "rowferry/document/bulk/batch.h"

struct answer; /* opaque */

struct answer *answer_new(void);
void answer_free(struct answer *a);

/* Begins the answer of a batch (borrowed until answer_end). */
void answer_begin(struct answer *a, struct batch *batch);
/* False where the bytes are no bulk answer: further bytes are ignored. */
bool answer_feed(struct answer *a, const char *bytes, size_t len);
/*
 * After the last byte: 0 when the answer was whole and had one item for each operation that
 * travelled. Else each of them is UNKNOWN and err (ERR_TRANSIENT) says what was wrong.
 */
int answer_end(struct answer *a, struct err *err) MUST_CHECK;

#endif
