/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdicts: done, rejected, outrun, stop, and what each means for window, dead letters,
 * counters and the request that asked for it.
 */
#ifndef ROWFERRY_ENGINE_APPLY_OUTCOME_H
#define ROWFERRY_ENGINE_APPLY_OUTCOME_H

#include "pipeline/loop.h"
#include "rowferry/document/bulk/encode.h"

/* One operation of a batch that came back (sender_settle; context is the loop). */
int settle_operation(void *context, const struct batch *batch, const struct operation *o,
                     struct err *err);

/* The change in work never became an operation: a row is a dead letter, one that is gone is done.
 */
void settle_refusal(struct loop *l, uint64_t page, const struct refusal *refusal);

#endif
