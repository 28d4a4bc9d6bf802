/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of a pipeline worker: runs round after round of one pipeline. */
#include "rowferry/daemon/worker/pipeline_worker.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "rowferry/base/log.h"
#include "rowferry/daemon/run_record.h"
#include "rowferry/state/checkpoint.h"
#include "worker/pipeline_worker_private.h"

/* The engine's stages are static texts too, so the pointer can be kept. */
static void pipeline_worker_on_progress(void *context, const struct progress *progress)
{
    if (progress->noted) {
        bool works =
            progress->counters.checkpoints > 0 || strcmp(progress->stage, "following") == 0;
        pipeline_worker_note_better(context, works);
    }
    pipeline_worker_enter(context, progress->stage);
}

/* --- a round --------------------------------------------------------------------------------- */

/* Returns true if the configuration was read again since the last call. */
static bool pipeline_worker_take_settings(struct pipeline_worker *r)
{
    struct reading *now = settings_reload_take(r->settings);
    bool changed = r->reading != NULL && r->reading != now;
    settings_reload_drop(r->settings, r->reading);
    r->reading = now;
    r->session.config = &r->reading->config;
    r->session.pipeline = config_pipeline(&r->reading->config, r->name);
    /* a rebuild with these settings began; if it failed, the live index has its own definition */
    r->session.keeps = r->session.keeps || (!rebuild_worker_busy(&r->rebuild_worker) &&
                                            r->rebuild_worker.fill.number == r->reading->number);
    return changed;
}

static void pipeline_worker_round_options(struct pipeline_worker *r, struct pipeline_options *out)
{
    session_options(&r->session, out);
    out->mode = PIPELINE_FOLLOW;
    if (r->mode != PIPELINE_WORKER_UNTIL_REBUILT) {
        out->limits.retry_budget_ms = -1;
    }
    out->permission = r->permission;
    out->rivals = r->rivals;
    out->follow.quiet = r->session.config->source.quiet_ms > 0 && r->lease_holder != NULL &&
                        !rebuild_worker_busy(&r->rebuild_worker);
    out->follow.rested = r->rounds.rested;
    out->follow.retry = r->rounds.failing_us != 0 || r->rounds.broken_us != 0 ||
                        r->rounds.recounts || out->follow.rested;
    out->follow.wake_fd = r->shared.wake_fd;
    out->follow.snapshot = r->shared.snapshot;
    out->follow.stall = &r->stall;
    out->follow.asked = pipeline_worker_asked;
    out->follow.asked_context = r;
    out->hooks = (struct pipeline_hooks){.stop = &r->shared.order,
                                         .alive_us = &r->shared.alive_us,
                                         .progress = pipeline_worker_on_progress,
                                         .progress_context = r};
}

/* Adds the counters of a round to those of the rounds before. */
static void pipeline_worker_add_round(struct pipeline_worker *r,
                                      const struct pipeline_result *result)
{
    struct counters sum = r->outcome.result.counters;
    bool first_load = r->outcome.result.first_load || result->first_load;
    counters_add(&sum, &result->counters);
    r->outcome.result = *result;
    r->outcome.result.counters = sum;
    r->outcome.result.first_load = first_load;
}

static int pipeline_worker_work(struct pipeline_worker *r, struct err *err)
{
    struct session *s = &r->session;
    struct pipeline_result result = {0};
    struct pipeline_options options;
    struct pipeline_ports ports;
    s->fences = pipeline_worker_has_lease(r);
    int rc = r->ports.open(r->ports.context, s, &ports, err);
    if (rc == 0) {
        pipeline_worker_round_options(r, &options);
        rc = pipeline_run(&options, &ports, &result, err);
        pipeline_worker_add_round(r, &result);
        if (result.counters.checkpoints > 0) {
            pipeline_worker_note_better(r, true);
        }
        r->rivals = result.begun ? RIVALS_NONE : r->rivals;
    }
    r->rounds.took_ms = result.elapsed_ms;
    r->ports.close(r->ports.context, s);
    if (rc < 0 && rc != ERR_TRANSIENT) {
        pipeline_worker_refuse_permission(r, err);
    }
    r->permission = (struct pipeline_permission){0};
    r->rounds.count++;
    return rc;
}

