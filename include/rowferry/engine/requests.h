/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of other commands, as the pipeline's holder carries them out (state/request.h).
 *
 *     resync    reads the keys again and sends what is there: an upsert, or a delete
 *     discard   forgets the open dead letters of the keys
 *
 * The arguments of both are a list of keys. The answer is one JSON object: while it is worked on
 * {"keys":N,"done":N}, at the end {"upserts":N,"deletes":N,"rejected":N} or {"discarded":N}, or
 * where it failed {"error":"..."}.
 */
#ifndef ROWFERRY_ENGINE_REQUESTS_H
#define ROWFERRY_ENGINE_REQUESTS_H

#include "rowferry/base/buf.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/text.h"
#include "rowferry/state/store.h"

#define REQUEST_RESYNC "resync"
#define REQUEST_DISCARD "discard"

/* Keys of one request take at most this many bytes. */
#define REQUEST_MAX_BYTES ((size_t)4 << 20)

/* Appends a key to the arguments of a request. */
void requests_push_key(struct buf *arguments, struct span key);

/* Carries out and answers a discard that was filed; it needs neither server. The caller holds the
 * pipeline, and nobody works on it. */
int requests_discard(struct state *s, const struct clock *clock, int64_t id, const char *arguments,
                     struct err *err) MUST_CHECK;

#endif
