/* SPDX-License-Identifier: Apache-2.0 */
/* The fill in the thread, and the steps between the owner's rounds. */
#include "rowferry/daemon/rebuild_worker.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rowferry/base/clock.h"
#include "rowferry/base/log.h"
#include "rowferry/base/stop.h"
#include "rowferry/engine/pipeline/requests.h"
#include "rowferry/state/checkpoint.h"
#include "rowferry/state/live_progress.h"

#define AGAIN_BASE_MS 200
#define AGAIN_MAX_MS 5000
#define NAP_MS 50
#define HELD_MAX 10 /* retries; a connection just closed may still hold the consumer lock */

static const char *const kind_names[] = {[REBUILD_NEW] = "reindex", [REBUILD_BACK] = "rollback"};

void rebuild_worker_init(struct rebuild_worker *b, const struct rebuild_worker_options *options)
{
    b->options = *options; /* keeps `stop` and `quits`, which another thread may have set */
    backoff_init(&b->thread.backoff, AGAIN_BASE_MS, AGAIN_MAX_MS);
    atomic_init(&b->thread.state, REBUILD_WORKER_NONE);
    b->order.aborts = b->order.fresh = b->end.stopped = false;
    b->fill.step = REBUILD_WORKER_WANTED;
    b->fill.result = (struct rebuild_result){0};
    b->end.rebuilt = (struct rebuild_outcome){0};
    b->end.rc = 0;
}

static void rebuild_worker_stop_fill(struct rebuild_worker *b)
{
    __atomic_store_n(&b->stop, 1, __ATOMIC_RELAXED);
}

void rebuild_worker_stop(struct rebuild_worker *b)
{
    __atomic_store_n(&b->quits, 1, __ATOMIC_RELAXED);
    rebuild_worker_stop_fill(b);
}

static bool rebuild_worker_stopping(const struct rebuild_worker *b)
{
    return stop_is_set(&b->stop);
}

static bool rebuild_worker_has_thread(const struct rebuild_worker *b)
{
    return atomic_load(&b->thread.state) != REBUILD_WORKER_NONE;
}

/* --- its session ------------------------------------------------------------------------------ */

static void rebuild_worker_close_session(struct rebuild_worker *b)
{
    if (b->fill.reading != NULL) {
        session_release(&b->fill.session);
        b->fill.session = (struct session){0};
        settings_reload_drop(b->options.settings, b->fill.reading);
        b->fill.reading = NULL;
    }
}

static int rebuild_worker_open_session(struct rebuild_worker *b, struct err *err)
{
    struct session *s = &b->fill.session;
    b->fill.reading = settings_reload_take(b->options.settings);
    b->fill.number = b->fill.reading->number;
    const struct config *config = &b->fill.reading->config;
    int rc = session_init(s, config, config_pipeline(config, b->options.pipeline),
                          b->options.command, err);
    bool former = b->order.kind == REBUILD_BACK && !b->fill.by_file;
    s->target = former ? SESSION_FORMER : SESSION_NEXT;
    s->fences = b->options.fences;
    if (rc == 0) {
        rc = session_open_state(s, err);
    }
    if (rc == 0) {
        rc = session_open_service(s, err);
    }
    if (rc == 0) {
        session_open_table(s);
    }
    return rc;
}

/* Arguments of the engine's functions; each borrows from the ones before. */
struct work {
    struct pipeline_options pipeline;
    struct pipeline_ports ports;
    struct source_options source;
    struct listing_options listing;
    struct rebuild_options options;
    struct verify_ports all;
};

