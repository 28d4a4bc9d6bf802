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

struct parallel_command {
    const char *name;
    size_t job_size;         /* bytes of a job, which are zeroed except for its base */
    void (*work)(void *job); /* in the job's thread; sets its exit_code */
    /* After all jobs; null: nothing. `jobs` are `count` jobs, one after another. */
    int (*end)(const struct arguments *a, const void *jobs, size_t count, struct err *err);
};

/* Runs `work` in a thread for each pipeline of the arguments. Returns the worst exit code, or an
 * error if a job was not started, or that of `end`. */
int parallel_run(const struct arguments *a, const struct parallel_command *command,
                 struct err *err) MUST_CHECK;
