/* SPDX-License-Identifier: Apache-2.0 */
/* run: runs all pipelines in parallel until a signal; this thread supervises them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "output/progress_line.h"
#include "output/report.h"
#include "output/terminal.h"
#include "rowferry/base/stop.h"
#include "rowferry/daemon/hooks.h"
#include "rowferry/daemon/sdnotify.h"
#include "rowferry/daemon/worker/listener.h"
#include "rowferry/daemon/worker/pipeline_worker.h"
#include "rowferry/state/lock.h"
#include "setup.h"
#include "status/live_status.h"

#define RUN_LEAVE_US INT64_C(7000000) /* the engine's 5 s for requests in flight, and a margin */
#define RUN_SILENT_MS 120000          /* a pipeline without a heartbeat for this long hangs */
#define DESCRIPTORS_OF_A_PIPELINE 13  /* measured with 64 during the initial load */
#define DESCRIPTORS_SHARED 32
#define RUN_IDLE_MS 3600000
#define STATUS_BYTES 4096

struct run_job {
    const struct arguments *arguments;
    struct setup setup;
    struct settings_reload settings;
    struct lease_keeper *leases;
    struct pipeline_worker *workers;
    size_t count; /* number that were started */
    bool *told;   /* [pipeline]: its end was reported */
    struct listener listener;
    struct hooks hooks;
    struct clock clock;
    int64_t stop_us; /* monotonic time of the stop; 0 if none */
    struct progress_line quiet;
};

/* --- reporting -------------------------------------------------------------------------------- */

static void run_notify_status(const struct run_job *r)
{
    struct buf text;
    buf_init(&text, STATUS_BYTES);
    buf_push_literal(&text, "STATUS=");
    for (size_t i = 0; i < r->count; i++) {
        buf_printf(&text, "%s%s %s", i > 0 ? ", " : "", r->workers[i].name,
                   pipeline_worker_stage(&r->workers[i]));
    }
    sdnotify_send(buf_text(&text));
    buf_release(&text);
}

/* Notifies the watchdog unless a pipeline hangs: the manager then restarts the process. */
static void run_feed_watchdog(const struct run_job *r)
{
    int64_t now = clock_monotonic_us(&r->clock);
    for (size_t i = 0; i < r->count; i++) {
        if (pipeline_worker_silent_ms(&r->workers[i], now) > RUN_SILENT_MS) {
            return;
        }
    }
    sdnotify_send("WATCHDOG=1");
}

/* Joins the pipelines that have ended and reports them. Returns true if all have. */
static bool run_gather(struct run_job *r)
{
    bool all = true;
    for (size_t i = 0; i < r->count; i++) {
        struct pipeline_worker *worker = &r->workers[i];
        if (!r->told[i] && strcmp(pipeline_worker_stage(worker), "ended") == 0) {
            pthread_join(worker->thread, NULL);
            report_print(arguments_have(r->arguments, OPTION_JSON), &worker->outcome, &r->quiet);
            r->told[i] = true;
        }
        all = all && r->told[i];
    }
    return all;
}

/* --- signals --------------------------------------------------------------------------------- */

static void run_report_all(struct run_job *r, enum pipeline_worker_order order)
{
    for (size_t i = 0; i < r->count; i++) {
        pipeline_worker_send_order(&r->workers[i], order);
    }
}

static void run_stop(struct run_job *r, int number)
{
    if (r->stop_us != 0) {
        _exit(128 + number);
    }
    r->stop_us = clock_monotonic_us(&r->clock);
    log_event(LOG_INFO, "stopping", F_TEXT("signal", number == SIGTERM ? "TERM" : "INT"));
    sdnotify_send("STOPPING=1");
    stop_ask();
    run_report_all(r, PIPELINE_WORKER_STOP);
}

static void run_read_again(struct run_job *r)
{
    struct err err;
    char text[96];
    snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%lld",
             (long long)clock_monotonic_us(&r->clock));
    sdnotify_send(text);
    if (settings_reload_read_again(&r->settings, &err) < 0) {
        log_err(LOG_ERROR, "configuration_refused", NULL, &err);
    } else {
        log_plain(LOG_INFO, "configuration_read");
        run_report_all(r, PIPELINE_WORKER_BEGIN_ANEW);
    }
    sdnotify_send("READY=1");
}

static int run_next_signal(int64_t timeout_ms)
{
    sigset_t set;
    const struct timespec timeout = {timeout_ms / 1000, timeout_ms % 1000 * 1000000};
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGUSR1);
    return sigtimedwait(&set, NULL, &timeout);
}

/* --- supervision ------------------------------------------------------------------------------ */

/* Exits although a pipeline has not ended, because a server does not respond at all. The next start
 * sends unsettled operations again. */
static void run_leave(const struct run_job *r)
{
    for (size_t i = 0; i < r->count; i++) {
        if (!r->told[i]) {
            log_event(LOG_WARN, "left", F_TEXT("pipeline", r->workers[i].name),
                      F_TEXT("stage", pipeline_worker_stage(&r->workers[i])));
        }
    }
    _exit(EXIT_DONE);
}

