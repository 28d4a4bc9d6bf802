/* SPDX-License-Identifier: Apache-2.0 */
/* Fills, checks and swaps in the next generation. */
#include "rowferry/engine/rebuild/rebuild.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generation/generation_retention.h"
#include "rebuild/rebuild_private.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/failpoint.h"
#include "rowferry/base/log.h"
#include "rowferry/state/deadletter.h"

#define READY_MS 120000 /* time limit for replica shards */
#define READY_TURN_MS 2000

/* --- common to all steps --------------------------------------------------------------------- */

/* Opens the rebuild as a pipeline that fills the next generation. The caller closes j->next. */
int rebuild_open_next(struct rebuild_job *j, struct err *err)
{
    int rc = rebuild_look(j->ports->pipeline->state, &j->wish, &j->underway, err);
    if (rc == 0) {
        rc = rebuild_open(j->ports->pipeline->state, &j->next, err);
    }
    if (rc == 0 && j->next == NULL) {
        rc = err_set(err, ERR_INTERNAL, "no rebuild of \"%s\" is in progress",
                     j->options->pipeline->definition.name);
    }
    if (rc < 0) {
        return rc;
    }
    j->filling = *j->options->pipeline;
    j->filling.mode = PIPELINE_BUILD;
    j->filling.build.adopt = j->wish.adopt;
    j->filling.build.back = j->wish.kind == REBUILD_BACK;
    j->filling.build.begun_us = j->wish.begun_us;
    j->next_ports = *j->ports->pipeline;
    j->next_ports.state = j->next;
    return 0;
}

void rebuild_target_of(const struct rebuild_job *j, struct state *state, struct generation *t)
{
    *t = (struct generation){.definition = &j->options->pipeline->definition,
                             .source = j->ports->pipeline->source,
                             .service = j->ports->pipeline->service,
                             .state = state,
                             .clock = j->ports->pipeline->clock,
                             .next = true,
                             .rebuild = {.adopt = j->wish.adopt, .begun_us = j->wish.begun_us}};
}

void rebuild_job_begin(struct rebuild_job *j, const struct rebuild_options *options,
                       const struct verify_ports *ports)
{
    *j = (struct rebuild_job){.options = options, .ports = ports};
    j->began_us = clock_monotonic_us(&ports->pipeline->clock);
}

void rebuild_job_end(struct rebuild_job *j, struct rebuild_result *result)
{
    state_close(j->next);
    if (result != NULL) {
        result->elapsed_ms += (clock_monotonic_us(&j->ports->pipeline->clock) - j->began_us) / 1000;
    }
}

int rebuild_failpoint(const char *point, struct err *err)
{
    return FAILPOINT(point) ? err_set(err, ERR_TRANSIENT, "failpoint \"%s\"", point) : 0;
}

/* Finds out if the next generation was swapped in but not recorded. The writer of the live
 * generation records it at its next start. */
static int rebuild_look_swapped(struct rebuild_job *j, void *context, struct err *err)
{
    struct rebuild_result *result = context;
    struct checkpoint next;
    struct index_info at = {0};
    enum alias_kind kind = ALIAS_ABSENT;
    const struct service_port *service = &j->ports->pipeline->service;
    int rc = checkpoint_load(j->next, &next, err);
    if (rc == 0 && next.index_uuid != NULL) {
        rc = service->ops->resolve(service->self, j->filling.definition.alias, &kind, &at, err);
    }
    if (rc == 0 && kind == ALIAS_ONE && strcmp(at.uuid, next.index_uuid) == 0) {
        result->filled = result->swapped = true;
        snprintf(result->generation, sizeof(result->generation), "%s", next.generation);
    }
    checkpoint_release(&next);
    return rc;
}

/* Handles a rebuild that is already recorded. The live generation's loop also watches the alias
 * and may have recorded the swap just now. Then neither a request nor a next generation is left. */