static void rebuild_worker_fill_work(struct rebuild_worker *b, struct work *w,
                                     const volatile sig_atomic_t *stop)
{
    const struct session *s = &b->fill.session;
    session_options(s, &w->pipeline);
    session_ports(s, &w->ports);
    session_source_options(s, &w->source);
    session_listing(s, NULL, &w->listing);
    w->pipeline.hooks.stop = stop;
    if (b->options.patient) {
        w->pipeline.limits.retry_budget_ms = -1;
    }
    w->pipeline.hooks.progress = b->options.progress;
    w->pipeline.hooks.progress_context = b->options.progress_context;
    w->options = (struct rebuild_options){.pipeline = &w->pipeline,
                                          .fields = s->pipeline->fields,
                                          .field_count = s->pipeline->field_count,
                                          .keep = s->pipeline->to.keep};
    w->all = (struct verify_ports){&w->ports, s->service, &w->source, &w->listing};
}

/* --- the fill, in its thread ------------------------------------------------------------------ */

/* Waits for an initial load in progress, which does the same as a rebuild. Sets
 * REBUILD_WORKER_FIRST if there was one and its generation is live now. */
static int rebuild_worker_wait_for_first_load(struct rebuild_worker *b, struct err *err)
{
    enum generation_phase phase = GENERATION_BUILDING;
    int rc = 0;
    for (bool was = false; rc == 0 && phase == GENERATION_BUILDING && !rebuild_worker_stopping(b);
         was = true) {
        struct checkpoint c = {0};
        rc = checkpoint_load(b->fill.session.state, &c, err);
        phase = c.phase;
        bool first = was && phase == GENERATION_LIVE;
        b->fill.step = first ? REBUILD_WORKER_FIRST : b->fill.step;
        if (first && c.generation != NULL) {
            snprintf(b->end.rebuilt.generation, sizeof(b->end.rebuilt.generation), "%s",
                     c.generation);
        }
        checkpoint_release(&c);
        if (phase == GENERATION_BUILDING) {
            clock_sleep(NAP_MS, &b->stop);
        }
    }
    return rc;
}

/* Returns true if a rollback that does not fit the recorded definition may fit that of the file. An
 * older state file has recorded that of another index. */
static bool rebuild_worker_may_use_file(const struct rebuild_worker *b)
{
    return b->order.kind == REBUILD_BACK && !b->fill.by_file && b->fill.session.built != NULL;
}

static int rebuild_worker_try(struct rebuild_worker *b, struct err *err)
{
    struct work w;
    int rc = rebuild_worker_open_session(b, err);
    if (rc == 0 && b->fill.step == REBUILD_WORKER_WANTED && b->order.kind == REBUILD_NEW) {
        rc = rebuild_worker_wait_for_first_load(b, err);
    }
    if (rc < 0 || b->fill.step == REBUILD_WORKER_FIRST || rebuild_worker_stopping(b)) {
        return rc;
    }
    rebuild_worker_fill_work(b, &w, &b->stop);
    if (b->fill.step == REBUILD_WORKER_WANTED) {
        rc = rebuild_want(&w.options, &w.all, b->order.kind, b->order.terms.adopt, err);
        b->fill.step = rc < 0 ? REBUILD_WORKER_WANTED : REBUILD_WORKER_RECORDED;
    }
    rc = rc < 0 ? rc : rebuild_fill(&w.options, &w.all, &b->fill.result, err);
    if (rc < 0 && err->drift && b->fill.step == REBUILD_WORKER_RECORDED && !b->fill.anew &&
        !rebuild_worker_may_use_file(b) && !rebuild_worker_stopping(b)) {
        b->fill.anew = true; /* once only: repeated drift needs a person */
        rc = rebuild_restart(&w.options, &w.all, err);
        rc = rc < 0 ? rc : rebuild_fill(&w.options, &w.all, &b->fill.result, err);
    }
    return rc;
}

static int rebuild_worker_fill(struct rebuild_worker *b, struct err *err)
{
    int rc = rebuild_worker_try(b, err);
    if (rc < 0 && err->drift && rebuild_worker_may_use_file(b) && !rebuild_worker_stopping(b)) {
        rebuild_worker_close_session(b);
        b->fill.by_file = true;
        rc = rebuild_worker_try(b, err);
    }
    return rc;
}

