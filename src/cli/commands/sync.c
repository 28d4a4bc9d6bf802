/* SPDX-License-Identifier: Apache-2.0 */
/* sync: runs every pipeline in parallel until it is caught up, one thread each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/permit.h"
#include "output/newfile.h"
#include "output/rebuild_report.h"
#include "output/report.h"
#include "output/terminal.h"
#include "parallel.h"
#include "rowferry/base/log.h"
#include "rowferry/daemon/hooks.h"
#include "rowferry/serve/sync_metrics.h"
#include "rowferry/state/deadletter.h"
#include "rowferry/state/guard_stop.h"
#include "rowferry/state/history.h"
#include "rowferry/state/pause.h"

#define SYNC_RUNS 100 /* the history keeps no more */
#define METRICS_BYTES ((size_t)4 << 20)

struct sync_job {
    struct job_base base;
    struct sync_outcome outcome;
    struct rebuild_outcome rebuilt;
    struct rebuild_report_end end; /* null pipeline if no rebuild was in progress */
    struct err rebuilding;         /* why the rebuild was not completed */
    struct err err;
    int64_t succeeded_us; /* when a sync last succeeded, if this one failed; 0: not known */
};

static int sync_job_work(struct sync_job *j, struct err *err)
{
    int rc = session_open_service(&j->base.worker.session, err);
    if (rc < 0) {
        return rc;
    }
    session_open_table(&j->base.worker.session);
    struct pipeline_options options;
    struct pipeline_ports ports;
    session_options(&j->base.worker.session, &options);
    session_ports(&j->base.worker.session, &ports);
    options.refresh = arguments_have(j->base.arguments, OPTION_REFRESH);
    options.permission.deletes = arguments_have(j->base.arguments, OPTION_ALLOW_DELETES);
    options.permission.rejections = arguments_have(j->base.arguments, OPTION_ALLOW_REJECTIONS);
    options.hooks = (struct pipeline_hooks){
        .stop = j->base.stop, .progress = progress_line_draw, .progress_context = j->base.progress};
    return pipeline_run(&options, &ports, &j->outcome.result, err);
}

/* --- a rebuild in progress -------------------------------------------------------------------- */

static int sync_job_look(struct sync_job *j, bool *underway, bool *live, struct err *err)
{
    struct rebuild rebuild;
    struct checkpoint c = {0};
    int rc = rebuild_look(j->base.worker.session.state, &rebuild, underway, err);
    *live = true;
    if (rc == 0 && *underway) {
        rc = checkpoint_load(j->base.worker.session.state, &c, err);
        *live = c.phase != GENERATION_NONE;
        checkpoint_release(&c);
    }
    return rc;
}

/* Returns true if a rebuild may help: the live generation cannot be written. Not after transient
 * errors, and not if the guard waits for a decision. */
static bool sync_job_may_rebuild(const struct sync_job *j, int rc)
{
    struct guard_stop halt;
    struct err ignored;
    bool halted = true;
    if (rc == 0) {
        return !j->outcome.result.stopped;
    }
    return (rc == ERR_STATE || rc == ERR_REJECTED) &&
           guard_stop_read(j->base.worker.session.state, &halt, &halted, &ignored) == 0 && !halted;
}

/* Returns true if the index was built from a different definition and `on_schema_change` is
 * `rebuild`. */
static bool sync_job_wants_rebuild(const struct sync_job *j, int rc, const struct err *err)
{
    bool wants =
        rc < 0 && err->drift && j->base.pipeline->on_schema_change == ON_SCHEMA_CHANGE_REBUILD;
    if (wants) {
        log_err(LOG_WARN, "schema_changed", j->base.pipeline->name, err);
    }
    return wants;
}

/* Resumes the rebuild in progress, or begins one as reindex does. The live generation is kept up to
 * date until it ends. */
static int sync_job_rebuild(struct sync_job *j, bool underway)
{
    struct pipeline_worker *r = &j->base.worker;
    struct err *err = &j->rebuilding;
    int64_t began_us = clock_monotonic_us(&r->session.clock);
    session_close_servers(&r->session);
    pipeline_worker_init_rebuild(r, progress_line_draw, j->base.progress);
    int rc = underway ? rebuild_worker_go_on(&r->rebuild_worker, err)
                      : rebuild_worker_want(&r->rebuild_worker, err);
    rc = rc < 0 ? rc : pipeline_worker_see_rebuild(r, err);
    j->rebuilt = r->rebuild_worker.end.rebuilt;
    j->end = (struct rebuild_report_end){
        .pipeline = j->base.pipeline->name,
        .stopped = rc == 0 && r->rebuild_worker.end.stopped,
        .took_ms = (clock_monotonic_us(&r->session.clock) - began_us) / 1000,
        .exit_code = rc < 0 ? err_exit_code((enum err_class)rc) : EXIT_DONE,
        .err = rc < 0 ? err : NULL};
    counters_add(&j->outcome.result.counters, &r->outcome.result.counters);
    if (j->rebuilt.kind != REBUILD_OUTCOME_NOTHING) {
        j->outcome.result.dead_letters = j->rebuilt.dead_letters;
    }
    return rc;
}

