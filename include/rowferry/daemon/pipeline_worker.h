/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pipeline of `run`, in a thread of its own: the holder from start to stop, in rounds. A round
 * is a run of the engine; another one follows where the configuration was read again, where the
 * state file could not be written for a while, and where what the guard refused was permitted.
 *
 * A rebuild goes on beside the rounds (rebuilder.h); what is left of it to do is done between two
 * of them. Where the live generation cannot be written meanwhile (it was built otherwise) it stands
 * still until the rebuild has ended.
 *
 * It holds the pipeline on its host by the lock beside the state file, and among all hosts by its
 * keeper. Where another one has it, it ends, or stands by (replica.waits); also where it has lost
 * it, which the keeper tells. What the state file says may be old then: the first round asks the
 * source who is ahead.
 */
#ifndef ROWFERRY_DAEMON_PIPELINE_WORKER_H
#define ROWFERRY_DAEMON_PIPELINE_WORKER_H

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

/* What a replica is asked for. */
enum replica_order { REPLICA_GO_ON, REPLICA_BEGIN_ANEW, REPLICA_STOP };

struct replica {
    const char *name;
    const char *command; /* "run" */
    struct settings *settings;
    bool until_rebuilt; /* the rounds end with the rebuild */
    bool waits;         /* stands by while another one holds the pipeline */
    bool watched;
    pthread_t watcher; /* gets SIGUSR1 when something of the below has changed */
    pthread_t thread;
    volatile sig_atomic_t order; /* enum replica_order; atomically */
    int wake_fd;                 /* readable since an order came: no wait outlasts it */
    int64_t alive_us;            /* monotonic, of its last sign of life; atomically */
    _Atomic(const char *) stage; /* a static text; "ended" at last */
    struct board *board;         /* what others see of it; the replica's */
    struct stall stall;          /* over all rounds; the thread's own */

    atomic_bool works; /* it has the pipeline, as far as it knows */
    atomic_bool lost;  /* and not any more */

    /* the thread's own until it has ended: */
    struct keeper *keeper; /* null: it ends with a rebuild, or has not begun */
    bool fresh;            /* no round has begun since it got the pipeline */
    bool stood_by;         /* before that */
    struct askers pausers; /* who waits until it is paused */
    struct session session;
    struct reading *reading;
    struct verifier verifier;
    struct rebuilder rebuilder;
    struct backoff backoff;
    unsigned rounds;
    bool anew;             /* the configuration was read again before the round */
    bool away;             /* the state file is, and the log knows, */
    int64_t away_us;       /* monotonic: since then */
    bool allow_deletes;    /* in the next round */
    bool allow_rejections; /* the same */
    int64_t permission;    /* the request that said so, to be answered by then */
    bool counts;           /* the round is to see whether the guard still refuses */
    int64_t worked_ms;     /* what the last round took */
    int64_t refused_us;    /* halt.at_us of what the log knows */
    unsigned stands;       /* still beside a rebuild: how many rounds */
    struct sync_outcome outcome;
    struct err err;
};

/* For a command that becomes the holder itself and ends with the rebuild; to be released, starts
 * nothing. */
int replica_init(struct replica *r, const char *pipeline, const char *command,
                 struct settings *settings, struct err *err) MUST_CHECK;

/* Call between init and see_rebuild, after the session has opened its state file. progress may be
 * null; it is called from the rebuild's thread. */
void replica_init_rebuilder(struct replica *r,
                            void (*progress)(void *context, const struct progress *progress),
                            void *progress_context);

/* In the caller's thread, which holds the pipeline by r->session: the live generation is followed
 * until the rebuild that the rebuilder is at has ended. What came of it is the rebuilder's to tell;
 * 0 where it was stopped. */
int replica_see_rebuild(struct replica *r, struct err *err) MUST_CHECK;

/* For a thread of its own: watched by this thread; to be released, starts nothing. */
int replica_make(struct replica *r, const char *pipeline, const char *command,
                 struct settings *settings, struct err *err) MUST_CHECK;

/* Starts the thread; the caller joins it. All signals have to be blocked. */
int replica_start(struct replica *r, struct err *err) MUST_CHECK;

/* A stop is never taken back. */
void replica_tell(struct replica *r, enum replica_order order);

/* Once the thread is joined, or was not started. */
void replica_release(struct replica *r);

const char *replica_stage(const struct replica *r);

/* How long ago it gave a sign of life; 0 where it has ended. */
int64_t replica_silent_ms(const struct replica *r, int64_t now_us);

#endif
