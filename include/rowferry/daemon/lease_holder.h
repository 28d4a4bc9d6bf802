/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the lease of a pipeline, so that only one `run` among all hosts processes it. A thread of
 * its own holds the lease in the source (source/pg/lease.h) from before the first round until after
 * the last. The lease is named after the pipeline, its alias in the configuration and the search
 * cluster.
 *
 * If another process has the lease, the thread tries again about every two seconds. If the source
 * or the search service cannot be reached, the lock holder is unknown. The consumer lock still
 * keeps two processes from reading at the same time.
 *
 *     ASKING -> HOLDS | TAKEN | UNSURE     and from each of these to each other
 *
 * `call` reports each change of state.
 */
#ifndef ROWFERRY_DAEMON_LEASE_HOLDER_H
#define ROWFERRY_DAEMON_LEASE_HOLDER_H

#include <pthread.h>
#include <stdbool.h>

#include "rowferry/base/err.h"
#include "rowferry/daemon/settings_reload.h"

enum keeper_state {
    KEEPER_ASKING, /* not known yet */
    KEEPER_UNSURE, /* source or service does not answer */
    KEEPER_TAKEN,  /* another process has the lease */
    KEEPER_HOLDS,
};

struct keeper_options {
    const char *pipeline;
    const char *command; /* "run" */
    struct settings *settings;
    void (*call)(void *context, enum keeper_state state); /* called in the lease thread when the
                                                           * state has changed */
    void *context;
};

struct keeper; /* opaque */

/* Starts the thread. */
int keeper_start(struct keeper **out, const struct keeper_options *options,
                 struct err *err) MUST_CHECK;
/* Gives the lease back. Null is allowed. */
void keeper_stop(struct keeper *k);

/* Returns the current state. `why` is set for UNSURE and TAKEN and may be null. */
enum keeper_state keeper_look(struct keeper *k, struct err *why);

/* Keeps the claim of `consumer` alive in place of its reader. Null ends that. */
void keeper_attend(struct keeper *k, const char *consumer);

#endif