/* --- between rounds --------------------------------------------------------------------------- */

/* Returns false if a rebuild is in progress and there is no live generation: the rebuild creates
 * it. */
static bool pipeline_worker_has_live(struct pipeline_worker *r)
{
    struct checkpoint c = {0};
    struct err ignored;
    bool none = rebuild_worker_busy(&r->rebuild_worker) &&
                checkpoint_load(r->session.state, &c, &ignored) == 0 && c.phase == GENERATION_NONE;
    checkpoint_release(&c);
    return !none;
}

static int pipeline_worker_nothing_live(struct pipeline_worker *r, struct err *err)
{
    r->rounds.blocked = 2; /* anything but 1 suppresses the log entry */
    return err_set(err, ERR_STATE, "it has no live index yet: a rebuild makes it");
}

/* Advances the rebuild between two rounds. New settings resume one that failed with others. Returns
 * false if no other round follows. */
static bool pipeline_worker_mind_rebuild(struct pipeline_worker *r, bool new_settings)
{
    rebuild_worker_mind(&r->rebuild_worker);
    if (new_settings && !rebuild_worker_busy(&r->rebuild_worker) &&
        r->rebuild_worker.fill.number != r->reading->number &&
        rebuild_worker_go_on(&r->rebuild_worker, &r->err) < 0) {
        log_err(LOG_WARN, "rebuild_failed", r->name, &r->err);
    }
    return r->mode != PIPELINE_WORKER_UNTIL_REBUILT || rebuild_worker_busy(&r->rebuild_worker);
}

/* Begins a rebuild if the index was built from a different definition and `on_schema_change` is
 * `rebuild`. Does not repeat one that failed. */
static void pipeline_worker_rebuild_for_schema(struct pipeline_worker *r, int rc)
{
    struct err err;
    const struct pipeline_config *now = config_pipeline(r->session.config, r->name);
    if (rc < 0 && r->err.drift && now->on_schema_change == ON_SCHEMA_CHANGE_REBUILD &&
        !rebuild_worker_busy(&r->rebuild_worker) && r->rebuild_worker.end.rc == 0) {
        log_err(LOG_WARN, "schema_changed", r->name, &r->err);
        if (rebuild_worker_want(&r->rebuild_worker, &err) < 0) {
            log_err(LOG_ERROR, "rebuild_failed", r->name, &err);
        }
    }
}

/* Returns true if the initial load failed. A rebuild would wait for it without end. */
static bool pipeline_worker_never_was_live(struct pipeline_worker *r)
{
    struct checkpoint c = {0};
    struct err ignored;
    bool building =
        checkpoint_load(r->session.state, &c, &ignored) == 0 && c.phase == GENERATION_BUILDING;
    checkpoint_release(&c);
    return building;
}

/* Handles the result of a round. Returns true if another round follows. */
static bool pipeline_worker_go_on(struct pipeline_worker *r, int rc)
{
    if (pipeline_worker_stopped(r) || pipeline_worker_lost(r)) {
        return false;
    }
    pipeline_worker_order_done(r);
    r->rounds.recounts = r->rounds.recounts && pipeline_worker_stopped_by_guard(r, rc);
    if (rc == 0) {
        r->rounds.blocked = 0;
        bool quiet = r->outcome.result.quiet && !rebuild_worker_busy(&r->rebuild_worker);
        if (quiet) {
            pipeline_worker_stay_quiet(r);
            pipeline_worker_order_done(r);
        }
        r->rounds.rested = quiet;
        return !pipeline_worker_stopped(r);
    }
    if (pipeline_worker_is_transient(r, rc)) {
        pipeline_worker_wait_for_better(r);
        return true;
    }
    if (pipeline_worker_stopped_by_guard(r, rc)) {
        pipeline_worker_wait_for_permission(r);
        pipeline_worker_order_done(r);
        return !pipeline_worker_stopped(r);
    }
    pipeline_worker_rebuild_for_schema(r, rc);
    if (rc != ERR_HELD && rebuild_worker_busy(&r->rebuild_worker) &&
        !pipeline_worker_never_was_live(r)) {
        pipeline_worker_wait_for_rebuild(r);
    } else if (pipeline_worker_is_final(r, rc)) {
        return false;
    } else {
        pipeline_worker_wait_for_repair(r, true);
    }
    pipeline_worker_order_done(r);
    return !pipeline_worker_stopped(r);
}

