/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rebuild beside the live generation (engine/rebuild/rebuild.h): the next one is filled in a
 * thread of its own, with connections of its own; what takes moments (the swap, the removal) is
 * done in the owner's thread, between two rounds of it, when nobody writes the live one.
 *
 *     rebuilder_go_on, _begin, _want, _asked   a rebuild is under way now, and the thread at it
 *     rebuilder_mind                           between two rounds: what is to be done then
 *     rebuilder_busy                           false once it has ended, and rebuilt, rc, err say
 * how
 *
 * The owner holds the pipeline. What failed for good is not tried again before somebody asks: the
 * wish stays in the state file.
 */
#ifndef ROWFERRY_DAEMON_REBUILD_WORKER_H
#define ROWFERRY_DAEMON_REBUILD_WORKER_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "rowferry/base/backoff.h"
#include "rowferry/daemon/pending_replies.h"
#include "rowferry/daemon/rebuild_arguments.h"
#include "rowferry/daemon/session.h"
#include "rowferry/daemon/settings_reload.h"

struct rebuilder_options {
    const char *pipeline;
    const char *command; /* "run" */
    struct settings *settings;
    struct state *state;               /* the owner's, used in its thread */
    bool fences;                       /* see source_options */
    bool patient;                      /* servers that are away are waited for without end */
    const volatile sig_atomic_t *stop; /* of the owner's rounds */
    int64_t *alive_us;                 /* as pipeline_options has it */
    void (*call)(void *context);       /* in any thread: the owner is to mind it */
    void *context;
    void (*progress)(void *context, const struct progress *progress); /* of the fill; null: none */
    void *progress_context;
};

struct rebuilder {
    struct rebuilder_options options;

    /* the owner's thread's: */
    struct askers askers;
    struct askers aborters;
    bool started;       /* the thread */
    bool fresh;         /* what it is at was not begun before it */
    bool aborts;        /* that is wanted */
    bool allow_deletes; /* somebody who asked said so */
    unsigned held;
    struct backoff backoff;

    /* the thread's while it is started, then the owner's: */
    pthread_t thread;
    atomic_bool ended;
    volatile sig_atomic_t stop;  /* the fill; atomically; anybody's to set, as */
    volatile sig_atomic_t quits; /* that the owner ends, and an abort waits for nobody */
    enum rebuild_kind kind;
    bool adopt;
    bool wants; /* the state file does not have the wish yet */
    bool anew;  /* it was begun anew, for drift */
    int64_t pause_ms;
    struct reading *reading;
    struct session session;
    struct rebuild_result result;
    bool first; /* the first load was what was wanted */

    /* of the last one, once it is not busy: */
    struct rebuilt rebuilt;
    bool stopped; /* it stands, and can be gone on with */
    int rc;
    struct err err;
};

/* Of one that is all zero, or was released and is to begin again. Borrows what the options name;
 * starts nothing. */
void rebuilder_init(struct rebuilder *b, const struct rebuilder_options *options);
/* In any thread: the owner ends, and the fill is to; what it has is kept. */
void rebuilder_stop(struct rebuilder *b);
/* Stops it, waits for that, and lets those who asked wait for the next holder. */
void rebuilder_release(struct rebuilder *b);

/* Goes on with the one under way, where there is one. */
int rebuilder_go_on(struct rebuilder *b, struct err *err) MUST_CHECK;
/* Nobody asks: a change of schema does. Nothing where one is under way already. */
int rebuilder_want(struct rebuilder *b, struct err *err) MUST_CHECK;
/* A request that was taken; id 0: the owner itself asks. */
int rebuilder_begin(struct rebuilder *b, int64_t id, enum rebuild_kind kind,
                    const struct rebuild_terms *terms, struct err *err) MUST_CHECK;
void rebuilder_abort(struct rebuilder *b, int64_t id);

/* pipeline_options.asked; context is the rebuilder. */
bool rebuilder_asked(void *context, int64_t id, const char *command, const char *arguments);

static inline bool rebuilder_busy(const struct rebuilder *b)
{
    return b->started || b->aborts;
}

/* Between two rounds. */
void rebuilder_mind(struct rebuilder *b);

/* It should not have begun what it began. */
void rebuilder_take_back(struct rebuilder *b);

#endif
