/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command's pipelines in parallel, one thread each, while the main thread handles signals.
 */
#pragma once

#include <signal.h>

#include "rowferry/base/err.h"

struct threads {
    void *jobs; /* an array */
    size_t size;
    size_t count;
    void (*work)(void *job);
    void (*stopped)(void *job); /* called once in the main thread after stop is set; may be null */
    const volatile sig_atomic_t *stop;
};

/* Returns when all threads have ended. If a thread cannot be started, waits for the others and
 * returns an error. */
int threads_run(const struct threads *t, struct err *err) MUST_CHECK;
