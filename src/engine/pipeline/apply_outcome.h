/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applies outcomes (done, rejected, conflict, fatal) to the window, dead letters, counters and the
 * request that asked for the operation.
 */
#pragma once

#include "pipeline/loop.h"
#include "rowferry/document/bulk/encode.h"

/* Settles one operation of an answered batch (a sender_settle; context is the loop). */
int apply_outcome_operation(void *context, const struct batch *batch, const struct operation *o,
                            struct err *err);

/* Settles the current change, which could not be encoded: an upsert becomes a dead letter, a
 * delete counts as done. */
void apply_outcome_refusal(struct loop *l, uint64_t page, const struct refusal *refusal);
