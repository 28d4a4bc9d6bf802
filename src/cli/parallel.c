/* SPDX-License-Identifier: Apache-2.0 */
/* Sets up the jobs of a command and runs them in parallel. */
#include "parallel.h"

#include <stdlib.h>

#include "rowferry/base/stop.h"
#include "rowferry/base/text.h"
#include "rowferry/daemon/threads.h"
#include "setup.h"

static struct job_base *parallel_job_at(const struct threads *t, size_t i)
{
    return (struct job_base *)(void *)((char *)t->jobs + i * t->size);
}

static void parallel_stopped(void *job)
{
    struct job_base *base = job;
    pipeline_worker_send_order(&base->worker, PIPELINE_WORKER_STOP);
}

static int parallel_run_all(const struct arguments *a, const struct setup *setup,
                            const struct parallel_command *command, struct threads *t,
                            struct err *err)
{
    struct progress_line progress;
    struct settings_reload settings;
    enum exit_code worst = EXIT_DONE;
    int rc = 0;
    progress_line_init(&progress,
                       !arguments_have(a, OPTION_NO_PROGRESS) && !arguments_have(a, OPTION_QUIET));
    settings_reload_init(&settings, setup->config);
    for (size_t i = 0; i < t->count; i++) {
        struct job_base *base = parallel_job_at(t, i);
        *base = (struct job_base){.arguments = a,
                                  .config = setup->config,
                                  .pipeline = setup->pipelines[i],
                                  .stop = t->stop,
                                  .progress = &progress};
        progress_line_add(&progress, base->pipeline->name);
        rc = rc < 0 ? rc
                    : pipeline_worker_init(&base->worker, PIPELINE_WORKER_UNTIL_REBUILT,
                                           base->pipeline->name, command->name, &settings, err);
    }
    rc = rc < 0 ? rc : threads_run(t, err);
    rc = rc < 0 || command->end == NULL ? rc : command->end(a, t->jobs, t->count, err);
    for (size_t i = 0; i < t->count; i++) {
        worst = err_exit_code_worse(worst, parallel_job_at(t, i)->exit_code);
        pipeline_worker_release(&parallel_job_at(t, i)->worker);
    }
    settings_reload_release(&settings);
    progress_line_release(&progress);
    return rc < 0 ? rc : (int)worst;
}

int parallel_run(const struct arguments *a, const struct parallel_command *command, struct err *err)
{
    struct setup setup = {0};
    int rc = setup_load(&setup, a, err);
    if (rc == 0) {
        rc = setup_secrets(&setup, err);
    }
    if (rc == 0) {
        struct threads t = {.jobs = mem_zero(setup.count, command->job_size),
                            .size = command->job_size,
                            .count = setup.count,
                            .work = command->work,
                            .stopped = parallel_stopped,
                            .stop = stop_watch()};
        rc = parallel_run_all(a, &setup, command, &t, err);
        free(t.jobs);
    }
    setup_release(&setup);
    return rc;
}
