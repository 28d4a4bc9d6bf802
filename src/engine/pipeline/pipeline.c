/* SPDX-License-Identifier: Apache-2.0 */
/* A sync, after the caller has taken the lock: connect, find or build the generation, run the
 * loop, go live. */
#include "rowferry/engine/pipeline/pipeline.h"

#include <stdio.h>
#include <string.h>

#include "generation/generation.h"
#include "pipeline/loop.h"
#include "rowferry/base/log.h"
#include "rowferry/state/deadletter.h"
#include "rowferry/state/generation_config.h"
#include "rowferry/state/guard_stop.h"

#define SYNC_WAIT_MS 250 /* interval of checks for a stop */

struct sync {
    const struct pipeline_options *options;
    const struct pipeline_ports *ports;
    struct generation target;
    struct loop loop;
    struct buf consumer;
    bool again; /* sync_prepare runs for a second time */
    bool moved; /* the alias moved while the loop ran, and the sync can continue from there */
};

typedef int (*sync_step)(struct sync *s, struct err *err);

/* Repeats a step while it fails with a transient error and the retry budget lasts. */
static int pipeline_sync_endure(struct sync *s, struct retry_budget *retry_budget, sync_step step,
                                struct err *err)
{
    for (;;) {
        int rc = step(s, err);
        if (rc != ERR_TRANSIENT) {
            if (rc == 0) {
                retry_budget_well(retry_budget, &s->ports->clock);
            }
            return rc;
        }
        if (loop_stopping(&s->loop) || !retry_budget_away(retry_budget, &s->ports->clock, err)) {
            return rc;
        }
        int64_t wait_ms;
        loop_note_away(&s->loop);
        while ((wait_ms =
                    retry_budget_wait_ms(retry_budget, clock_monotonic_us(&s->ports->clock))) > 0 &&
               !loop_stopping(&s->loop)) {
            bool readable;
            rc = s->ports->service.ops->bulk.wait(s->ports->service.self, -1,
                                                  wait_ms < SYNC_WAIT_MS ? wait_ms : SYNC_WAIT_MS,
                                                  &readable, err);
            if (rc < 0) {
                return rc;
            }
        }
    }
}

static int pipeline_sync_connect(struct sync *s, struct err *err)
{
    return s->ports->source.ops->connect(s->ports->source.self, &s->target.facts, err);
}

/* Prepares the generation. A repeat connects again, because the first connection may have caused
 * the failure. */
static int pipeline_sync_prepare(struct sync *s, struct err *err)
{
    int rc = s->again ? pipeline_sync_connect(s, err) : 0;
    s->again = true;
    if (rc == 0) {
        rc = s->ports->service.ops->greet(s->ports->service.self, s->options->follow.retry,
                                          &s->target.product, err);
    }
    if (rc == 0 && s->options->follow.snapshot != NULL) {
        status_snapshot_connected(s->options->follow.snapshot, s->target.facts.version,
                                  &s->target.product);
    }
    if (rc == 0 && s->options->mode != PIPELINE_BUILD) {
        rc = generation_end_rebuild(&s->target, err);
    }
    if (rc == 0) {
        rc = generation_prepare(&s->target, err);
    }
    if (rc == 0 && s->options->definition.built != NULL) {
        rc = generation_config_write(s->ports->state, s->target.checkpoint.generation,
                                     s->options->definition.built, err);
    }
    return rc;
}

static int pipeline_sync_go_live(struct sync *s, struct err *err)
{
    s->target.guard = &s->loop.deletes.guard;
    return generation_go_live(&s->target, err);
}

/* Checks that the documents went into the live index. */
static int pipeline_sync_check_live(struct sync *s, struct err *err)
{
    return generation_prepare(&s->target, err);
}

static int pipeline_sync_refresh(struct sync *s, struct err *err)
{
    return s->ports->service.ops->refresh(s->ports->service.self, s->target.checkpoint.generation,
                                          err);
}

/* Prepares the generation after the alias moved. First records a swap of our own rebuild that was
 * not recorded. */
static int pipeline_sync_look_at_alias(struct sync *s, struct err *err)
{
    int rc = generation_end_rebuild(&s->target, err);
    return rc == 0 ? generation_prepare(&s->target, err) : rc;
}