static int rebuild_look_recorded(struct rebuild_job *j, int rc, struct rebuild_result *result,
                                 struct err *err)
{
    struct err ignored;
    struct checkpoint live;
    struct state *state = j->ports->pipeline->state;
    bool underway = true;
    if (rc == ERR_TRANSIENT || rebuild_look(state, &j->wish, &underway, &ignored) < 0 || underway) {
        return rc;
    }
    rc = checkpoint_load(state, &live, err);
    if (rc == 0 && live.generation != NULL) {
        result->filled = result->swapped = true;
        snprintf(result->generation, sizeof(result->generation), "%s", live.generation);
    }
    checkpoint_release(&live);
    return rc;
}

/* --- filling --------------------------------------------------------------------------------- */

static int rebuild_copy(struct rebuild_job *j, struct rebuild_result *result, struct err *err)
{
    struct pipeline_result filled;
    int rc = pipeline_run(&j->filling, &j->next_ports, &filled, err);
    counters_add(&result->counters, &filled.counters);
    result->dead_letters = filled.dead_letters;
    result->stopped = filled.stopped || rebuild_stopping(j);
    if (filled.generation[0] != '\0') {
        snprintf(result->generation, sizeof(result->generation), "%s", filled.generation);
    }
    return rc;
}

/* Sets *lacks if the live index lacks replicas too, as on a single node; then do not wait for
 * them. */
static int rebuild_live_lacks_copies(struct rebuild_job *j, bool *lacks, struct err *err)
{
    const struct service_port *service = &j->ports->pipeline->service;
    struct index_info live;
    enum alias_kind kind;
    bool green = false;
    int rc = service->ops->resolve(service->self, j->filling.definition.alias, &kind, &live, err);
    if (rc == 0 && kind == ALIAS_ONE) {
        rc = service->ops->ready(service->self, live.name, 0, &green, err);
    }
    *lacks = !green;
    return rc;
}

static int rebuild_wait_for_copies(struct rebuild_job *j, const char *index, struct err *err)
{
    const struct service_port *service = &j->ports->pipeline->service;
    const struct clock *clock = &j->ports->pipeline->clock;
    int64_t until_us = clock_monotonic_us(clock) + INT64_C(1000) * READY_MS;
    bool green = false;
    bool lacks = false;
    int rc = service->ops->ready(service->self, index, READY_TURN_MS, &green, err);
    if (rc == 0 && !green) {
        rc = rebuild_live_lacks_copies(j, &lacks, err);
    }
    while (rc == 0 && !green && !lacks && !rebuild_stopping(j) &&
           clock_monotonic_us(clock) < until_us) {
        clock_sleep(100, j->options->pipeline->hooks.stop);
        rc = service->ops->ready(service->self, index, READY_TURN_MS, &green, err);
    }
    if (rc == 0 && !green && !rebuild_stopping(j)) {
        log_event(LOG_WARN, "copies_missing", F_TEXT("pipeline", j->filling.definition.name),
                  F_TEXT("index", index));
    }
    return rc;
}

/* Applies the configured settings and waits for the replicas, so that the generation goes live at
 * full capacity. */
static int rebuild_finish(struct rebuild_job *j, void *context, struct err *err)
{
    const struct rebuild_result *result = context;
    const struct service_port *service = &j->ports->pipeline->service;
    int rc = service->ops->finish(service->self, result->generation, j->filling.definition.settings,
                                  err);
    return rc == 0 ? rebuild_wait_for_copies(j, result->generation, err) : rc;
}

int rebuild_fill(const struct rebuild_options *options, const struct verify_ports *ports,
                 struct rebuild_result *result, struct err *err)
{
    struct rebuild_job j;
    rebuild_job_begin(&j, options, ports);
    *result = (struct rebuild_result){0};
    int rc = rebuild_open_next(&j, err);
    if (rc == 0) {
        rc = rebuild_retry(&j, rebuild_look_swapped, result, err);
    }
    if (rc < 0) {
        rc = rebuild_look_recorded(&j, rc, result, err);
    }
    if (rc < 0 || result->swapped) {
        rebuild_job_end(&j, result);
        return rc;
    }
    rc = rebuild_copy(&j, result, err);
    rc = rc == 0 ? rebuild_failpoint("rebuild_copied", err) : rc;
    if (rc == 0 && !result->stopped) {
        rc = rebuild_retry(&j, rebuild_finish, result, err);
    }
    rc = rc == 0 ? rebuild_failpoint("rebuild_finished", err) : rc;
    if (rc == 0 && !rebuild_stopping(&j)) {
        rc = rebuild_check(&j, result, err);
    }
    rc = rc == ERR_TRANSIENT && rebuild_stopping(&j) ? 0 : rc;
    result->stopped = rc == 0 && rebuild_stopping(&j);
    result->filled = rc == 0 && !result->stopped;
    if (result->filled) {
        log_event(LOG_INFO, "rebuild_filled", F_TEXT("pipeline", j.filling.definition.name),
                  F_TEXT("index", result->generation), F_INT("rows", result->rows),
                  F_INT("documents", result->documents),
                  F_INT("dead_letters", result->dead_letters));
    }
    rebuild_job_end(&j, result);
    return rc;
}

