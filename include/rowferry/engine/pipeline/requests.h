/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of other commands, as the pipeline's holder carries them out (state/request.h).
 *
 *     resync    reads the keys again and sends what is there: an upsert, or a delete
 *     discard   forgets the open dead letters of the keys
 *
 * The arguments of both are a list of keys. The answer is one JSON object: while it is worked on
 * {"keys":N,"done":N}, at the end {"upserts":N,"deletes":N,"rejected":N} or {"discarded":N}, or
 * where it failed {"error":"...","hint":"..."}, the latter if there is one.
 *
 *     allow_deletes, allow_rejections   the pipeline goes on past what the guard stopped it for
 *
 * is answered when the pipeline is caught up, by what was sent until then: {"upserts":N,
 * "deletes":N,"rejected":N,"bytes":N}.
 *
 *     reindex, rollback, abort_rebuild   are for the one who works beside the pipeline, where there
 *                                        is one (pipeline_options.asked); else they stay filed
 */
#ifndef ROWFERRY_ENGINE_REQUESTS_H
#define ROWFERRY_ENGINE_REQUESTS_H

#include "rowferry/base/buf.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/text.h"
#include "rowferry/state/guard_stop.h"
#include "rowferry/state/store.h"

#define REQUEST_RESYNC "resync"
#define REQUEST_DISCARD "discard"
/* Of a pipeline that the guard stopped; the argument is when it did (halt.at_us). */
#define REQUEST_ALLOW_DELETES "allow_deletes"
#define REQUEST_ALLOW_REJECTIONS "allow_rejections"
/* The same, where nothing is permitted: rows were put back perhaps. */
#define REQUEST_COUNT_AGAIN "count_again"
/* For the one who works beside the pipeline, too: {"since_us":N,"changed":true}, once it is so. */
#define REQUEST_PAUSE "pause"
#define REQUEST_RESUME "resume"
/* Their arguments and answers: whoever carries them out. */
#define REQUEST_REINDEX "reindex"
#define REQUEST_ROLLBACK "rollback"
#define REQUEST_ABORT_REBUILD "abort_rebuild"

/* Keys of one request take at most this many bytes. */
#define REQUEST_MAX_BYTES ((size_t)4 << 20)

/* Appends a key to the arguments of a request. */
void requests_push_key(struct buf *arguments, struct span key);

/* Whether it is for the one who works beside the pipeline. */
bool requests_about_rebuild(const char *command);
bool requests_about_pause(const char *command);

/* Why the permission permits nothing, a static text; null where it is for what the guard did. */
const char *requests_why_not(const char *command, const char *arguments, bool halted,
                             const struct halt *halt);

/* Carries out and answers a discard that was filed; it needs neither server. The caller holds the
 * pipeline, and nobody works on it. */
int requests_discard(struct state *s, const struct clock *clock, int64_t id, const char *arguments,
                     struct err *err) MUST_CHECK;

#endif
