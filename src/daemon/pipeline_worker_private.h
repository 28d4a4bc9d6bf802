/* SPDX-License-Identifier: Apache-2.0 */
/* What the two files of the replica share: its signs, and its waits between two rounds. */
#ifndef ROWFERRY_DAEMON_PIPELINE_WORKER_PRIVATE_H
#define ROWFERRY_DAEMON_PIPELINE_WORKER_PRIVATE_H

#include "rowferry/daemon/pipeline_worker.h"

#define REPLICA_BASE_MS 200
#define REPLICA_MAX_MS 5000

enum replica_order replica_order_of(const struct replica *r);
void replica_enter(struct replica *r, const char *stage);
/* A pause that an order ends. */
void replica_rest(struct replica *r, int64_t ms);

/* Whether what ended the round passes, and the wait for that. */
bool replica_passes(const struct replica *r, int rc);
void replica_wait_for_better(struct replica *r);
/* It has come. */
void replica_note_better(struct replica *r);

/* Nothing can be done before this has ended; why is r->err. */
void replica_note_stall(struct replica *r, enum stall_cause cause);
/* A person wants it to rest: that is no stall, and ends one. */
void replica_note_pause(struct replica *r);

bool replica_stopped_by_guard(struct replica *r, int rc);
void replica_wait_for_permission(struct replica *r);
void replica_stand_still(struct replica *r);

/* Becomes the holder on this host and among all of them, and stands by where that is wanted. 0 also
 * where it is stopped meanwhile. */
int replica_hold(struct replica *r, struct err *err) MUST_CHECK;
/* pipeline_options.asked; context is the replica. */
bool replica_asked(void *context, int64_t id, const char *command, const char *arguments);
bool replica_is_paused(struct replica *r);
/* Until the pipeline is not paused any more, it is to stop, or it is lost. */
int replica_stay_paused(struct replica *r, struct err *err) MUST_CHECK;

/* Why the pipeline is lost: ERR_HELD. */
int replica_tell_lost(struct replica *r, struct err *err) MUST_CHECK;
/* A sign of life; and an order to begin anew is carried out. */
void replica_note_alive(struct replica *r);
void replica_order_done(struct replica *r);

#endif
