/* SPDX-License-Identifier: Apache-2.0 */
/* A sync from lock to last commit: connect, find or build the generation, loop, go live. */
#include "rowferry/engine/pipeline.h"

#include <stdio.h>
#include <string.h>

#include "loop.h"
#include "rowferry/base/log.h"
#include "rowferry/state/deadletter.h"
#include "rowferry/state/halt.h"
#include "target.h"

struct sync {
    const struct pipeline_options *options;
    const struct pipeline_ports *ports;
    struct target target;
    struct loop loop;
    struct buf consumer;
    bool again; /* preparing, not for the first time */
};

typedef int (*sync_step)(struct sync *s, struct err *err);

/* Repeats a step while it fails for a passing reason and patience lasts. */
static int sync_endure(struct sync *s, struct patience *patience, sync_step step, struct err *err)
{
    for (;;) {
        int rc = step(s, err);
        if (rc != ERR_TRANSIENT) {
            if (rc == 0) {
                patience_well(patience, &s->ports->clock);
            }
            return rc;
        }
        if (loop_stopping(&s->loop) || !patience_away(patience, &s->ports->clock, err)) {
            return rc;
        }
        int64_t wait_ms;
        while ((wait_ms = patience_wait_ms(patience, clock_monotonic_us(&s->ports->clock))) > 0 &&
               !loop_stopping(&s->loop)) {
            bool readable;
            rc = s->ports->service.ops->wait(s->ports->service.self, -1, wait_ms, &readable, err);
            if (rc < 0) {
                return rc;
            }
        }
    }
}

static int sync_connect(struct sync *s, struct err *err)
{
    return s->ports->source.ops->connect(s->ports->source.self, &s->target.facts, err);
}

/* A repeat connects anew: the first connection may be what failed. */
static int sync_prepare(struct sync *s, struct err *err)
{
    int rc = s->again ? sync_connect(s, err) : 0;
    s->again = true;
    if (rc == 0) {
        rc = s->ports->service.ops->greet(s->ports->service.self, err);
    }
    return rc < 0 ? rc : target_prepare(&s->target, err);
}

static int sync_go_live(struct sync *s, struct err *err)
{
    s->target.guard = &s->loop.deletes.guard;
    return target_go_live(&s->target, err);
}

/* Whether what was sent went into the index that people search. */
static int sync_check_live(struct sync *s, struct err *err)
{
    return target_prepare(&s->target, err);
}

static int sync_refresh(struct sync *s, struct err *err)
{
    return s->ports->service.ops->refresh(s->ports->service.self, s->target.checkpoint.generation,
                                          err);
}

/* Connects to both sides and gives the loop what it needs of them. */
static int sync_begin(struct sync *s, struct err *err)
{
    struct loop *l = &s->loop;
    int rc = sync_endure(s, &l->source_patience, sync_connect, err);
    if (rc == 0) {
        rc = sync_endure(s, &l->service_patience, sync_prepare, err);
    }
    if (rc == 0 && s->target.taken_over) {
        settling_release(&l->settling);
        rc = settling_init(&l->settling, s->ports->state, err);
    }
    if (rc < 0) {
        return rc;
    }
    const struct checkpoint *c = &s->target.checkpoint;
    l->committed = c->position != NULL ? text_copy(c->position) : NULL;
    target_consumer(&s->target, &s->consumer);
    l->plan = s->target.facts.plan;
    l->sender.index = c->generation;
    l->intake.consumer = buf_text(&s->consumer);
    l->deletes.guarded = c->phase == GENERATION_LIVE;
    l->intake.guarded = l->deletes.guarded && s->options->guard_share < 1;
    l->intake.harmless = (uint64_t)s->options->guard_count;
    l->intake.loaded = c->documents;
    intake_init(&l->intake, &s->target.facts, c->position, c->clock_ceiling);
    log_event(LOG_INFO, "sync_started", F_TEXT("pipeline", s->options->name),
              F_TEXT("index", c->generation),
              F_TEXT("from", c->position == NULL               ? "the beginning"
                             : c->phase == GENERATION_BUILDING ? "where the first load stands"
                                                               : "the checkpoint"));
    return 0;
}

