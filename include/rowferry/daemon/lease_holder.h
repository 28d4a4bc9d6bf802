/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the leases of a `run`, so that only one process among all hosts processes each of its
 * pipelines. One thread, the lease keeper, holds all leases of the process on one session of the
 * source (source/pg/lease.h): a session for each pipeline would be half of all that a `run` needs.
 * A lease is named after the pipeline, its alias in the configuration and the search cluster.
 *
 * A pipeline is added before its first round and leaves after its last. If another process has its
 * lease, the thread tries again about every two seconds. If the source or the search service cannot
 * be reached, the lock holder is unknown. The consumer lock still keeps two processes from reading
 * at the same time. If the session is lost, so are all leases; it is opened again.
 *
 * A source that may suspend itself is left alone by pipelines that rest (source.quiet).
 *
 *     ASKING -> HOLDS | TAKEN | UNSURE     and from each of these to each other
 *
 * `call` reports each change of state.
 */
#pragma once

#include "rowferry/base/err.h"
#include "rowferry/daemon/settings_reload.h"

enum lease_holder_state {
    LEASE_HOLDER_ASKING, /* not known yet */
    LEASE_HOLDER_UNSURE, /* source or service does not answer */
    LEASE_HOLDER_TAKEN,  /* another process has the lease */
    LEASE_HOLDER_HOLDS,
};

struct lease_keeper; /* opaque: the thread and its session */

/* Starts the thread. It connects when the first pipeline is added. */
int lease_keeper_start(struct lease_keeper **out, struct settings_reload *settings,
                       struct err *err) MUST_CHECK;
/* Call after all pipelines have left. Null is allowed. */
void lease_keeper_stop(struct lease_keeper *k);

struct lease_holder_options {
    struct lease_keeper *keeper;
    const char *pipeline;
    void (*call)(void *context, enum lease_holder_state state); /* called in the keeper's thread
                                                                 * when the state has changed */
    void *context;
};

struct lease_holder; /* opaque: one pipeline */

/* Adds a pipeline. */
int lease_holder_start(struct lease_holder **out, const struct lease_holder_options *options,
                       struct err *err) MUST_CHECK;
/* Gives the lease back. Null is allowed. */
void lease_holder_stop(struct lease_holder *h);

/* Returns the current state. `why` is set for UNSURE and TAKEN and may be null. */
enum lease_holder_state lease_holder_look(struct lease_holder *h, struct err *why);

/* While all pipelines of the keeper rest, it has no session and no lease, and the states are
 * ASKING. It takes the leases again when one does not rest any more. */
void lease_holder_rest(struct lease_holder *h, bool rests);

/* Keeps the claim of `consumer` alive in place of its reader. Null ends that. */
void lease_holder_attend(struct lease_holder *h, const char *consumer);