static int pipeline_worker_rounds(struct pipeline_worker *r)
{
    int rc = 0;
    do {
        bool new_settings = pipeline_worker_take_settings(r);
        pipeline_worker_note_alive(r);
        if (pipeline_worker_stay_paused(r, &r->err) < 0) {
            rc = ERR_TRANSIENT;
            continue;
        }
        if (pipeline_worker_stopped(r) || pipeline_worker_lost(r)) {
            break;
        }
        new_settings = pipeline_worker_take_settings(r) || new_settings; /* after the pause */
        if (!pipeline_worker_mind_rebuild(r, new_settings)) {
            return 0;
        }
        rc = pipeline_worker_has_live(r) ? pipeline_worker_work(r, &r->err)
                                         : pipeline_worker_nothing_live(r, &r->err);
        if (rc != ERR_TRANSIENT && r->rounds.failing_us != 0) {
            r->rounds.failing_us = 0;
            backoff_reset(&r->rounds.backoff);
        }
    } while (pipeline_worker_go_on(r, rc) && !pipeline_worker_lost(r));
    if (pipeline_worker_lost(r) && !pipeline_worker_stopped(r)) {
        return pipeline_worker_report_lost(r, &r->err);
    }
    bool left = pipeline_worker_stopped(r) && rc == ERR_TRANSIENT;
    return left ? 0 : rc;
}

/* --- the thread ------------------------------------------------------------------------------ */

/* Runs the rounds and records the run in the history. If the final record fails, only logs that. */
static int pipeline_worker_record(struct pipeline_worker *r)
{
    int rc = run_record_begin(&r->session, &r->run, &r->err);
    if (rc < 0) {
        return rc;
    }
    rc = pipeline_worker_is_paused(r) ? 0 : rebuild_worker_go_on(&r->rebuild_worker, &r->err);
    if (rc == 0) {
        rc = verifier_start(&r->verifier, r->name, r->settings, &r->err);
    }
    if (rc == 0) {
        rc = pipeline_worker_rounds(r);
    }
    verifier_stop(&r->verifier);
    rebuild_worker_release(&r->rebuild_worker);
    pending_replies_put_back(&r->pausers, r->session.state, r->name);
    struct err unrecorded;
    r->outcome.exit_code = rc < 0 ? err_exit_code((enum err_class)rc) : EXIT_DONE;
    r->outcome.err = rc < 0 ? &r->err : NULL;
    if (run_record_end(&r->session, r->run, &r->outcome, &unrecorded) < 0) {
        log_err(LOG_WARN, "not_recorded", r->name, &unrecorded);
    }
    r->run = 0;
    return rc;
}

/* Waits after an error before the first round: a busy or damaged state file, too few descriptors.
 * Returns true if the caller should retry. */
static bool pipeline_worker_tries_again(struct pipeline_worker *r, int rc)
{
    if (rc == 0 || pipeline_worker_is_final(r, rc) || pipeline_worker_stopped(r)) {
        return false;
    }
    if (rc == ERR_TRANSIENT) {
        pipeline_worker_wait_for_better(r);
    } else {
        pipeline_worker_wait_for_repair(r, false);
    }
    pipeline_worker_order_done(r);
    return !pipeline_worker_stopped(r);
}

