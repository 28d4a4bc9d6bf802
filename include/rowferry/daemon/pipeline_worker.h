/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Supervises one pipeline of `run` in a thread of its own: holds the pipeline from start to stop
 * and runs the engine in rounds. Another round follows in three cases: the configuration was read
 * again, the state file could not be written for a while, or a refused operation was permitted.
 *
 * A rebuild runs beside the rounds (rebuild_worker.h); its last steps are done between two of them.
 * If the live generation cannot be written during a rebuild because its definition differs, it is
 * not updated until the rebuild has ended.
 *
 * The worker holds the pipeline on its host by a lock beside the state file, and among all hosts by
 * a lease. If another process has either, or if the lease is lost, the worker ends or stands by
 * (replica.waits). The state file may be outdated after that, so the first round compares it with
 * the source.
 */
#pragma once

#include <stdatomic.h>

#include "rowferry/base/backoff.h"
#include "rowferry/daemon/lease_holder.h"
#include "rowferry/daemon/pending_replies.h"
#include "rowferry/daemon/rebuild_worker.h"
#include "rowferry/daemon/run_record.h"
#include "rowferry/daemon/session.h"
#include "rowferry/daemon/settings_reload.h"
#include "rowferry/daemon/verifier.h"
#include "rowferry/engine/observe/status_snapshot.h"

/* An order to a worker. */
enum pipeline_worker_order {
    PIPELINE_WORKER_GO_ON,
    PIPELINE_WORKER_BEGIN_ANEW,
    PIPELINE_WORKER_STOP
};

struct pipeline_worker {
    const char *name;
    const char *command; /* "run" */
    struct settings_reload *settings;
    bool until_rebuilt; /* the rounds end with the rebuild */
    bool waits;         /* stands by while another process holds the pipeline */
    bool watched;
    pthread_t watcher; /* thread that gets SIGUSR1 when the stage has changed */
    pthread_t thread;
    volatile sig_atomic_t order; /* enum replica_order; accessed atomically */
    int wake_fd;                 /* readable after an order, so that every wait ends */
    int64_t alive_us;            /* monotonic time of the last heartbeat; accessed atomically */
    _Atomic(const char *) stage; /* static text; "ended" at the end */
    struct status_snapshot *snapshot; /* status snapshot for other threads; owned by the worker */
    struct stall stall;               /* over all rounds; owned by the thread */

    atomic_bool works; /* the worker holds the pipeline, as far as it knows */
    atomic_bool lost;  /* the lease has been lost to another process */

    /* Owned by the thread until it has ended: */
    struct lease_holder *lease_holder; /* null if the worker ends with a rebuild or has not begun */
    bool fresh;                        /* no round has begun since the pipeline was taken */
    bool stood_by;                     /* the worker stood by before it took the pipeline */
    struct pending_replies pausers;    /* requests that wait for the pause to begin */
    struct session session;
    struct reading *reading;
    struct verifier verifier;
    struct rebuild_worker rebuild_worker;
    struct backoff backoff;
    unsigned rounds;
    bool anew;             /* the configuration was read again before this round */
    bool away;             /* the state file is unavailable, and this has been logged */
    int64_t away_us;       /* monotonic time since then */
    bool allow_deletes;    /* applies to the next round only */
    bool allow_rejections; /* applies to the next round only */
    int64_t permission;    /* request id of that permission, answered by the next round */
    bool counts;           /* the next round checks whether the guard still refuses */
    int64_t worked_ms;     /* duration of the last round */
    int64_t refused_us;    /* halt.at_us of the refusal that was logged last */
    unsigned stands;       /* rounds in which a rebuild kept the live generation from being
                            * written */
    struct sync_outcome outcome;
    struct err err;
};

/* Initializes a worker for a command that holds the pipeline itself and ends with the rebuild.
 * Starts nothing. The caller releases it. */
int pipeline_worker_init(struct pipeline_worker *r, const char *pipeline, const char *command,
                         struct settings_reload *settings, struct err *err) MUST_CHECK;

/* Call between pipeline_worker_init and pipeline_worker_see_rebuild, after the session has opened
 * its state file. `progress` may be null; it is called from the rebuild's thread. */
void pipeline_worker_init_rebuild(struct pipeline_worker *r,
                                  void (*progress)(void *context, const struct progress *progress),
                                  void *progress_context);

/* Runs rounds on the live generation in the caller's thread until the rebuild has ended. The
 * caller holds the pipeline by r->session. The result is in r->rebuild_worker. Returns 0 if it was
 * stopped. */
int pipeline_worker_see_rebuild(struct pipeline_worker *r, struct err *err) MUST_CHECK;

/* Initializes a worker for a thread of its own, watched by the calling thread. Starts nothing.
 * The caller releases it. */
int pipeline_worker_make(struct pipeline_worker *r, const char *pipeline, const char *command,
                         struct settings_reload *settings, struct err *err) MUST_CHECK;

/* Starts the thread; the caller joins it. All signals must be blocked. */
int pipeline_worker_start(struct pipeline_worker *r, struct err *err) MUST_CHECK;

/* Sends an order. A stop cannot be revoked. */
void pipeline_worker_send_order(struct pipeline_worker *r, enum pipeline_worker_order order);

/* Call after the thread has been joined, or if it was not started. */
void pipeline_worker_release(struct pipeline_worker *r);

const char *pipeline_worker_stage(const struct pipeline_worker *r);

/* Milliseconds since the last heartbeat; 0 if the worker has ended. */
int64_t pipeline_worker_silent_ms(const struct pipeline_worker *r, int64_t now_us);
