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
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "rowferry/base/err.h"
#include "rowferry/daemon/settings_reload.h"

enum lease_holder_state {
    LEASE_HOLDER_ASKING, /* not known yet */
    LEASE_HOLDER_UNSURE, /* source or service does not answer */
    LEASE_HOLDER_TAKEN,  /* another process has the lease */
    LEASE_HOLDER_HOLDS,
};

struct lease_holder_options {
    const char *pipeline;
    const char *command; /* "run" */
    struct settings_reload *settings;
    void (*call)(void *context, enum lease_holder_state state); /* called in the lease thread when
                                                                 * the state has changed */
    void *context;
};

struct lease_holder; /* opaque */

/* Starts the thread. */
int lease_holder_start(struct lease_holder **out, const struct lease_holder_options *options,
                       struct err *err) MUST_CHECK;
/* Gives the lease back. Null is allowed. */
void lease_holder_stop(struct lease_holder *k);

/* Returns the current state. `why` is set for UNSURE and TAKEN and may be null. */
enum lease_holder_state lease_holder_look(struct lease_holder *k, struct err *why);

/* Keeps the claim of `consumer` alive in place of its reader. Null ends that. */
void lease_holder_attend(struct lease_holder *k, const char *consumer);
