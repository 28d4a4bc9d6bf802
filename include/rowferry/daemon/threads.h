/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command's pipelines side by side, a thread each, while the main thread has the signals.
 */
#ifndef ROWFERRY_DAEMON_THREADS_H
#define ROWFERRY_DAEMON_THREADS_H

#include <signal.h>

#include "rowferry/base/err.h"

struct threads {
    void *jobs; /* an array */
    size_t size;
    size_t count;
    void (*work)(void *job);
    void (*stopped)(
        void *job); /* in the main thread, once: stop is set; null: nobody has to know */
    const volatile sig_atomic_t *stop;
};

/* Until all have ended; an error where one could not be started, the others have ended then. */
int threads_run(const struct threads *t, struct err *err) MUST_CHECK;

#endif