static void *rebuild_worker_run(void *argument)
{
    struct rebuild_worker *b = argument;
    clock_sleep(b->thread.pause_ms, &b->stop);
    b->fill.result = (struct rebuild_result){0};
    b->end.rc = rebuild_worker_stopping(b) ? 0 : rebuild_worker_fill(b, &b->end.err);
    atomic_store(&b->thread.state, REBUILD_WORKER_ENDED);
    b->options.call(b->options.context);
    return NULL;
}

/* --- beginning -------------------------------------------------------------------------------- */

static int rebuild_worker_start(struct rebuild_worker *b, struct err *err)
{
    atomic_store(&b->thread.state, REBUILD_WORKER_RUNNING);
    __atomic_store_n(&b->stop, 0, __ATOMIC_RELAXED);
    int failed = pthread_create(&b->thread.id, NULL, rebuild_worker_run, b);
    if (failed != 0) {
        atomic_store(&b->thread.state, REBUILD_WORKER_NONE);
        return err_set(err, ERR_TRANSIENT, "could not start a thread: %s", strerror(failed));
    }
    return 0;
}

static int rebuild_worker_begin_thread(struct rebuild_worker *b, enum rebuild_kind kind, bool adopt,
                                       bool wants, struct err *err)
{
    b->order.kind = kind;
    b->order.terms = (struct rebuild_terms){.adopt = adopt};
    b->fill.step = wants ? REBUILD_WORKER_WANTED : REBUILD_WORKER_RECORDED;
    b->thread.pause_ms = 0;
    b->thread.held = 0;
    b->end.rebuilt = (struct rebuild_outcome){0};
    b->order.fresh = wants;
    b->fill.anew = b->fill.by_file = false;
    b->end.stopped = false;
    backoff_reset(&b->thread.backoff);
    log_event(LOG_INFO, wants ? "rebuild_wanted" : "rebuild_goes_on",
              F_TEXT("pipeline", b->options.pipeline), F_TEXT("kind", kind_names[kind]));
    return rebuild_worker_start(b, err);
}

int rebuild_worker_go_on(struct rebuild_worker *b, struct err *err)
{
    struct rebuild rebuild;
    bool underway = false;
    int rc = rebuild_look(b->options.state, &rebuild, &underway, err);
    return rc == 0 && underway
               ? rebuild_worker_begin_thread(b, rebuild.kind, rebuild.adopt, false, err)
               : rc;
}

int rebuild_worker_begin(struct rebuild_worker *b, int64_t id, enum rebuild_kind kind,
                         const struct rebuild_terms *terms, struct err *err)
{
    if (b->order.aborts || (rebuild_worker_has_thread(b) && kind != b->order.kind)) {
        err_set(err, ERR_STATE, "%s is under way",
                b->order.aborts                 ? "an abort"
                : b->order.kind == REBUILD_BACK ? "a rollback"
                                                : "a rebuild");
        return err_hint(err, "wait until it has ended, or rowferry reindex --abort %s",
                        b->options.pipeline);
    }
    if (rebuild_worker_has_thread(b) && terms->adopt && !b->order.terms.adopt) {
        err_set(err, ERR_STATE, "a rebuild is under way, without --adopt");
        return err_hint(err,
                        "rowferry reindex %s joins it; rowferry reindex --abort %s, then rowferry "
                        "reindex --adopt %s begins another one",
                        b->options.pipeline, b->options.pipeline, b->options.pipeline);
    }
    int rc = rebuild_worker_has_thread(b)
                 ? 0
                 : rebuild_worker_begin_thread(b, kind, terms->adopt, true, err);
    if (rc == 0) {
        b->order.terms.allow_deletes |= terms->allow_deletes;
        pending_replies_push(&b->order.pending_replies, id);
    }
    return rc;
}

int rebuild_worker_want(struct rebuild_worker *b, struct err *err)
{
    const struct rebuild_terms none = {0};
    return rebuild_worker_busy(b) ? 0 : rebuild_worker_begin(b, 0, REBUILD_NEW, &none, err);
}

