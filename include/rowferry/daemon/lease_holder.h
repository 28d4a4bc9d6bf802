/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a pipeline for one `run` among all hosts: a thread of its own with the source's hold
 * (source/pg/lease.h), from before the first round to after the last. What it holds is this
 * pipeline of this service's, whatever its index is called by now.
 *
 * Where another one has the hold it tries again every two seconds or so: to stand by is that and
 * nothing else. Where source or service cannot be asked nobody is known to have it; the consumer's
 * own lock still keeps two from reading at the same time.
 *
 *     ASKING -> HOLDS | TAKEN | UNSURE        and from each of these to each other, told by `call`
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
    KEEPER_TAKEN,  /* another one has it */
    KEEPER_HOLDS,
};

struct keeper_options {
    const char *pipeline;
    const char *command; /* "run" */
    struct settings *settings;
    void (*call)(void *context, enum keeper_state state); /* in the keeper's thread: it is new */
    void *context;
};

struct keeper; /* opaque */

/* Starts the thread. */
int keeper_start(struct keeper **out, const struct keeper_options *options,
                 struct err *err) MUST_CHECK;
/* Gives the hold back; null is allowed. */
void keeper_stop(struct keeper *k);

/* why: of UNSURE and TAKEN; may be null. */
enum keeper_state keeper_look(struct keeper *k, struct err *why);

/* This consumer is to be attended in place of who reads it; null: no more. */
void keeper_attend(struct keeper *k, const char *consumer);

#endif