/* Takes the pipeline and works. Repeats this if the lease is lost and the worker stands by. */
static int pipeline_worker_hold_and_work(struct pipeline_worker *r)
{
    int rc;
    bool takes_again;
    do {
        rc = pipeline_worker_hold(r, &r->err);
        if (rc == 0 && !pipeline_worker_stopped(r)) {
            pipeline_worker_init_rebuild(r, NULL, NULL);
            rc = pipeline_worker_record(r);
        }
        takes_again = rc == ERR_HELD && r->mode == PIPELINE_WORKER_STANDS_BY &&
                      pipeline_worker_lost(r) && !pipeline_worker_stopped(r);
    } while (takes_again || pipeline_worker_tries_again(r, rc));
    return rc;
}

static int pipeline_worker_open_state(struct pipeline_worker *r)
{
    int rc;
    do {
        rc = session_open_state(&r->session, &r->err);
    } while (pipeline_worker_tries_again(r, rc));
    return rc;
}

void pipeline_worker_run(struct pipeline_worker *r)
{
    struct session *s = &r->session;
    r->reading = settings_reload_take(r->settings);
    const struct config *config = &r->reading->config;
    int rc = session_init(s, config, config_pipeline(config, r->name), r->command, &r->err);
    s->clock = r->ports.clock;
    int64_t began_us = clock_monotonic_us(&s->clock);
    if (rc == 0) {
        rc = pipeline_worker_open_state(r);
    }
    if (rc == 0) {
        rc = pipeline_worker_hold_and_work(r);
    }
    if (rc == ERR_TRANSIENT && pipeline_worker_stopped(r)) {
        rc = 0; /* stopped before the retry */
    }
    r->ports.lease_stop(r->lease_holder);
    r->outcome.pipeline = r->name;
    r->outcome.took_ms = (clock_monotonic_us(&s->clock) - began_us) / 1000;
    r->outcome.exit_code = rc < 0 ? err_exit_code((enum err_class)rc) : EXIT_DONE;
    r->outcome.err = rc < 0 ? &r->err : NULL;
    r->outcome.result.stopped = rc == 0;
    if (rc == ERR_HELD) {
        log_err(LOG_WARN, "held", r->name, &r->err);
    } else if (rc < 0 && r->rounds.broken_us == 0) { /* else it was logged then */
        log_err(LOG_ERROR, "stopped", r->name, &r->err);
    }
    status_snapshot_over(r->shared.snapshot, (int)r->outcome.exit_code, r->outcome.err);
    session_release(s);
    settings_reload_drop(r->settings, r->reading);
    pipeline_worker_enter(r, "ended");
}

static void *pipeline_worker_thread(void *worker)
{
    pipeline_worker_run(worker);
    return NULL;
}

static void pipeline_worker_on_rebuild_call(void *context)
{
    pipeline_worker_send_order(context, PIPELINE_WORKER_BEGIN_ANEW);
}

void pipeline_worker_init_rebuild(struct pipeline_worker *r,
                                  void (*progress)(void *context, const struct progress *progress),
                                  void *progress_context)
{
    const struct rebuild_worker_options options = {.pipeline = r->name,
                                                   .command = r->command,
                                                   .settings = r->settings,
                                                   .state = r->session.state,
                                                   .fences = r->session.fences,
                                                   .patient =
                                                       r->mode != PIPELINE_WORKER_UNTIL_REBUILT,
                                                   .stop = &r->shared.order,
                                                   .alive_us = &r->shared.alive_us,
                                                   .call = pipeline_worker_on_rebuild_call,
                                                   .context = r,
                                                   .progress = progress,
                                                   .progress_context = progress_context};
    rebuild_worker_init(&r->rebuild_worker, &options);
}

