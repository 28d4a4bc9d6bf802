/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command that holds its pipelines: each has a thread and a pipeline worker, to which a stop
 * is forwarded.
 */
#pragma once

#include <signal.h>

#include "arguments.h"
#include "output/progress_line.h"
#include "rowferry/daemon/worker/pipeline_worker.h"

/* The first member of a command's job for one pipeline. Everything but the worker is borrowed. */
struct job_base {
    const struct arguments *arguments;
    const struct config *config;
    const struct pipeline_config *pipeline;
    const volatile sig_atomic_t *stop;
    struct progress_line *progress;
    struct pipeline_worker worker; /* the job opens and releases its session */
    enum exit_code exit_code;
};

/* Runs `work` in a thread for each pipeline of the arguments. Each job has job_size bytes, zeroed
 * except for its base; `work` sets its exit_code. Returns the worst exit code, or an error if a job
 * was not started. */
int parallel_run(const struct arguments *a, const char *command, size_t job_size,
                 void (*work)(void *job), struct err *err) MUST_CHECK;