void rebuild_worker_abort(struct rebuild_worker *b, int64_t id)
{
    pending_replies_push(&b->order.aborters, id);
    b->order.aborts = true;
    rebuild_worker_stop_fill(b);
    b->options.call(b->options.context);
}

/* --- between the owner's rounds --------------------------------------------------------------- */

static void rebuild_worker_log_rebuilt(const struct rebuild_worker *b)
{
    const struct rebuild_outcome *r = &b->end.rebuilt;
    log_event(LOG_INFO, "rebuilt", F_TEXT("pipeline", b->options.pipeline),
              F_TEXT("index", r->generation),
              F_TEXT("former", r->former[0] != '\0' ? r->former : NULL),
              F_INT("documents", r->documents), F_INT("checked", r->checked),
              F_INT("dead_letters", r->dead_letters), F_INT("removed", r->removed));
}

/* Records for `status` why the rebuild does not continue. */
static void rebuild_worker_note_failed(struct rebuild_worker *b)
{
    const struct clock clock = clock_system();
    struct live_progress working = {.told_us = clock_wall_us(&clock),
                                    .stage = LIVE_PROGRESS_FAILED,
                                    .share = -1,
                                    .remaining_ms = -1,
                                    .lag_rows = -1};
    struct state *next = NULL;
    struct err ignored;
    snprintf(working.failed_why, sizeof(working.failed_why), "%.127s", b->end.err.message);
    int rc = rebuild_open(b->options.state, &next, &ignored);
    if (rc == 0 && next != NULL && live_progress_write(next, &working, &ignored) < 0) {
        log_err(LOG_WARN, "not_told", b->options.pipeline, &ignored);
    }
    state_close(next);
}

/* Swaps the alias to the filled generation. The live generation is not being written. */
static int rebuild_worker_swap(struct rebuild_worker *b)
{
    struct work w;
    if (b->fill.step == REBUILD_WORKER_FIRST) {
        b->end.rebuilt.kind = REBUILD_OUTCOME_FIRST;
        return 0;
    }
    if (!b->fill.result.filled) {
        b->fill.result.stopped = true;
        return 0;
    }
    rebuild_worker_fill_work(b, &w, b->options.stop);
    w.pipeline.hooks.alive_us = b->options.alive_us;
    w.options.allow_deletes = b->order.terms.allow_deletes;
    int rc = rebuild_swap(&w.options, &w.all, &b->fill.result, &b->end.err);
    if (rc == 0 && b->fill.result.swapped) {
        rebuild_outcome_fill(&b->end.rebuilt, b->order.kind, w.options.keep, &b->fill.result);
    }
    return rc;
}

/* Starts the thread again if the error is transient or the fill was interrupted. Returns true if
 * so. */
static bool rebuild_worker_again(struct rebuild_worker *b)
{
    const struct clock clock = clock_system();
    bool held = b->end.rc == ERR_HELD && ++b->thread.held <= HELD_MAX;
    bool waits = held || (b->end.rc == ERR_TRANSIENT && b->options.patient);
    bool interrupted = b->end.rc == 0 && !rebuild_worker_stopping(b) &&
                       b->end.rebuilt.kind == REBUILD_OUTCOME_NOTHING;
    if (!waits && !interrupted) {
        return false;
    }
    if (waits && b->thread.pause_ms == 0) {
        log_err(LOG_WARN, "rebuild_waits", b->options.pipeline, &b->end.err);
    }
    b->thread.pause_ms = waits ? backoff_next_ms(&b->thread.backoff, clock_random(&clock)) : 0;
    if (rebuild_worker_start(b, &b->end.err) < 0) {
        b->end.rc = ERR_TRANSIENT;
        return false;
    }
    return true;
}