/* Returns true if the service has refused what was sent to a live index. */
static bool pipeline_sync_was_refused(const struct sync *s, const struct err *err)
{
    return s->loop.watchers.alias.alias != NULL && err->class == ERR_REJECTED &&
           err->http_status != 0;
}

/* Runs the loop. If the loop ended because the alias moved, repeats the checks of a start. If they
 * find an error, it replaces the loop's error. If they succeed, the alias was restored or points
 * at our own rebuild, and s->moved is set: a new start continues from there and waits for an
 * unreachable service. If the service refused, they may know why: a deleted index, for example. */
static int pipeline_sync_run_loop(struct sync *s, bool *stopped, struct err *err)
{
    struct loop *l = &s->loop;
    int rc = loop_run(l, stopped, err);
    struct err why;
    bool missed = rc < 0 && l->watchers.alias.missed;
    bool looks = missed || (rc < 0 && pipeline_sync_was_refused(s, err));
    int looked = looks ? pipeline_sync_look_at_alias(s, &why) : 0;
    s->moved = missed && (looked == 0 || looked == ERR_TRANSIENT);
    if (looked < 0 && looked != ERR_TRANSIENT) {
        *err = why;
        rc = looked;
    }
    return rc;
}

/* Points the loop at the generation of the checkpoint; a live generation is guarded. */
static void pipeline_sync_take_generation(struct sync *s)
{
    struct loop *l = &s->loop;
    bool live = s->target.checkpoint.phase == GENERATION_LIVE && s->options->mode != PIPELINE_BUILD;
    l->watchers.alias = (struct alias_watch){.view = &l->view,
                                             .alias = live ? s->options->definition.alias : NULL,
                                             .uuid = s->target.checkpoint.index_uuid,
                                             .place = s->target.place.text,
                                             .service_retry = &l->service_retry};
    l->view.target.index = s->target.checkpoint.generation;
    l->sender.write_alias = s->target.write_alias;
    l->sender.index = l->view.target.index;
    l->deletes.guarded =
        s->options->definition.stream || s->target.checkpoint.phase == GENERATION_LIVE;
    source_reader_guard(&l->source_reader,
                        l->deletes.guarded && !s->options->definition.stream &&
                            s->options->guard.share < 1,
                        (uint64_t)s->options->guard.count);
}

/* If the previous round failed too, its successor logs at debug level only. */
static enum log_level pipeline_level_of(const struct sync *s)
{
    return s->options->follow.retry ? LOG_DEBUG : LOG_INFO;
}

/* Connects to source and service, and prepares the loop. */
static int pipeline_sync_begin(struct sync *s, struct err *err)
{
    struct loop *l = &s->loop;
    int rc = pipeline_sync_endure(s, &l->source_retry, pipeline_sync_connect, err);
    if (rc == 0) {
        rc = pipeline_sync_endure(s, &l->service_retry, pipeline_sync_prepare, err);
    }
    if (rc == 0 && s->target.taken_over) {
        pending_commit_release(&l->pending_commit);
        rc = pending_commit_init(&l->pending_commit, s->ports->state, err);
    }
    if (rc < 0) {
        return rc;
    }
    const struct checkpoint *c = &s->target.checkpoint;
    checkpoint_backup_take(&l->backup, c->position != NULL ? text_copy(c->position) : NULL);
    generation_consumer(&s->target, &s->consumer);
    l->plan = s->target.facts.plan;
    l->source_reader.consumer = buf_text(&s->consumer);
    pipeline_sync_take_generation(s);
    l->source_reader.loaded = c->documents;
    source_reader_init(&l->source_reader, &s->target.facts, c->position, c->clock_ceiling);
    if (c->position == NULL) {
        rc = s->options->build.back ? reconcile_note_former(&l->deletes, err)
                                    : reconcile_note_empty(&l->deletes, err);
    }
    if (rc < 0) {
        return rc;
    }
    log_event(pipeline_level_of(s), "sync_started", F_TEXT("pipeline", s->options->definition.name),
              F_TEXT("index", c->generation),
              F_TEXT("from", c->position == NULL ? "the beginning"
                             : c->phase == GENERATION_BUILDING && !s->options->build.back
                                 ? "the interrupted load"
                                 : "the checkpoint"));
    return 0;
}

/* Requests need an existing index. */
static int pipeline_sync_check_synced(const struct sync *s, struct err *err)
{
    if (s->options->mode != PIPELINE_REQUESTS || s->target.checkpoint.position != NULL) {
        return 0;
    }
    err_set(err, ERR_STATE, "it has not been synced yet");
    return err_hint(err, "run: rowferry sync %s", s->options->definition.name);
}