static void run_watch(struct run_job *r)
{
    int64_t watchdog_ms = sdnotify_watchdog_ms();
    while (!run_gather(r)) {
        int64_t wait_ms = watchdog_ms > 0 ? watchdog_ms : RUN_IDLE_MS;
        int64_t sample_ms = listener_sample(&r->listener);
        wait_ms = sample_ms >= 0 && sample_ms < wait_ms ? sample_ms : wait_ms;
        if (r->stop_us != 0) {
            int64_t left_us = r->stop_us + RUN_LEAVE_US - clock_monotonic_us(&r->clock);
            if (left_us <= 0) {
                run_leave(r);
            }
            wait_ms = left_us / 1000 + 1 < wait_ms ? left_us / 1000 + 1 : wait_ms;
        }
        int number = run_next_signal(wait_ms);
        if (number == SIGTERM || number == SIGINT) {
            run_stop(r, number);
        } else if (number == SIGHUP) {
            run_read_again(r);
        } else if (number == SIGUSR1) {
            run_notify_status(r);
        }
        if (watchdog_ms > 0) {
            run_feed_watchdog(r);
        }
    }
}

/* --- from start to end ------------------------------------------------------------------------ */

/* Warns about too few descriptors. The process still works, but late, because failed opens are
 * retried. */
static void run_report_descriptors(const struct run_job *r)
{
    struct rlimit limit;
    rlim_t needed = DESCRIPTORS_SHARED + DESCRIPTORS_OF_A_PIPELINE * (rlim_t)r->setup.count;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < needed) {
        log_event(LOG_WARN, "few_descriptors", F_INT("limit", (int64_t)limit.rlim_cur),
                  F_INT("needed", (int64_t)needed),
                  F_TEXT("hint", "raise LimitNOFILE= of the unit, or ulimit -Hn"));
    }
}

/* The address of `listen` is taken, probably by another run of the same configuration. Replaces the
 * error by one that names the holder, if there is one. */
static int run_report_holder(const struct run_job *r, struct err *err)
{
    struct state *state = NULL;
    struct err ignored;
    char holder[256];
    const char *name = r->setup.pipelines[0]->name;
    bool held = false;
    int rc = state_open_read_only(&state, r->setup.config->state_path, name, &ignored);
    if (rc == 0 && state != NULL) {
        rc = lock_look(state, &held, holder, sizeof(holder), &ignored);
    }
    state_close(state);
    if (rc < 0 || !held) {
        return (int)err->class;
    }
    err_set(err, ERR_HELD, "pipeline \"%s\" is held by %s", name, holder);
    return err_hint(err,
                    "end that process first, or let it work: rowferry status shows what it does");
}

static int run_start_hooks(struct run_job *r, struct err *err)
{
    struct status_snapshot **snapshots = mem_zero(r->setup.count, sizeof(*snapshots));
    for (size_t i = 0; i < r->setup.count; i++) {
        snapshots[i] = r->workers[i].shared.snapshot;
    }
    int rc = hooks_start(&r->hooks, r->setup.config, snapshots, r->setup.count, err);
    free(snapshots);
    return rc;
}

/* Blocks all signals, so that only this thread receives them. */
static int run_start(struct run_job *r, struct err *err)
{
    enum pipeline_worker_mode mode = arguments_have(r->arguments, OPTION_WAIT)
                                         ? PIPELINE_WORKER_STANDS_BY
                                         : PIPELINE_WORKER_ENDS_IF_HELD;
    sigset_t all;
    int rc = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    run_report_descriptors(r);
    r->workers = mem_zero(r->setup.count, sizeof(*r->workers));
    r->told = mem_zero(r->setup.count, sizeof(*r->told));
    for (size_t i = 0; rc == 0 && i < r->setup.count; i++) {
        rc = pipeline_worker_init(&r->workers[i], mode, r->setup.pipelines[i]->name, "run",
                                  &r->settings, err);
    }
    if (rc == 0) {
        rc = listener_start(&r->listener, r->setup.config, r->workers, r->setup.count,
                            live_status_push_json, RUN_SILENT_MS, err);
        rc = rc == ERR_TRANSIENT && mode == PIPELINE_WORKER_ENDS_IF_HELD ? run_report_holder(r, err)
                                                                         : rc;
    }
    rc = rc == 0 ? run_start_hooks(r, err) : rc;
    rc = rc == 0 ? lease_keeper_start(&r->leases, &r->settings, err) : rc;
    while (rc == 0 && r->count < r->setup.count) {
        rc = pipeline_worker_start(&r->workers[r->count], r->leases, err);
        r->count += rc == 0;
    }
    return rc;
}

static int run_end(struct run_job *r)
{
    enum exit_code worst = EXIT_DONE;
    listener_stop(&r->listener);
    hooks_stop(&r->hooks);
    lease_keeper_stop(r->leases);
    for (size_t i = 0; i < r->setup.count; i++) {
        worst = err_exit_code_worse(worst, r->workers[i].outcome.exit_code);
        pipeline_worker_release(&r->workers[i]);
    }
    free(r->workers);
    free(r->told);
    return (int)worst;
}

static int run_all(struct run_job *r, struct err *err)
{
    settings_reload_init(&r->settings, r->setup.config);
    progress_line_init(&r->quiet, false);
    int rc = run_start(r, err);
    if (rc == 0) {
        sdnotify_send("READY=1");
    } else {
        run_report_all(r, PIPELINE_WORKER_STOP);
    }
    run_watch(r);
    int worst = run_end(r);
    settings_reload_release(&r->settings);
    progress_line_release(&r->quiet);
    return rc < 0 ? rc : worst;
}

int command_run(const struct arguments *a, struct err *err)
{
    struct run_job r = {.arguments = a, .clock = clock_system()};
    int rc = setup_load(&r.setup, a, err);
    if (rc == 0) {
        rc = setup_secrets(&r.setup, err);
    }
    if (rc == 0) {
        rc = run_all(&r, err);
    }
    setup_release(&r.setup);
    return rc;
}