/* Runs the sync, then completes a rebuild that another process left unfinished. */
static int sync_job_do(struct sync_job *j, struct err *err)
{
    bool underway = false;
    bool live = false;
    int rc = pause_expect_none(j->base.worker.session.state, err);
    rc = rc == 0 ? sync_job_look(j, &underway, &live, err) : rc;
    if (rc < 0) {
        return rc;
    }
    rc = live ? sync_job_work(j, err) : 0;
    if (rc == 0 && underway) { /* the sync may have done its swap, which was the only step left */
        rc = sync_job_look(j, &underway, &live, err);
    }
    bool wants = !underway && sync_job_wants_rebuild(j, rc, err);
    if (!wants && (!underway || !sync_job_may_rebuild(j, rc))) {
        return rc;
    }
    int rebuilt = sync_job_rebuild(j, underway);
    if (rebuilt < 0 && (rc == 0 || wants)) {
        *err = j->rebuilding;
        return rebuilt;
    }
    return j->rebuilt.kind != REBUILD_OUTCOME_NOTHING ? 0 : rc;
}

/* --- the last success ------------------------------------------------------------------------- */

static bool sync_job_succeeded(enum exit_code exit_code)
{
    return exit_code == EXIT_DONE || exit_code == EXIT_DEAD_LETTERS;
}

/* Finds when a sync last succeeded, for the metrics of one that failed. */
static void sync_job_find_success(struct sync_job *j)
{
    struct run *runs = mem_zero(SYNC_RUNS, sizeof(*runs));
    struct err ignored;
    size_t count = 0;
    if (history_last(j->base.worker.session.state, runs, SYNC_RUNS, &count, &ignored) < 0) {
        count = 0;
    }
    for (size_t i = 0; i < count && j->succeeded_us == 0; i++) {
        if (strcmp(runs[i].command, "sync") == 0 && runs[i].ended_us != 0 &&
            sync_job_succeeded((enum exit_code)runs[i].exit_code)) {
            j->succeeded_us = runs[i].ended_us;
        }
    }
    free(runs);
}

/* --- one pipeline ----------------------------------------------------------------------------- */

/* Runs a sync and records it in the history. An error of the sync takes precedence. */
static int sync_job_record(struct sync_job *j)
{
    int64_t id;
    int rc = run_record_begin(&j->base.worker.session, &id, &j->err);
    if (rc < 0) {
        return rc;
    }
    rc = sync_job_do(j, &j->err);
    struct err unrecorded;
    j->outcome.exit_code = report_exit_code(
        arguments_have(j->base.arguments, OPTION_DEAD_LETTERS_OK), &j->outcome.result, rc);
    j->outcome.err = rc < 0 ? &j->err : NULL;
    int recorded = run_record_end(&j->base.worker.session, id, &j->outcome, &unrecorded);
    if (rc == 0 && recorded < 0) {
        j->err = unrecorded;
        rc = recorded;
    }
    return rc;
}

/* Becomes the holder. *asked: another process is the holder and has done the permitted
 * operations. */
static int sync_job_hold(struct sync_job *j, bool *asked, struct err *err)
{
    const struct permit permit = {
        .deletes = arguments_have(j->base.arguments, OPTION_ALLOW_DELETES),
        .rejections = arguments_have(j->base.arguments, OPTION_ALLOW_REJECTIONS),
        .stop = j->base.stop,
        .progress = j->base.progress};
    int rc = session_hold(&j->base.worker.session, err);
    *asked = false;
    if (rc == ERR_HELD) {
        rc = permit_ask(&j->base.worker.session, &permit, &j->outcome.result, asked, err);
    }
    return rc;
}

static void sync_job_report_rebuilt(struct sync_job *j)
{
    struct buf out;
    struct err unwritten;
    if (j->end.pipeline == NULL) {
        return;
    }
    buf_init(&out, (size_t)64 * 1024);
    rebuild_report_push(&out, arguments_have(j->base.arguments, OPTION_JSON), &j->rebuilt, &j->end);
    if (terminal_result(&out, &unwritten) < 0) {
        terminal_error(j->end.pipeline, &unwritten);
        j->outcome.exit_code = err_exit_code_worse(j->outcome.exit_code, EXIT_TEMPORARY);
    }
    buf_release(&out);
}