int pipeline_worker_see_rebuild(struct pipeline_worker *r, struct err *err)
{
    struct rebuild_worker *b = &r->rebuild_worker;
    int rc = pipeline_worker_rounds(r);
    bool held = rc == ERR_HELD;
    if (held) {
        rebuild_worker_take_back(b);
        b->end.rebuilt =
            (struct rebuild_outcome){0}; /* nothing to abort; the lock holder is reported */
    }
    bool ended = !held && !rebuild_worker_busy(b);
    rebuild_worker_release(b);
    settings_reload_drop(r->settings, r->reading);
    r->reading = NULL;
    if (rc < 0 && !ended && !pipeline_worker_stopped(r)) {
        *err = r->err;
        return rc;
    }
    if (ended && b->end.rc < 0) {
        *err = b->end.err;
        return b->end.rc;
    }
    return 0;
}

/* --- initialization -------------------------------------------------------------------------- */

static int pipeline_worker_open_servers(void *context, struct session *s,
                                        struct pipeline_ports *out, struct err *err)
{
    (void)context;
    int rc = session_open_service(s, err);
    if (rc == 0) {
        session_open_table(s);
        session_ports(s, out);
    }
    return rc;
}

static void pipeline_worker_close_servers(void *context, struct session *s)
{
    (void)context;
    session_close_servers(s);
}

static int pipeline_worker_poll(void *context, struct pollfd *fds, nfds_t count, int timeout_ms)
{
    (void)context;
    return poll(fds, count, timeout_ms);
}

int pipeline_worker_init(struct pipeline_worker *r, enum pipeline_worker_mode mode,
                         const char *pipeline, const char *command,
                         struct settings_reload *settings, struct err *err)
{
    const struct pipeline_config *p = config_pipeline(settings->first, pipeline);
    struct pipeline_worker_shared *shared = &r->shared;
    *r = (struct pipeline_worker){.name = pipeline,
                                  .command = command,
                                  .settings = settings,
                                  .mode = mode,
                                  .watcher = pthread_self()};
    r->ports = (struct pipeline_worker_ports){.clock = clock_system(),
                                              .open = pipeline_worker_open_servers,
                                              .close = pipeline_worker_close_servers,
                                              .wait = pipeline_worker_poll,
                                              .lease_start = lease_holder_start,
                                              .lease_look = lease_holder_look,
                                              .lease_attend = lease_holder_attend,
                                              .lease_rest = lease_holder_rest,
                                              .lease_stop = lease_holder_stop};
    shared->snapshot = status_snapshot_new(r->name, p->to.index);
    status_snapshot_enter(shared->snapshot, "starting", clock_wall_us(&r->ports.clock));
    pipeline_worker_note_alive(r);
    atomic_init(&shared->stage, "starting");
    atomic_init(&shared->hold, PIPELINE_WORKER_HOLDS_NOTHING);
    backoff_init(&r->rounds.backoff, PIPELINE_WORKER_BASE_MS, PIPELINE_WORKER_MAX_MS);
    backoff_init(&r->rounds.repair, PIPELINE_WORKER_REPAIR_BASE_MS, PIPELINE_WORKER_REPAIR_MAX_MS);
    shared->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (shared->wake_fd < 0) {
        return err_set(err, ERR_TRANSIENT, "could not open a descriptor: %s", strerror(errno));
    }
    return 0;
}

int pipeline_worker_start(struct pipeline_worker *r, struct lease_keeper *leases, struct err *err)
{
    r->lease_keeper = leases;
    int failed = pthread_create(&r->thread, NULL, pipeline_worker_thread, r);
    if (failed != 0) {
        return err_set(err, ERR_TRANSIENT, "could not start a thread: %s", strerror(failed));
    }
    return 0;
}

void pipeline_worker_release(struct pipeline_worker *r)
{
    status_snapshot_free(r->shared.snapshot);
    if (r->shared.wake_fd > 0) {
        close(r->shared.wake_fd);
    }
}