/* Requests are about an index that exists. */
static int sync_check_synced(const struct sync *s, struct err *err)
{
    if (!s->options->requests_only || s->target.checkpoint.position != NULL) {
        return 0;
    }
    err_set(err, ERR_STATE, "pipeline \"%s\" has not been synced yet", s->options->name);
    return err_hint(err, "run: rowferry sync %s", s->options->name);
}

static int sync_work(struct sync *s, struct pipeline_result *result, struct err *err)
{
    int rc = sync_begin(s, err);
    if (rc == 0) {
        rc = loop_run(&s->loop, &result->stopped, err);
    }
    if (rc < 0 || result->stopped) {
        return rc;
    }
    if (s->target.checkpoint.phase == GENERATION_BUILDING && !s->options->requests_only) {
        rc = sync_endure(s, &s->loop.service_patience, sync_go_live, err);
        result->first_load = rc == 0;
        if (rc == 0 && target_replaced(&s->target)[0] != '\0') {
            intake_forget_consumer(&s->loop.intake, target_replaced(&s->target));
        }
        return rc;
    }
    if (s->loop.counters.sent > 0) {
        rc = sync_endure(s, &s->loop.service_patience, sync_check_live, err);
    }
    if (rc == 0 && s->options->refresh) {
        rc = sync_endure(s, &s->loop.service_patience, sync_refresh, err);
    }
    return rc;
}

static void sync_report(struct sync *s, struct pipeline_result *result)
{
    struct err ignored;
    const struct counters *c = &s->loop.counters;
    result->counters = *c;
    result->elapsed_ms = (clock_monotonic_us(&s->ports->clock) - s->loop.started_us) / 1000;
    if (s->target.checkpoint.generation != NULL) {
        snprintf(result->generation, sizeof(result->generation), "%s",
                 s->target.checkpoint.generation);
    }
    if (deadletter_count(s->ports->state, &result->dead_letters, &ignored) < 0) {
        result->dead_letters = 0; /* the sync's own error tells of a state file that fails */
    }
    log_event(LOG_INFO, "sync_ended", F_TEXT("pipeline", s->options->name),
              F_INT("read", c->rows_read), F_INT("upserts", c->upserts),
              F_INT("deletes", c->deletes), F_INT("rejected", c->rejected),
              F_INT("retried", c->retried), F_INT("outrun", c->outrun), F_INT("bytes", c->bytes),
              F_INT("requests", c->requests), F_INT("checkpoints", c->checkpoints),
              F_INT("took_ms", result->elapsed_ms));
}

int pipeline_sync(const struct pipeline_options *options, const struct pipeline_ports *ports,
                  struct pipeline_result *result, struct err *err)
{
    struct sync s = {.options = options,
                     .ports = ports,
                     .target = {.pipeline = options->name,
                                .alias = options->alias,
                                .mapping = options->mapping,
                                .settings = options->settings,
                                .source = ports->source,
                                .service = ports->service,
                                .state = ports->state,
                                .clock = ports->clock}};
    *result = (struct pipeline_result){0};
    buf_init(&s.consumer, 2048);
    int rc = loop_init(&s.loop, options, ports, err);
    if (rc == 0) {
        rc = target_init(&s.target, err);
    }
    if (rc == 0) {
        rc = sync_check_synced(&s, err);
    }
    if (rc == 0) {
        rc = sync_work(&s, result, err);
    }
    if (rc == 0 && !result->stopped && !options->requests_only) {
        rc = halt_forget(ports->state, err);
    }
    if (rc < 0) {
        requests_fail(&s.loop.requests, err);
    }
    sync_report(&s, result);
    loop_release(&s.loop);
    target_release(&s.target);
    buf_release(&s.consumer);
    return rc;
}
