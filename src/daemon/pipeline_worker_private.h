/* SPDX-License-Identifier: Apache-2.0 */
/* Internals shared by the files of the pipeline worker: its stage, heartbeat and waits. */
#pragma once

#include "rowferry/daemon/pipeline_worker.h"

#define PIPELINE_WORKER_BASE_MS 200
#define PIPELINE_WORKER_MAX_MS 5000

enum pipeline_worker_order pipeline_worker_order_of(const struct pipeline_worker *r);
void pipeline_worker_enter(struct pipeline_worker *r, const char *stage);
/* Waits for `ms`, or until an order comes. */
void pipeline_worker_pause_for(struct pipeline_worker *r, int64_t ms);

/* Returns true if the error that ended the round is transient and another round should follow. */
bool pipeline_worker_passes(const struct pipeline_worker *r, int rc);
void pipeline_worker_wait_for_better(struct pipeline_worker *r);
/* Ends the wait state: logs the recovery and resets the back-off. */
void pipeline_worker_note_better(struct pipeline_worker *r);

/* Records a stall with its cause; the reason is r->err. */
void pipeline_worker_note_stall(struct pipeline_worker *r, enum stall_cause cause);
/* Records an intended pause, which is not a stall and ends one. */
void pipeline_worker_note_pause(struct pipeline_worker *r);

bool pipeline_worker_stopped_by_guard(struct pipeline_worker *r, int rc);
void pipeline_worker_wait_for_permission(struct pipeline_worker *r);
void pipeline_worker_idle(struct pipeline_worker *r);

/* Takes the lock on this host and the lease among all hosts, and stands by if that is requested.
 * Also returns 0 if it is stopped before. */
int pipeline_worker_hold(struct pipeline_worker *r, struct err *err) MUST_CHECK;
/* Implements pipeline_follow.asked; the context is the replica. */
bool pipeline_worker_asked(void *context, int64_t id, const char *command, const char *arguments);
bool pipeline_worker_is_paused(struct pipeline_worker *r);
/* Returns when the pipeline is resumed, stopped or lost. */
int pipeline_worker_stay_paused(struct pipeline_worker *r, struct err *err) MUST_CHECK;

/* Logs the loss of the lease, sets *err and returns ERR_HELD. */
int pipeline_worker_report_lost(struct pipeline_worker *r, struct err *err) MUST_CHECK;
/* Records a heartbeat. */
void pipeline_worker_note_alive(struct pipeline_worker *r);
void pipeline_worker_order_done(struct pipeline_worker *r);