/* --- the swap -------------------------------------------------------------------------------- */

void rebuild_kept_name(const struct generation *t, struct buf *out)
{
    buf_printf(out, "%s-before-rowferry", t->definition->alias);
}

static int rebuild_swap_alias(struct rebuild_job *j, struct generation *t, enum alias_kind kind,
                              const struct index_info *from, struct rebuild_result *result,
                              struct err *err)
{
    const struct service_port *service = &t->service;
    const char *to = t->checkpoint.generation;
    if (kind != ALIAS_CONCRETE) {
        return service->ops->swap(service->self, t->definition->alias,
                                  kind == ALIAS_ONE ? from->name : NULL, to, err);
    }
    struct buf kept;
    bool kept_it = false;
    buf_init(&kept, 512);
    rebuild_kept_name(t, &kept);
    int rc = service->ops->alias.swap_adopting(service->self, t->definition->alias, buf_text(&kept),
                                               to, &kept_it, err);
    if (rc == ADOPT_CANNOT_KEEP) {
        log_err(LOG_WARN, "index_not_kept", j->filling.definition.name, err);
        rc = service->ops->alias.swap_adopting(service->self, t->definition->alias, NULL, to,
                                               &kept_it, err);
    }
    if (rc == 0) {
        snprintf(result->former, sizeof(result->former), "%s", kept_it ? buf_text(&kept) : "");
        log_event(LOG_WARN, "index_adopted", F_TEXT("pipeline", j->filling.definition.name),
                  F_TEXT("index", t->definition->alias),
                  F_TEXT("kept", kept_it ? buf_text(&kept) : ""));
    }
    buf_release(&kept);
    return rc;
}

struct exchange {
    struct generation *target;
    const struct checkpoint *live;
    struct rebuild_result *result;
};

/* Records what a return to the former generation needs. Its open dead letters are lost. So if it
 * has any, no position is recorded, and a return reads all rows again. */
static int rebuild_leave(struct rebuild_job *j, const struct exchange *x,
                         const struct index_info *from, struct err *err)
{
    const struct service_port *service = &j->ports->pipeline->service;
    const struct checkpoint *live = x->live;
    int64_t letters = 0;
    bool known = live->position != NULL && live->generation != NULL &&
                 strcmp(live->generation, from->name) == 0; /* else of another state file */
    int rc = deadletter_count(j->ports->pipeline->state, &letters, err);
    return rc < 0 ? rc
                  : service->ops->leave(
                        service->self, from->name, j->filling.definition.name,
                        known && letters == 0 ? live->position : "",
                        known ? live->clock_ceiling : x->target->checkpoint.clock_ceiling, err);
}

/* May be repeated: the alias shows what is done. */
static int rebuild_exchange(struct rebuild_job *j, void *context, struct err *err)
{
    const struct exchange *x = context;
    struct generation *t = x->target;
    struct rebuild_result *result = x->result;
    struct index_info from;
    enum alias_kind kind = ALIAS_ABSENT;
    int rc = generation_check_filled(t, err);
    if (rc == 0) {
        rc = generation_holder(t, &kind, &from, err);
    }
    if (rc < 0) {
        return rc;
    }
    if (kind == ALIAS_ONE && strcmp(from.name, t->checkpoint.generation) == 0) {
        /* swapped earlier and not recorded, or by another program that did not wait for its
         * settings */
        return t->service.ops->finish(t->service.self, from.name, t->definition->settings, err);
    }
    rc = t->service.ops->refresh(t->service.self, t->checkpoint.generation, err);
    if (rc == 0) {
        rc = rebuild_guard(j, t, kind, from.name, err);
    }
    if (rc == 0 && kind == ALIAS_ONE) {
        snprintf(result->former, sizeof(result->former), "%s", from.name);
        rc = rebuild_leave(j, x, &from, err);
    }
    rc = rc == 0 ? rebuild_failpoint("rebuild_left", err) : rc;
    return rc == 0 ? rebuild_swap_alias(j, t, kind, &from, result, err) : rc;
}

