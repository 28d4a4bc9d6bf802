/* SPDX-License-Identifier: Apache-2.0 */
/* sync: every pipeline until it is caught up, side by side, one thread each. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "progressline.h"
#include "report.h"
#include "session.h"
#include "setup.h"
#include "stop.h"

struct job {
    const struct arguments *arguments;
    const struct config *config;
    const struct pipeline_config *pipeline;
    const volatile sig_atomic_t *stop;
    struct progressline *progress;
    struct session session;
    struct sync_outcome outcome;
    struct err err;
    pthread_t thread;
};

static int job_work(struct job *j, struct err *err)
{
    int rc = session_open_service(&j->session, err);
    if (rc < 0) {
        return rc;
    }
    session_open_table(&j->session);
    struct pipeline_options options;
    struct pipeline_ports ports;
    session_options(&j->session, &options);
    session_ports(&j->session, &ports);
    options.refresh = arguments_have(j->arguments, OPTION_REFRESH);
    options.allow_deletes = arguments_have(j->arguments, OPTION_ALLOW_DELETES);
    options.stop = j->stop;
    options.progress = progressline_draw;
    options.progress_context = j->progress;
    return pipeline_sync(&options, &ports, &j->outcome.result, err);
}

/* A sync with its line in the history; the sync's own error is the one that is told. */
static int job_record(struct job *j)
{
    int64_t id;
    int rc = report_begin(&j->session, &id, &j->err);
    if (rc < 0) {
        return rc;
    }
    rc = job_work(j, &j->err);
    struct err unrecorded;
    j->outcome.exit_code = report_exit_code(j->arguments, &j->outcome.result, rc);
    j->outcome.err = rc < 0 ? &j->err : NULL;
    int recorded = report_end(&j->session, id, &j->outcome, &unrecorded);
    if (rc == 0 && recorded < 0) {
        j->err = unrecorded;
        rc = recorded;
    }
    return rc;
}

static void *job_run(void *argument)
{
    struct job *j = argument;
    struct session *s = &j->session;
    int rc = session_init(s, j->config, j->pipeline, "sync", &j->err);
    int64_t began_us = clock_monotonic_us(&s->clock);
    if (rc == 0) {
        rc = session_open_state(s, &j->err);
    }
    if (rc == 0) {
        rc = session_hold(s, &j->err);
    }
    if (rc == 0) {
        rc = job_record(j);
    }
    j->outcome.pipeline = j->pipeline->name;
    j->outcome.took_ms = (clock_monotonic_us(&s->clock) - began_us) / 1000;
    j->outcome.exit_code = report_exit_code(j->arguments, &j->outcome.result, rc);
    j->outcome.err = rc < 0 ? &j->err : NULL;
    session_release(s);
    report_tell(j->arguments, &j->outcome, j->progress);
    return NULL;
}

/* Signals are for the main thread, which has nothing to do but wait. */
static int start_all(struct job *jobs, size_t count, size_t *started, struct err *err)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = 0;
    for (*started = 0; *started < count && failed == 0; *started += failed == 0) {
        failed = pthread_create(&jobs[*started].thread, NULL, job_run, &jobs[*started]);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed != 0) {
        return err_set(err, ERR_TRANSIENT, "could not start a thread: %s", strerror(failed));
    }
    return 0;
}

static int run_all(struct job *jobs, size_t count, struct err *err)
{
    size_t started;
    int rc = start_all(jobs, count, &started, err);
    enum exit_code worst = EXIT_DONE;
    for (size_t i = 0; i < started; i++) {
        pthread_join(jobs[i].thread, NULL);
        worst = exit_code_worse(worst, jobs[i].outcome.exit_code);
    }
    return rc < 0 ? rc : (int)worst;
}

int command_sync(const struct arguments *a, struct err *err)
{
    struct setup setup;
    int rc = setup_load(&setup, a, a->operands, a->operand_count, err);
    if (rc == 0) {
        rc = setup_secrets(&setup, err);
    }
    if (rc == 0) {
        struct progressline progress;
        progressline_init(&progress, !arguments_have(a, OPTION_NO_PROGRESS));
        const volatile sig_atomic_t *stop = stop_watch();
        struct job *jobs = mem_zero(setup.count, sizeof(*jobs));
        for (size_t i = 0; i < setup.count; i++) {
            jobs[i] = (struct job){.arguments = a,
                                   .config = setup.config,
                                   .pipeline = setup.pipelines[i],
                                   .stop = stop,
                                   .progress = &progress};
        }
        rc = run_all(jobs, setup.count, err);
        free(jobs);
        progressline_release(&progress);
    }
    setup_release(&setup);
    return rc;
}
