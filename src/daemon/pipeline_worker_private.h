/* SPDX-License-Identifier: Apache-2.0 */
/* Internals shared by the files of the pipeline worker: its stage, heartbeat and waits. */
#ifndef ROWFERRY_DAEMON_PIPELINE_WORKER_PRIVATE_H
#define ROWFERRY_DAEMON_PIPELINE_WORKER_PRIVATE_H

#include "rowferry/daemon/pipeline_worker.h"

#define REPLICA_BASE_MS 200
#define REPLICA_MAX_MS 5000

enum replica_order replica_order_of(const struct replica *r);
void replica_enter(struct replica *r, const char *stage);
/* Waits for `ms`, or until an order comes. */
void replica_rest(struct replica *r, int64_t ms);

/* Returns true if the error that ended the round is transient and another round should follow. */
bool replica_passes(const struct replica *r, int rc);
void replica_wait_for_better(struct replica *r);
/* Ends the wait state: logs the recovery and resets the back-off. */
void replica_note_better(struct replica *r);

/* Records a stall with its cause; the reason is r->err. */
void replica_note_stall(struct replica *r, enum stall_cause cause);
/* Records an intended pause, which is not a stall and ends one. */
void replica_note_pause(struct replica *r);

bool replica_stopped_by_guard(struct replica *r, int rc);
void replica_wait_for_permission(struct replica *r);
void replica_stand_still(struct replica *r);

/* Takes the lock on this host and the lease among all hosts, and stands by if that is requested.
 * Also returns 0 if it is stopped before. */
int replica_hold(struct replica *r, struct err *err) MUST_CHECK;
/* Implements pipeline_options.asked; the context is the replica. */
bool replica_asked(void *context, int64_t id, const char *command, const char *arguments);
bool replica_is_paused(struct replica *r);
/* Returns when the pipeline is resumed, stopped or lost. */
int replica_stay_paused(struct replica *r, struct err *err) MUST_CHECK;

/* Logs the loss of the lease, sets *err and returns ERR_HELD. */
int replica_tell_lost(struct replica *r, struct err *err) MUST_CHECK;
/* Records a heartbeat. */
void replica_note_alive(struct replica *r);
void replica_order_done(struct replica *r);

#endif
