/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that other commands file and the lock holder carries out (state/request.h).
 *
 *   resync    reads the keys again and sends an upsert or a delete for each
 *   discard   removes the open dead letters of the keys
 *
 * The arguments of both are a list of keys. The reply is one JSON object: {"keys":N,"done":N} while
 * in progress, then {"upserts":N,"deletes":N,"rejected":N} or {"discarded":N}. On failure it is
 * {"error":"...","hint":"..."}; the hint is optional.
 *
 *   allow_deletes, allow_rejections   permit what the guard stopped the pipeline for
 *
 * These are answered when the pipeline is caught up, with the counts up to that point:
 * {"upserts":N, "deletes":N,"rejected":N,"bytes":N}.
 *
 *   reindex, rollback, abort_rebuild  go to the rebuild worker beside the pipeline if there is one
 *                                     (pipeline_follow.asked); otherwise they stay filed
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/text.h"
#include "rowferry/state/guard_stop.h"
#include "rowferry/state/store.h"

#define REQUEST_RESYNC "resync"
#define REQUEST_DISCARD "discard"
/* For a pipeline that the guard stopped; the argument is the time of the stop (halt.at_us). */
#define REQUEST_ALLOW_DELETES "allow_deletes"
#define REQUEST_ALLOW_REJECTIONS "allow_rejections"
/* For a pipeline that the guard or an error stopped: tries again at once and permits nothing. */
#define REQUEST_TRY_AGAIN "try_again"
/* Also for the worker beside the pipeline; answered with {"since_us":N,"changed":true} when in
 * effect. */
#define REQUEST_PAUSE "pause"
#define REQUEST_RESUME "resume"
/* Arguments and replies are defined by the worker that carries them out. */
#define REQUEST_REINDEX "reindex"
#define REQUEST_ROLLBACK "rollback"
#define REQUEST_ABORT_REBUILD "abort_rebuild"

/* Maximum size of the keys of one request. */
#define REQUEST_MAX_BYTES ((size_t)4 << 20)

/* Appends a key to the arguments of a request. */
void keylist_push_key(struct buf *arguments, struct span key);

/* Returns true if the request is for the worker beside the pipeline. */
bool requests_about_rebuild(const char *command);
bool requests_about_pause(const char *command);

/* Returns a static text if the permission does not apply to the current guard stop, or null if it
 * does. */
const char *requests_why_not(const char *command, const char *arguments, bool halted,
                             const struct guard_stop *halt);

/* Carries out and answers a filed discard; needs neither server. The caller holds the pipeline's
 * lock, and the pipeline is not running. */
int requests_discard(struct state *s, const struct clock *clock, int64_t id, const char *arguments,
                     struct err *err) MUST_CHECK;
