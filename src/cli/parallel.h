/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command that becomes the holder of its pipelines: each has a thread and a replica, which a stop
 * reaches.
 */
#ifndef ROWFERRY_CLI_PARALLEL_H
#define ROWFERRY_CLI_PARALLEL_H

#include <signal.h>

#include "arguments.h"
#include "output/progress_line.h"
#include "rowferry/daemon/pipeline_worker.h"

/* What a command's own job of a pipeline begins with. All borrowed but the replica. */
struct job_base {
    const struct arguments *arguments;
    const struct config *config;
    const struct pipeline_config *pipeline;
    const volatile sig_atomic_t *stop;
    struct progressline *progress;
    struct replica replica; /* its session is the job's to open and to release */
    enum exit_code exit_code;
};

/* Of the configuration and the pipelines that the arguments name: a job of job_size bytes each, all
 * zero but for its base; work, in a thread of its own, sets exit_code. The worst exit code, or an
 * error where nothing, or not all of it, was begun. */
int jobs_run(const struct arguments *a, const char *command, size_t job_size,
             void (*work)(void *job), struct err *err) MUST_CHECK;

#endif
