/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a pipeline's scheduled comparisons (`verify.every`) in a thread of its own with its own
 * connections, which only read. The pipelines of a process take turns, because each comparison
 * needs two sessions of the source. Differences are filed as requests to the holder. The state file
 * records the time of the last comparison, so a restart does not repeat it.
 */
#pragma once

#include <pthread.h>
#include <signal.h>

#include "rowferry/daemon/repairs.h"
#include "rowferry/daemon/session.h"
#include "rowferry/daemon/settings_reload.h"

struct verifier {
    const char *pipeline;
    struct settings_reload *settings;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    volatile sig_atomic_t stop; /* accessed atomically */

    /* Current comparison; owned by the thread: */
    struct session session;
    struct repairs repairs;
    struct verify_result result;
};

/* Does nothing if the pipeline has no schedule. All signals must be blocked. */
int verifier_start(struct verifier *v, const char *pipeline, struct settings_reload *settings,
                   struct err *err) MUST_CHECK;

/* Stops the thread, between two pages of a comparison, and joins it. */
void verifier_stop(struct verifier *v);