static int rebuild_promote_consumer(struct rebuild_job *j, const struct generation *t,
                                    const struct checkpoint *live, struct err *err)
{
    struct buf consumer;
    buf_init(&consumer, 2048);
    if (live->phase == GENERATION_LIVE) {
        generation_consumer_name(t, live->generation,
                                 live->index_uuid != NULL ? live->index_uuid : "", &consumer);
    }
    int rc =
        rebuild_promote(j->ports->pipeline->state, consumer.len > 0 ? buf_text(&consumer) : NULL,
                        clock_wall_us(&t->clock), err);
    if (rc == 0 && j->options->keep == 0 && consumer.len > 0) {
        rc = rebuild_former_due(j->ports->pipeline->state, buf_text(&consumer), err);
    }
    buf_release(&consumer);
    if (rc == 0) {
        log_event(LOG_INFO, "generation_live", F_TEXT("pipeline", t->definition->name),
                  F_TEXT("alias", t->definition->alias), F_TEXT("index", t->checkpoint.generation));
    }
    return rc;
}

static int rebuild_swap_once(struct rebuild_job *j, struct rebuild_result *result, struct err *err)
{
    struct generation t;
    struct checkpoint live;
    rebuild_target_of(j, j->next, &t);
    int rc = checkpoint_load(j->ports->pipeline->state, &live, err);
    if (rc == 0) {
        rc = generation_init(&t, err);
    }
    if (rc == 0) {
        rc = rebuild_retry(j, rebuild_exchange, &(struct exchange){&t, &live, result}, err);
    }
    rc = rc == 0 ? rebuild_failpoint("alias_swapped", err) : rc;
    if (rc == 0) { /* the request records that the rest is owed */
        generation_retention_apply(
            &t, j->ports->pipeline->state,
            &(struct kept){.live = t.checkpoint.generation,
                           .former = result->former[0] != '\0' ? result->former : live.generation,
                           .count = j->options->keep},
            &result->removed);
        rc = rebuild_promote_consumer(j, &t, &live, err);
    }
    rc = rc == 0 ? rebuild_failpoint("rebuild_promoted", err) : rc;
    result->swapped = rc == 0;
    generation_release(&t);
    checkpoint_release(&live);
    return rc;
}

static int rebuild_catch_up(struct rebuild_job *j, struct rebuild_result *result, struct err *err)
{
    result->swapped = false; /* rebuild_fill judged by the alias, this function by the record */
    int rc = rebuild_open_next(j, err);
    if (rc == 0) {
        rc = rebuild_copy(j, result, err);
    }
    if (rc == 0 && !result->stopped) {
        rc = rebuild_swap_once(j, result, err);
    }
    if (rc == ERR_TRANSIENT && rebuild_stopping(j)) {
        result->stopped = true;
        rc = 0;
    }
    return rc;
}

/* After fill found the generation swapped in, only the record is missing, unless the live loop
 * wrote it. If another program did the swap, the generation may be incomplete. */
static int rebuild_record_swapped(struct rebuild_job *j, struct rebuild_result *result,
                                  struct err *err)
{
    int rc = rebuild_look(j->ports->pipeline->state, &j->wish, &j->underway, err);
    if (rc == 0 && j->underway) {
        rc = rebuild_catch_up(j, result, err);
    }
    return rc;
}

int rebuild_swap(const struct rebuild_options *options, const struct verify_ports *ports,
                 struct rebuild_result *result, struct err *err)
{
    struct rebuild_job j;
    rebuild_job_begin(&j, options, ports);
    int rc = result->swapped ? rebuild_record_swapped(&j, result, err)
                             : rebuild_catch_up(&j, result, err);
    rebuild_job_end(&j, result);
    return rc;
}
