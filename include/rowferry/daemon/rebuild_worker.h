/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a rebuild beside the live generation (engine/rebuild/rebuild.h). A thread of its own, with
 * its own connections, fills the next generation. The short steps (swap, removal) are done in the
 * owner's thread between two rounds, when the live generation is not being written.
 *
 *     rebuild_worker_go_on, _begin, _want, _asked   start or join a rebuild
 *     rebuild_worker_mind                           call between rounds: does the short steps
 *     rebuild_worker_busy                           false at the end; see rebuild_worker.end
 *
 * The owner holds the pipeline. A rebuild that failed permanently is not retried until it is
 * requested again. The rebuild request stays in the state file.
 */
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "rowferry/base/backoff.h"
#include "rowferry/daemon/pending_replies.h"
#include "rowferry/daemon/rebuild_arguments.h"
#include "rowferry/daemon/session.h"
#include "rowferry/daemon/settings_reload.h"

struct rebuild_worker_options {
    const char *pipeline;
    const char *command; /* "run" */
    struct settings_reload *settings;
    struct state *state;               /* the owner's; used only in the owner's thread */
    bool fences;                       /* see source_options */
    bool patient;                      /* waits without limit for unreachable servers */
    const volatile sig_atomic_t *stop; /* stop flag of the owner's rounds */
    int64_t *alive_us;                 /* see pipeline_hooks */
    void (*call)(void *context);       /* called in any thread when rebuild_worker_mind is due */
    void *context;
    void (*progress)(void *context, const struct progress *progress); /* progress of the fill;
                                                                       * may be null */
    void *progress_context;
};

/* What was requested. Owned by the owner's thread; the fill reads `kind` and terms.adopt, which do
 * not change while its thread runs. */
struct rebuild_worker_order {
    enum rebuild_kind kind;
    struct rebuild_terms terms; /* allow_deletes: a requester allowed it */
    struct pending_replies pending_replies;
    struct pending_replies aborters;
    bool aborts; /* an abort was requested */
    bool fresh;  /* this worker began the rebuild, not an earlier process */
};

enum rebuild_worker_state {
    REBUILD_WORKER_NONE,    /* no thread */
    REBUILD_WORKER_RUNNING, /* the thread has been started */
    REBUILD_WORKER_ENDED,   /* the thread has done its work and is not joined yet */
};

/* The thread and its retries. Owned by the owner's thread; the thread reads pause_ms and sets
 * REBUILD_WORKER_ENDED at its end. */
struct rebuild_worker_thread {
    pthread_t id;
    atomic_int state; /* enum rebuild_worker_state */
    unsigned held;    /* attempts that found the pipeline held */
    struct backoff backoff;
    int64_t pause_ms; /* before the fill; does not change while the thread runs */
};

enum rebuild_worker_step {
    REBUILD_WORKER_WANTED,   /* the rebuild request is not in the state file yet */
    REBUILD_WORKER_RECORDED, /* it is */
    REBUILD_WORKER_FIRST,    /* the initial load served as the rebuild */
};

/* The fill. Owned by the thread while it runs, then by the owner. */
struct rebuild_worker_fill {
    enum rebuild_worker_step step;
    bool anew;    /* the rebuild was restarted because of drift */
    bool by_file; /* a rollback uses the definition of the file: the recorded one does not fit */
    struct reading *reading;
    unsigned number; /* of the reading that was used last; 0: none */
    struct session session;
    struct rebuild_result result;
};

/* Result of the last rebuild, valid if not busy. Owned by the thread while it runs, then by the
 * owner; `stopped` always by the owner. */
struct rebuild_worker_end {
    struct rebuild_outcome rebuilt;
    bool stopped; /* stopped; it can be resumed */
    int rc;
    struct err err;
};

struct rebuild_worker {
    struct rebuild_worker_options options;
    struct rebuild_worker_order order;
    struct rebuild_worker_thread thread;
    volatile sig_atomic_t stop;  /* stops the fill; atomic; any thread may set it */
    volatile sig_atomic_t quits; /* the owner ends, and an abort must not wait; atomic too */
    struct rebuild_worker_fill fill;
    struct rebuild_worker_end end;
};

/* Initializes a rebuild worker that is zeroed or released. Borrows what the options point to.
 * Starts nothing. */
void rebuild_worker_init(struct rebuild_worker *b, const struct rebuild_worker_options *options);
/* Stops the fill because the owner ends; may be called in any thread. What was filled is kept. */
void rebuild_worker_stop(struct rebuild_worker *b);
/* Stops the fill, joins the thread and leaves pending requests to the next holder. */
void rebuild_worker_release(struct rebuild_worker *b);

/* Resumes the rebuild that the state file records, if any. */
int rebuild_worker_go_on(struct rebuild_worker *b, struct err *err) MUST_CHECK;
/* Begins a rebuild for a schema change, without a request. Does nothing if a rebuild is in
 * progress. */
int rebuild_worker_want(struct rebuild_worker *b, struct err *err) MUST_CHECK;
/* Begins or joins a rebuild for request `id`, which was taken; 0 means the owner itself. */
int rebuild_worker_begin(struct rebuild_worker *b, int64_t id, enum rebuild_kind kind,
                         const struct rebuild_terms *terms, struct err *err) MUST_CHECK;
void rebuild_worker_abort(struct rebuild_worker *b, int64_t id);

/* Implements pipeline_follow.asked; the context is the rebuild worker. */
bool rebuild_worker_asked(void *context, int64_t id, const char *command, const char *arguments);

static inline bool rebuild_worker_busy(const struct rebuild_worker *b)
{
    return atomic_load(&b->thread.state) != REBUILD_WORKER_NONE || b->order.aborts;
}

/* Does the due steps. Call between two rounds. */
void rebuild_worker_mind(struct rebuild_worker *b);

/* Aborts a rebuild that this worker began. */
void rebuild_worker_take_back(struct rebuild_worker *b);
