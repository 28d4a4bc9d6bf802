/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pipeline's comparisons by schedule (`verify.every`), in a thread of their own beside the
 * holder's: with connections of their own they only read, and what differs is filed as a request
 * to the holder. The state file says when the last one was, so that a restart does not begin anew.
 */
#ifndef ROWFERRY_DAEMON_VERIFIER_H
#define ROWFERRY_DAEMON_VERIFIER_H

#include <pthread.h>
#include <signal.h>

#include "rowferry/daemon/repairs.h"
#include "rowferry/daemon/session.h"
#include "rowferry/daemon/settings_reload.h"

struct verifier {
    const char *pipeline;
    struct settings *settings;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    volatile sig_atomic_t stop; /* atomically */

    /* of the comparison at hand: the thread's own */
    struct session session;
    struct repairs repairs;
    struct verify_result result;
};

/* Does nothing where the pipeline has no schedule. All signals have to be blocked. */
int verifier_start(struct verifier *v, const char *pipeline, struct settings *settings,
                   struct err *err) MUST_CHECK;

/* Ends it, between two pages of a comparison, and waits for that. */
void verifier_stop(struct verifier *v);

#endif