static void rebuild_worker_finish(struct rebuild_worker *b)
{
    b->end.rc = b->end.rc == 0 ? rebuild_worker_swap(b) : b->end.rc;
    rebuild_worker_close_session(b);
    if (rebuild_worker_again(b)) {
        return;
    }
    if (b->end.rc < 0) {
        rebuild_outcome_fill_failed(&b->end.rebuilt, &b->fill.result);
        rebuild_worker_note_failed(b);
        log_err(LOG_ERROR, "rebuild_failed", b->options.pipeline, &b->end.err);
        pending_replies_refuse(&b->order.pending_replies, b->options.state, b->options.pipeline,
                               &b->end.err, &b->end.rebuilt);
    } else if (b->end.rebuilt.kind == REBUILD_OUTCOME_NOTHING) {
        b->end.stopped = true; /* requesters wait for the next holder */
    } else {
        rebuild_worker_log_rebuilt(b);
        pending_replies_answer(&b->order.pending_replies, b->options.state, b->options.pipeline,
                               &b->end.rebuilt);
    }
}

/* Carries out an abort: removes the next generation. */
static void rebuild_worker_give_up(struct rebuild_worker *b)
{
    struct work w;
    struct rebuild_aborted aborted = {0};
    b->end.rebuilt = (struct rebuild_outcome){0};
    rebuild_worker_close_session(b);
    int rc = rebuild_worker_open_session(b, &b->end.err);
    if (rc == 0) {
        rebuild_worker_fill_work(b, &w, &b->quits);
        w.pipeline.limits.retry_budget_ms = b->fill.session.pipeline->limits.retry_budget_ms;
        w.pipeline.hooks.alive_us = b->options.alive_us;
        rc = rebuild_abort(&w.options, &w.all, &aborted, &b->end.err);
    }
    b->end.rc = rc;
    b->end.stopped = false;
    if (rc == 0) {
        rebuild_outcome_fill_aborted(&b->end.rebuilt, &aborted);
    }
    rebuild_worker_close_session(b);
    if (rc < 0) {
        log_err(LOG_ERROR, "abort_failed", b->options.pipeline, &b->end.err);
        pending_replies_refuse(&b->order.aborters, b->options.state, b->options.pipeline,
                               &b->end.err, NULL);
    } else {
        struct err why;
        err_set(&why, ERR_STATE, "the rebuild was aborted");
        pending_replies_refuse(&b->order.pending_replies, b->options.state, b->options.pipeline,
                               &why, NULL);
        pending_replies_answer(&b->order.aborters, b->options.state, b->options.pipeline,
                               &b->end.rebuilt);
    }
    b->order.aborts = false;
}

static void rebuild_worker_join(struct rebuild_worker *b)
{
    if (rebuild_worker_has_thread(b)) {
        pthread_join(b->thread.id, NULL);
        atomic_store(&b->thread.state, REBUILD_WORKER_NONE);
    }
}

void rebuild_worker_mind(struct rebuild_worker *b)
{
    if (b->order.aborts) {
        rebuild_worker_join(b);
        rebuild_worker_give_up(b);
    } else if (atomic_load(&b->thread.state) == REBUILD_WORKER_ENDED) {
        rebuild_worker_join(b);
        rebuild_worker_finish(b);
    }
}

void rebuild_worker_take_back(struct rebuild_worker *b)
{
    if (rebuild_worker_has_thread(b) && b->order.fresh) {
        rebuild_worker_abort(b, 0);
        rebuild_worker_mind(b);
    }
}

void rebuild_worker_release(struct rebuild_worker *b)
{
    rebuild_worker_stop_fill(b); /* does not set `quits`, because it may be begun again */
    b->end.stopped = b->end.stopped || rebuild_worker_has_thread(b);
    rebuild_worker_join(b);
    rebuild_worker_close_session(b);
    pending_replies_put_back(&b->order.pending_replies, b->options.state, b->options.pipeline);
    pending_replies_put_back(&b->order.aborters, b->options.state, b->options.pipeline);
}
