/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Supervises one pipeline of `run` in a thread of its own: holds the pipeline from start to stop
 * and runs the engine in rounds. Another round follows at once if the configuration was read again,
 * after a transient error (of the state file, or of a lock that the last round still held), when
 * operations that the guard stopped are permitted, and when a rebuild for another definition has
 * ended. After any other error it follows after a pause.
 *
 * A rebuild runs beside the rounds (rebuild_worker.h); its last steps are done between two of them.
 * If the live generation cannot be written during a rebuild because its definition differs, it is
 * not updated until the rebuild has ended.
 *
 * An error that only a person can correct (a revoked right, a lost trigger, a missing index) stops
 * the pipeline, not the worker: it keeps the pipeline, serves requests and tries again with growing
 * pauses of up to a minute. The next round continues from the checkpoint, so a try is cheap. Only
 * three things end a worker: an order, another holder, and a configuration that is wrong in the
 * first round.
 *
 * The worker holds the pipeline on its host by a lock beside the state file, and among all hosts by
 * a lease. If another process has either, or if the lease is lost, the worker ends or stands by
 * (PIPELINE_WORKER_STANDS_BY). The state file may be outdated after that, so the first round
 * compares it with the source.
 */
#pragma once

#include <poll.h>
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

/* An order to a worker. A higher one replaces a lower one. */
enum pipeline_worker_order {
    PIPELINE_WORKER_GO_ON,
    PIPELINE_WORKER_BEGIN_ANEW,
    PIPELINE_WORKER_STOP
};

enum pipeline_worker_mode {
    PIPELINE_WORKER_ENDS_IF_HELD, /* a thread of `run`; ends if another process is the holder */
    PIPELINE_WORKER_STANDS_BY,    /* a thread of `run`; waits while another process is the holder */
    PIPELINE_WORKER_UNTIL_REBUILT, /* in the caller's thread; ends with the rebuild */
};

/* Does the worker hold the pipeline, as far as it knows? */
enum pipeline_worker_hold {
    PIPELINE_WORKER_HOLDS_NOTHING,
    PIPELINE_WORKER_HOLDS,
    PIPELINE_WORKER_LOST, /* the lease was lost to another process */
};

/* How the worker reaches everything but its state file; a second implementation is the simulation
 * (tests/unit/daemon). */
struct pipeline_worker_ports {
    struct clock clock;
    /* Opens source and service for a round; close is also called after an error. */
    int (*open)(void *context, struct session *s, struct pipeline_ports *out, struct err *err);
    void (*close)(void *context, struct session *s);
    int (*wait)(void *context, struct pollfd *fds, nfds_t count, int timeout_ms); /* as poll(2) */
    /* The lease: see daemon/lease_holder.h. */
    int (*lease_start)(struct lease_holder **out, const struct lease_holder_options *options,
                       struct err *err);
    enum lease_holder_state (*lease_look)(struct lease_holder *k, struct err *why);
    void (*lease_attend)(struct lease_holder *k, const char *consumer);
    void (*lease_rest)(struct lease_holder *k, bool rests);
    void (*lease_stop)(struct lease_holder *k);
    void *context;
};

/* Shared with other threads; accessed atomically. */
struct pipeline_worker_shared {
    volatile sig_atomic_t order;      /* enum pipeline_worker_order */
    int wake_fd;                      /* readable after an order, so that every wait ends */
    int64_t alive_us;                 /* monotonic time of the last heartbeat */
    _Atomic(const char *) stage;      /* static text; "ended" at the end */
    atomic_int hold;                  /* enum pipeline_worker_hold */
    struct status_snapshot *snapshot; /* for other threads; owned by the worker */
};

/* What the rounds before the next one have left. */
struct pipeline_worker_rounds {
    unsigned count;
    struct backoff backoff;
    int64_t failing_us; /* monotonic time of the first failure since the last success; 0 = none */
    int64_t took_ms;    /* duration of the last round */
    bool rested;        /* the source was left alone after it */
    struct backoff repair; /* pauses while it is stopped */
    int64_t broken_us;     /* monotonic time at which an error stopped the pipeline; 0 = it works */
    uint64_t stopped_hash; /* of the error that was logged last */
    bool stopped_drift;    /* it was a changed definition */
    bool recounts;         /* the next round checks whether the guard still refuses */
    int64_t refused_us;    /* time of the guard stop that was logged last */
    int64_t guarded_us;    /* monotonic time at which a guard stopped it; 0 = it works */
    unsigned blocked; /* rounds in which a rebuild kept the live generation from being written */
};

struct pipeline_worker {
    const char *name;
    const char *command; /* "run" */
    struct settings_reload *settings;
    struct lease_keeper *lease_keeper; /* of the process; null if UNTIL_REBUILT */
    enum pipeline_worker_mode mode;
    struct pipeline_worker_ports ports;
    pthread_t watcher; /* thread that gets SIGUSR1 when the stage has changed; not UNTIL_REBUILT */
    pthread_t thread;
    struct pipeline_worker_shared shared;

    /* Owned by the thread until it has ended: */
    struct lease_holder *lease_holder; /* null if UNTIL_REBUILT, or not begun */
    enum pipeline_rivals rivals;       /* who may have worked before the next round */
    struct pending_replies pausers;    /* requests that wait for the pause to begin */
    struct session session;
    struct reading *reading;
    struct verifier verifier;
    struct rebuild_worker rebuild_worker;
    struct pipeline_worker_rounds rounds;
    struct pipeline_permission permission; /* of the next round */
    struct stall stall;                    /* over all rounds */
    struct sync_outcome outcome;
    int64_t run; /* its number in the history; 0: none yet */
    struct err err;
};

/* Initializes a worker; the calling thread is its watcher. Starts nothing. The caller releases it,
 * and may set `ports` before the start. */
int pipeline_worker_init(struct pipeline_worker *r, enum pipeline_worker_mode mode,
                         const char *pipeline, const char *command,
                         struct settings_reload *settings, struct err *err) MUST_CHECK;

/* Call between pipeline_worker_init and pipeline_worker_see_rebuild, after the session has opened
 * its state file. `progress` may be null; it is called from the rebuild's thread. */
void pipeline_worker_init_rebuild(struct pipeline_worker *r,
                                  void (*progress)(void *context, const struct progress *progress),
                                  void *progress_context);

/* Runs rounds on the live generation in the caller's thread until the rebuild has ended. The
 * caller holds the pipeline by r->session. The result is in r->rebuild_worker.end. Returns 0 if it
 * was stopped. */
int pipeline_worker_see_rebuild(struct pipeline_worker *r, struct err *err) MUST_CHECK;

/* Starts the thread; the caller joins it. All signals must be blocked. */
int pipeline_worker_start(struct pipeline_worker *r, struct lease_keeper *leases,
                          struct err *err) MUST_CHECK;

/* Sends an order. A stop cannot be revoked. */
void pipeline_worker_send_order(struct pipeline_worker *r, enum pipeline_worker_order order);

/* The life of a worker, from taking the pipeline to its end: the body of the thread. */
void pipeline_worker_run(struct pipeline_worker *r);

/* Call after the thread has been joined, or if it was not started. */
void pipeline_worker_release(struct pipeline_worker *r);

const char *pipeline_worker_stage(const struct pipeline_worker *r);

/* Milliseconds since the last heartbeat; 0 if the worker has ended. */
int64_t pipeline_worker_silent_ms(const struct pipeline_worker *r, int64_t now_us);