/* Drops the source's entries for a generation that was replaced by another one. */
static void pipeline_sync_forget_replaced(struct sync *s)
{
    if (generation_replaced(&s->target)[0] != '\0') {
        (void)source_reader_forget_consumer(&s->loop.source_reader,
                                            generation_replaced(&s->target));
    }
}

/* Makes the new generation live after its initial load. */
static int pipeline_sync_end_load(struct sync *s, struct pipeline_result *result, struct err *err)
{
    int rc = pipeline_sync_endure(s, &s->loop.service_retry, pipeline_sync_go_live, err);
    result->first_load = rc == 0;
    if (rc == 0) {
        pipeline_sync_forget_replaced(s);
    }
    return rc;
}

/* Forgets the last guard stop, because the pipeline is past it. */
static int pipeline_sync_forget_halt(struct sync *s, struct err *err)
{
    if (s->options->mode == PIPELINE_REQUESTS) {
        return 0;
    }
    int rc = guard_stop_clear(s->ports->state, err);
    return rc < 0 ? rc : requests_end_permission(&s->loop.requests, &s->loop.counters, err);
}

/* Follows until stopped. Permissions end here because they cover only earlier changes. */
static int pipeline_sync_follow(struct sync *s, struct pipeline_result *result, struct err *err)
{
    pipeline_sync_take_generation(s);
    int rc = pipeline_sync_forget_halt(s, err);
    if (rc < 0) {
        return rc;
    }
    s->loop.deletes.guard.allowed = 0;
    s->loop.view.following.on = true;
    wakeup_open(&s->loop.follow.wakeup, s->ports->state, s->options->follow.wake_fd);
    log_event(s->options->follow.rested ? LOG_DEBUG : LOG_INFO, "following",
              F_TEXT("pipeline", s->options->definition.name));
    rc = pipeline_sync_run_loop(s, &result->stopped, err);
    result->quiet = rc == 0 && !loop_stopping(&s->loop);
    return rc;
}

static int pipeline_sync_work(struct sync *s, struct pipeline_result *result, struct err *err)
{
    int rc = pipeline_sync_begin(s, err);
    result->begun = rc == 0;
    if (rc == 0) {
        rc = pipeline_sync_run_loop(s, &result->stopped, err);
    }
    if (rc < 0 || result->stopped) {
        return rc;
    }
    if (s->options->mode == PIPELINE_BUILD) {
        pipeline_sync_forget_replaced(s);
        return 0; /* engine/rebuild/rebuild.h continues */
    }
    consumer_retention_on_page(&s->loop.watchers.retention, false);
    if (s->target.taken_over) {
        pipeline_sync_forget_replaced(s);
    }
    if (s->target.checkpoint.phase == GENERATION_BUILDING &&
        s->options->mode != PIPELINE_REQUESTS) {
        rc = pipeline_sync_end_load(s, result, err);
    } else if (s->loop.counters.sent > 0) {
        rc = pipeline_sync_endure(s, &s->loop.service_retry, pipeline_sync_check_live, err);
    }
    if (rc == 0 && s->options->refresh && !result->first_load) {
        rc = pipeline_sync_endure(s, &s->loop.service_retry, pipeline_sync_refresh, err);
    }
    return rc == 0 && s->options->mode == PIPELINE_FOLLOW ? pipeline_sync_follow(s, result, err)
                                                          : rc;
}

/* A round of `run` that failed is reported by the worker, which may repeat it often. */
static void pipeline_sync_log(const struct sync *s, const struct pipeline_result *result, int rc,
                              const struct err *err)
{
    const struct counters *c = &result->counters;
    bool failed = rc < 0 && !s->moved;
    enum log_level level = pipeline_level_of(s);
    if (failed) {
        level = s->options->mode == PIPELINE_FOLLOW ? LOG_DEBUG : LOG_ERROR;
    }
    const char *outcome = failed ? "failed" : result->stopped ? "stopped" : "done";
    log_event(
        level, "sync_ended", F_TEXT("pipeline", s->options->definition.name),
        F_TEXT("outcome", outcome), F_TEXT("message", failed ? err->message : NULL),
        F_INT("read", c->rows_read), F_INT("upserts", c->upserts), F_INT("present", c->present),
        F_INT("deletes", c->deletes), F_INT("rejected", c->rejected), F_INT("retried", c->retried),
        F_INT("conflicts", c->conflicts), F_INT("bytes", c->bytes), F_INT("requests", c->requests),
        F_INT("checkpoints", c->checkpoints), F_INT("took_ms", result->elapsed_ms));
}

