/* SPDX-License-Identifier: Apache-2.0 */
/* Internals shared by the files of the pipeline worker: its stage, heartbeat and waits. */
#pragma once

#include "rowferry/daemon/worker/pipeline_worker.h"
#include "rowferry/state/live_progress.h"

#define PIPELINE_WORKER_BASE_MS 200
#define PIPELINE_WORKER_MAX_MS 5000
#define PIPELINE_WORKER_REPAIR_BASE_MS 4000
#define PIPELINE_WORKER_REPAIR_MAX_MS 60000

enum pipeline_worker_order pipeline_worker_order_of(const struct pipeline_worker *r);
/* Returns true if the order is to stop. */
bool pipeline_worker_stopped(const struct pipeline_worker *r);
/* Returns true if the lease was lost to another process. */
bool pipeline_worker_lost(const struct pipeline_worker *r);
/* Clears PIPELINE_WORKER_BEGIN_ANEW, which has been carried out. */
void pipeline_worker_order_done(struct pipeline_worker *r);
void pipeline_worker_enter(struct pipeline_worker *r, const char *stage);
/* Records a heartbeat. */
void pipeline_worker_note_alive(struct pipeline_worker *r);
/* Waits for `ms`, or until an order comes. */
void pipeline_worker_pause_for(struct pipeline_worker *r, int64_t ms);
/* Waits once for `ms`, an order, a call of the lease thread, or a write of the state file that
 * `notice_fd` reports (-1: none). No round runs, so an order to start again is carried out. */
void pipeline_worker_nap(struct pipeline_worker *r, int notice_fd, int64_t ms);

/* Returns true if the error that ended the round is transient and another round should follow. */
bool pipeline_worker_is_transient(const struct pipeline_worker *r, int rc);
void pipeline_worker_wait_for_better(struct pipeline_worker *r);
/* Ends the wait state: logs the recovery and resets the back-off. A stopped pipeline waits on
 * unless it `works`: it has committed a position or follows. */
void pipeline_worker_note_better(struct pipeline_worker *r, bool works);
/* Records an intended pause, which is not a stall and ends one. */
void pipeline_worker_note_pause(struct pipeline_worker *r);
/* Enters a stage and records it for `status`, with the lock holder of a standby (else null) or the
 * stall. */
void pipeline_worker_publish(struct pipeline_worker *r, const char *stage, const char *holder);

bool pipeline_worker_stopped_by_guard(struct pipeline_worker *r, int rc);
void pipeline_worker_wait_for_permission(struct pipeline_worker *r);
void pipeline_worker_wait_for_rebuild(struct pipeline_worker *r);
/* An error that a person has to correct stopped the pipeline: waits until it is time to try again,
 * or an order comes. Serves requests if `serves`, which requires an initialized rebuild worker. */
void pipeline_worker_wait_for_repair(struct pipeline_worker *r, bool serves);
/* Refuses the request for the current permission if a round that failed early has not answered it:
 * it would be taken again at once, without a pause. */
void pipeline_worker_refuse_permission(struct pipeline_worker *r, const struct err *why);
/* Returns true if an error with this class ends the worker. */
bool pipeline_worker_is_final(const struct pipeline_worker *r, int rc);

/* Takes the lock on this host and the lease among all hosts, and stands by if that is requested.
 * Also returns 0 if it is stopped before. */
int pipeline_worker_hold(struct pipeline_worker *r, struct err *err) MUST_CHECK;
/* Returns true if the worker has the lease. */
bool pipeline_worker_has_lease(const struct pipeline_worker *r);
/* Logs the loss of the lease, sets *err and returns ERR_HELD. */
int pipeline_worker_report_lost(struct pipeline_worker *r, struct err *err) MUST_CHECK;

/* Leaves the source alone until source.quiet has passed, a request is filed, or an order comes.
 * Then the worker has the lease again, or has lost it. */
void pipeline_worker_stay_quiet(struct pipeline_worker *r);

/* Implements pipeline_follow.asked; the context is the worker. */
bool pipeline_worker_asked(void *context, int64_t id, const char *command, const char *arguments);
/* Takes the next request that waits in the state file; *id is 0 if there is none. The caller
 * releases both texts. */
int pipeline_worker_take_request(struct pipeline_worker *r, int64_t *id, struct buf *command,
                                 struct buf *arguments, struct err *err) MUST_CHECK;
bool pipeline_worker_is_paused(struct pipeline_worker *r);
/* Returns when the pipeline is resumed, stopped or lost. */
int pipeline_worker_stay_paused(struct pipeline_worker *r, struct err *err) MUST_CHECK;