/* Collects what the state file has at the end. A temporary error stops nothing. */
static int sync_job_look_facts(struct sync_job *j, struct hook_facts *out, struct err *err)
{
    struct state *state = j->base.worker.session.state;
    struct guard_stop halt;
    struct checkpoint c = {0};
    bool halted = false;
    int rc = guard_stop_read(state, &halt, &halted, err);
    rc = rc == 0 ? deadletter_count(state, &out->dead_letters, err) : rc;
    rc = rc == 0 ? checkpoint_load(state, &c, err) : rc;
    if (rc == 0 && c.phase == GENERATION_LIVE && c.generation != NULL) {
        snprintf(out->generation, sizeof(out->generation), "%s", c.generation);
    }
    checkpoint_release(&c);
    out->guard_us = halted ? halt.at_us : 0;
    out->stopped = j->outcome.exit_code == EXIT_FAILED && !halted;
    out->works = sync_job_succeeded(j->outcome.exit_code);
    struct err e = j->outcome.err != NULL ? *j->outcome.err : (struct err){0};
    err_name_pipeline(&e, j->base.pipeline->name);
    snprintf(out->why, sizeof(out->why), "%s", e.message);
    size_t len = strlen(out->why);
    if (e.hint[0] != '\0' && len + strlen(e.hint) + 3 < sizeof(out->why)) {
        snprintf(out->why + len, sizeof(out->why) - len, "; %s", e.hint);
    }
    return rc;
}

static void sync_job_tell_hooks(struct sync_job *j)
{
    struct err err;
    struct hook_facts facts = {0};
    const struct hooks_call call = {j->base.config, j->base.pipeline, j->base.worker.session.state,
                                    NULL, -1};
    /* what was interrupted shows nothing */
    if (!hooks_any(j->base.config) || j->outcome.exit_code == EXIT_TEMPORARY ||
        (j->outcome.err == NULL && j->outcome.result.stopped)) {
        return;
    }
    if (sync_job_look_facts(j, &facts, &err) < 0) {
        log_err(LOG_WARN, "hook_failed", j->base.pipeline->name, &err);
    } else {
        hooks_tell(&call, &facts);
    }
}

static void sync_job_run(void *job)
{
    struct sync_job *j = job;
    struct session *s = &j->base.worker.session;
    int rc = session_init(s, j->base.config, j->base.pipeline, "sync", &j->err);
    int64_t began_us = clock_monotonic_us(&s->clock);
    if (rc == 0) {
        rc = session_open_state(s, &j->err);
    }
    bool asked = false;
    if (rc == 0) {
        rc = sync_job_hold(j, &asked, &j->err);
    }
    if (rc == 0 && !asked) {
        rc = sync_job_record(j);
    }
    j->outcome.pipeline = j->base.pipeline->name;
    j->outcome.took_ms = (clock_monotonic_us(&s->clock) - began_us) / 1000;
    j->outcome.exit_code = report_exit_code(
        arguments_have(j->base.arguments, OPTION_DEAD_LETTERS_OK), &j->outcome.result, rc);
    j->outcome.err = rc < 0 ? &j->err : NULL;
    if (s->state != NULL && !sync_job_succeeded(j->outcome.exit_code)) {
        sync_job_find_success(j);
    }
    if (s->state != NULL && !asked && rc != ERR_HELD) {
        sync_job_tell_hooks(j);
    }
    session_release(s);
    if (!arguments_have(j->base.arguments, OPTION_QUIET) || j->outcome.exit_code != EXIT_DONE) {
        report_print(arguments_have(j->base.arguments, OPTION_JSON), &j->outcome, j->base.progress);
        sync_job_report_rebuilt(j);
    }
    j->base.exit_code = j->outcome.exit_code;
}

static int sync_write_metrics(const struct arguments *a, const void *jobs, size_t count,
                              struct err *err)
{
    const struct sync_job *all = jobs;
    const char *path = a->values[OPTION_METRICS_FILE];
    struct clock clock = clock_system();
    struct buf text;
    if (path == NULL) {
        return 0;
    }
    struct sync_sample *samples = mem_zero(count, sizeof(*samples));
    for (size_t i = 0; i < count; i++) {
        const struct sync_outcome *o = &all[i].outcome;
        const struct counters *c = &o->result.counters;
        bool good = sync_job_succeeded(o->exit_code);
        int64_t now_us = clock_wall_us(&clock);
        samples[i] = (struct sync_sample){.pipeline = all[i].base.pipeline->name,
                                          .exit_code = (int)o->exit_code,
                                          .ended_us = now_us,
                                          .succeeded_us = good ? now_us : all[i].succeeded_us,
                                          .took_ms = o->took_ms,
                                          .upserts = c->upserts,
                                          .deletes = c->deletes,
                                          .rejected = c->rejected,
                                          .dead_letters = o->result.dead_letters};
    }
    buf_init(&text, METRICS_BYTES);
    sync_metrics_push(&text, samples, count);
    int rc = newfile_save(path, true, &text, err);
    buf_release(&text);
    free(samples);
    return rc;
}

int command_sync(const struct arguments *a, struct err *err)
{
    static const struct parallel_command command = {"sync", sizeof(struct sync_job), sync_job_run,
                                                    sync_write_metrics};
    const char *path = a->values[OPTION_METRICS_FILE];
    int rc = path != NULL ? newfile_check(path, true, err) : 0; /* before minutes of work */
    return rc < 0 ? rc : parallel_run(a, &command, err);
}