static void pipeline_sync_report(struct sync *s, struct pipeline_result *result)
{
    struct err ignored;
    result->counters = s->loop.counters;
    result->elapsed_ms = (clock_monotonic_us(&s->ports->clock) - s->loop.view.started_us) / 1000;
    if (s->target.checkpoint.generation != NULL) {
        snprintf(result->generation, sizeof(result->generation), "%s",
                 s->target.checkpoint.generation);
    }
    result->stream = s->options->definition.stream;
    snprintf(result->extended, sizeof(result->extended), "%s", s->target.extended);
    if (deadletter_count(s->ports->state, &result->dead_letters, &ignored) < 0) {
        result->dead_letters = 0; /* the sync's own error reports it */
    }
}

static void pipeline_sync_init(struct sync *s, const struct pipeline_options *options,
                               const struct pipeline_ports *ports)
{
    *s = (struct sync){.options = options,
                       .ports = ports,
                       .target = {.definition = &options->definition,
                                  .source = ports->source,
                                  .service = ports->service,
                                  .state = ports->state,
                                  .clock = ports->clock,
                                  .next = options->mode == PIPELINE_BUILD,
                                  .rivals = options->rivals,
                                  .rebuild = {.adopt = options->build.adopt,
                                              .begun_us = options->build.begun_us,
                                              .keep = options->definition.keep}}};
    buf_init(&s->consumer, 2048);
}

/* Runs one sync. s->moved and s->loop.view stay valid. */
static int pipeline_sync_once(struct sync *s, const struct pipeline_options *options,
                              const struct pipeline_ports *ports, struct pipeline_result *result,
                              struct err *err)
{
    *result = (struct pipeline_result){0};
    pipeline_sync_init(s, options, ports);
    int rc = loop_init(&s->loop, options, ports, err);
    if (rc == 0) {
        rc = generation_init(&s->target, err);
    }
    if (rc == 0) {
        rc = pipeline_sync_check_synced(s, err);
    }
    if (rc == 0) {
        rc = pipeline_sync_work(s, result, err);
    }
    if (rc < 0 && s->target.checkpoint.phase == GENERATION_LIVE) {
        err_drop_guess(err);
    }
    if (rc == 0 && !result->stopped) {
        rc = pipeline_sync_forget_halt(s, err);
    }
    source_reader_end_ticks(&s->loop.source_reader);
    if (rc < 0 && !s->moved) {
        requests_fail(&s->loop.requests, err);
    } else {
        requests_put_back(&s->loop.requests);
    }
    pipeline_sync_report(s, result);
    pipeline_sync_log(s, result, rc, err);
    if (options->follow.snapshot != NULL) {
        status_snapshot_round_ended(options->follow.snapshot);
    }
    loop_release(&s->loop);
    generation_release(&s->target);
    buf_release(&s->consumer);
    return rc;
}

static void pipeline_sync_add(struct pipeline_result *sum, const struct pipeline_result *before)
{
    counters_add(&sum->counters, &before->counters);
    sum->begun |= before->begun;
    sum->first_load |= before->first_load;
    sum->elapsed_ms += before->elapsed_ms;
}

/* Repeats the sync while the alias moves. A permission covers only changes before the pipeline
 * followed. */
int pipeline_run(const struct pipeline_options *options, const struct pipeline_ports *ports,
                 struct pipeline_result *result, struct err *err)
{
    struct pipeline_options now = *options;
    struct pipeline_result before = {0};
    struct sync s;
    int rc;
    for (;;) {
        rc = pipeline_sync_once(&s, &now, ports, result, err);
        pipeline_sync_add(result, &before);
        if (rc == 0 || !s.moved) {
            return rc;
        }
        log_err(LOG_WARN, "begins_anew", options->definition.name, err);
        before = *result;
        now.rivals = result->begun ? RIVALS_NONE : now.rivals;
        if (s.loop.view.following.on) {
            now.permission = (struct pipeline_permission){0};
        }
    }
}
