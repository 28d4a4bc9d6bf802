/* SPDX-License-Identifier: Apache-2.0 */
/* Requests or aborts a rebuild. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generation/generation_retention.h"
#include "generation/place.h"
#include "rebuild/rebuild_private.h"
#include "rowferry/base/log.h"

#define LEFT_MAX_BYTES ((size_t)1 << 20) /* of a position */

/* --- the request ----------------------------------------------------------------------------- */

static int rebuild_request_expect_same_wish(const struct rebuild_job *j, enum rebuild_kind kind,
                                            bool adopt, struct err *err)
{
    const char *name = j->options->pipeline->definition.name;
    bool back = j->wish.kind == REBUILD_BACK;
    if (j->wish.kind == kind && (j->wish.adopt || !adopt)) {
        return 0;
    }
    err_set(err, ERR_STATE, "a %s is under way%s", back ? "rollback" : "rebuild",
            j->wish.kind == kind ? ", without --adopt" : "");
    return err_hint(err,
                    "rowferry reindex%s %s continues it, rowferry reindex --abort %s cancels it",
                    back ? " --rollback" : "", name, name);
}

static int rebuild_request_wish(struct rebuild_job *j, enum rebuild_kind kind, bool adopt,
                                const struct checkpoint *begin, const char *former, struct err *err)
{
    const struct rebuild r = {.kind = kind,
                              .adopt = adopt,
                              .former = former,
                              .begun_us = clock_wall_us(&j->ports->pipeline->clock)};
    int rc = rebuild_begin(j->ports->pipeline->state, &r, begin, err);
    rc = rc == 0 ? rebuild_failpoint("rebuild_wished", err) : rc;
    return rc;
}

/* Checks that no other process uses the live index, which this state file does not know. Such a
 * process would hold the lock. */
static int rebuild_request_expect_free(struct generation *t, const struct index_info *live,
                                       struct err *err)
{
    struct mirrored mirror = {0};
    struct buf consumer;
    buf_init(&consumer, 2048);
    generation_consumer_name(t, live->name, live->uuid, &consumer);
    int rc = t->source.ops->mirrored(t->source.self, buf_text(&consumer), NULL, &mirror, err);
    free(mirror.position);
    free(mirror.letters);
    buf_release(&consumer);
    return rc;
}

/* Checks that the index to adopt is not blocked. A block found later was then set by the adoption
 * and may be removed. */
static int rebuild_request_expect_writable(const struct index_info *from, struct err *err)
{
    if (from->write_block == NULL) {
        return 0;
    }
    err_set(err, ERR_STATE, "cannot adopt index \"%s\": it is write-blocked", from->name);
    return err_hint(err, "remove the block, then try again");
}

/* Checks before the request is recorded that the source accepts this account and this table, and
 * that the alias's holder is ours or may be adopted. */
static int rebuild_request_want_new(struct rebuild_job *j, struct generation *t, bool adopt,
                                    struct err *err)
{
    struct index_info from;
    enum alias_kind kind;
    t->rebuild.adopt = adopt;
    int rc = t->source.ops->connect(t->source.self, &t->facts, err);
    rc = rc == 0 ? generation_holder(t, &kind, &from, err) : rc;
    if (rc == 0 && kind == ALIAS_ONE && t->checkpoint.phase == GENERATION_NONE) {
        rc = rebuild_request_expect_free(t, &from, err);
    }
    if (rc == 0 && kind == ALIAS_CONCRETE) {
        rc = rebuild_request_expect_writable(&from, err);
    }
    return rc < 0 ? rc : rebuild_request_wish(j, REBUILD_NEW, adopt, NULL, NULL, err);
}

/* index null: the error is about the pipeline, whose name is appended to the hint. */
static int rebuild_request_refuse_back(const struct rebuild_job *j, const char *index,
                                       const char *why, const char *hint, struct err *err)
{
    const char *name = j->options->pipeline->definition.name;
    if (index != NULL) {
        err_set(err, ERR_STATE, "cannot roll back to index \"%s\": %s", index, why);
        return err_hint(err, "%s", hint);
    }
    err_set(err, ERR_STATE, "cannot roll back: %s", why);
    return err_hint(err, "%s %s", hint, name);
}

/* Finds our last former generation. */
static int rebuild_request_find_former(struct rebuild_job *j, const struct generation *t,
                                       struct index_info *all, const struct index_info **former,
                                       struct err *err)
{
    size_t count = 0;
    const struct service_port *service = &j->ports->pipeline->service;
    *former = NULL;
    int rc = service->ops->list(service->self, t->definition->alias, t->definition->name, all,
                                GENERATION_RETENTION_MAX, &count, err);
    if (rc == 0) {
        generation_retention_forget_gone(t, all, count);
        *former = generation_retention_last(all, count, t->checkpoint.generation);
    }
    if (rc == 0 && *former == NULL) {
        rc = rebuild_request_refuse_back(
            j, NULL, "no former generation is kept",
            "to.keep sets how many are kept; to build a new index: rowferry reindex", err);
    }
    return rc;
}

static int rebuild_request_check_former(struct rebuild_job *j, struct generation *t,
                                        const struct index_info *former, struct err *err)
{
    if (former->closed || former->write_block != NULL) {
        return rebuild_request_refuse_back(j, former->name,
                                           former->closed ? "it is closed" : "it is write-blocked",
                                           "open it, or remove the block, then try again", err);
    }
    const char *differs =
        takeover_pipeline_differs(&j->options->pipeline->definition, &t->facts, former);
    if (differs != NULL) {
        err_set(err, ERR_STATE, "cannot roll back to index \"%s\": %s", former->name, differs);
        err_hint(
            err,
            "restore the configuration of that time, or build a new index: rowferry reindex %s",
            j->options->pipeline->definition.name);
        return err_drift(err);
    }
    return place_check(t, former, err);
}

/* Begins from the position where it was replaced. If that is unknown, or dead letters were open,
 * it is loaded again in place. */
static int rebuild_request_begin_back(struct rebuild_job *j, struct generation *t,
                                      const struct index_info *former, struct err *err)
{
    struct buf position;
    struct buf consumer;
    int64_t clock = 0;
    bool found = false;
    const struct service_port *service = &j->ports->pipeline->service;
    buf_init(&position, LEFT_MAX_BYTES);
    buf_init(&consumer, 2048);
    generation_consumer_name(t, former->name, former->uuid, &consumer);
    int rc = service->ops->left(service->self, former->name, &position, &clock, &found, err);
    bool known = rc == 0 && found && position.len > 0;
    struct checkpoint begin = {.generation = (char *)(uintptr_t)former->name,
                               .index_uuid = (char *)(uintptr_t)former->uuid,
                               .mapping_fingerprint = (char *)(uintptr_t)former->fingerprint,
                               .table_fingerprint = (char *)(uintptr_t)former->table,
                               .source_identity = (char *)(uintptr_t)former->source,
                               .position = known ? (char *)(uintptr_t)buf_text(&position) : NULL,
                               .clock_ceiling = clock};
    if (rc == 0) {
        rc = rebuild_request_wish(j, REBUILD_BACK, false, &begin, buf_text(&consumer), err);
    }
    buf_release(&position);
    buf_release(&consumer);
    return rc;
}

static int rebuild_request_want_back(struct rebuild_job *j, struct generation *t, struct err *err)
{
    const struct index_info *former = NULL;
    struct index_info *all = mem_zero(GENERATION_RETENTION_MAX, sizeof(*all));
    int rc = 0;
    if (t->checkpoint.phase != GENERATION_LIVE) {
        rc = rebuild_request_refuse_back(j, NULL, "it has not been synced yet",
                                         "run: rowferry sync", err);
    }
    if (rc == 0) {
        rc = t->source.ops->connect(t->source.self, &t->facts, err);
    }
    if (rc == 0) {
        rc = rebuild_request_find_former(j, t, all, &former, err);
    }
    if (rc == 0 && former != NULL) {
        rc = rebuild_request_check_former(j, t, former, err);
    }
    if (rc == 0 && former != NULL) {
        rc = rebuild_request_begin_back(j, t, former, err);
    }
    free(all);
    return rc;
}

struct want {
    struct generation *target;
    enum rebuild_kind kind;
    bool adopt;
};

static int rebuild_request_want(struct rebuild_job *j, void *context, struct err *err)
{
    const struct want *w = context;
    struct generation *t = w->target;
    int rc = t->service.ops->greet(t->service.self, false, &t->product, err);
    if (rc == 0) {
        rc = w->kind == REBUILD_BACK ? rebuild_request_want_back(j, t, err)
                                     : rebuild_request_want_new(j, t, w->adopt, err);
    }
    return rc;
}

int rebuild_want(const struct rebuild_options *options, const struct verify_ports *ports,
                 enum rebuild_kind kind, bool adopt, struct err *err)
{
    struct rebuild_job j;
    struct generation t;
    rebuild_job_begin(&j, options, ports);
    int rc = rebuild_look(ports->pipeline->state, &j.wish, &j.underway, err);
    if (rc < 0 || j.underway) {
        return rc < 0 ? rc : rebuild_request_expect_same_wish(&j, kind, adopt, err);
    }
    rebuild_target_of(&j, ports->pipeline->state, &t);
    rc = generation_init(&t, err);
    if (rc == 0) {
        rc = rebuild_retry(&j, rebuild_request_want, &(struct want){&t, kind, adopt}, err);
    }
    generation_release(&t);
    return rc;
}

/* --- aborting -------------------------------------------------------------------------------- */

/* Removes the next generation, unless it is a former one. Its consumer comes from the record,
 * because the index may be gone. */
static int rebuild_request_remove_next(struct rebuild_job *j, struct generation *t,
                                       struct buf *consumer, struct err *err)
{
    const struct checkpoint *c = &t->checkpoint;
    bool found = false;
    struct index_info at;
    if (c->phase == GENERATION_NONE) {
        return 0;
    }
    if (c->index_uuid != NULL) {
        generation_consumer(t, consumer);
    }
    int rc = t->service.ops->look(t->service.self, c->generation, &found, &at, err);
    bool goes = rc == 0 && found && generation_is_generation(t, &at) && j->wish.kind == REBUILD_NEW;
    return goes ? t->service.ops->remove(t->service.self, c->generation, t->definition->name, err)
                : rc;
}

/* Reverts an interrupted adoption, which has blocked and cloned the index with the alias's name. */
static int rebuild_request_undo_adoption(const struct rebuild_job *j, struct generation *t,
                                         struct err *err)
{
    struct buf kept;
    if (!j->wish.adopt) {
        return 0;
    }
    buf_init(&kept, 512);
    rebuild_kept_name(t, &kept);
    int rc = t->service.ops->alias.undo_adoption(t->service.self, t->definition->alias,
                                                 buf_text(&kept), err);
    buf_release(&kept);
    return rc;
}

struct removal {
    struct generation *target;
    struct buf *consumer;
};

static int rebuild_request_remove_all(struct rebuild_job *j, void *context, struct err *err)
{
    const struct removal *r = context;
    struct generation *t = r->target;
    int rc = t->service.ops->greet(t->service.self, false, &t->product, err);
    if (rc == 0) {
        rc = rebuild_request_undo_adoption(j, t, err);
    }
    buf_reset(r->consumer);
    return rc == 0 ? rebuild_request_remove_next(j, t, r->consumer, err) : rc;
}

static int rebuild_request_give_up(struct rebuild_job *j, char generation[256], struct err *err)
{
    struct generation t;
    struct buf consumer;
    rebuild_target_of(j, j->next, &t);
    buf_init(&consumer, 2048);
    int rc = generation_init(&t, err);
    if (rc == 0) {
        const char *name = t.checkpoint.generation;
        snprintf(generation, 256, "%s", name != NULL ? name : "");
        rc = rebuild_retry(j, rebuild_request_remove_all, &(struct removal){&t, &consumer}, err);
    }
    rc = rc == 0 ? rebuild_failpoint("rebuild_dropped", err) : rc;
    if (rc == 0) {
        rc = rebuild_forget(j->ports->pipeline->state,
                            consumer.len > 0 ? buf_text(&consumer) : NULL, err);
    }
    buf_release(&consumer);
    generation_release(&t);
    return rc;
}

static int rebuild_request_look_and_end(struct rebuild_job *j, void *context, struct err *err)
{
    (void)j;
    struct generation *t = context;
    int rc = t->service.ops->greet(t->service.self, false, &t->product, err);
    return rc == 0 ? generation_end_rebuild(t, err) : rc;
}

/* Promotes a generation that the alias points at, because a live generation must not be removed. */
static int rebuild_request_end_swapped(struct rebuild_job *j, struct err *err)
{
    struct generation t;
    rebuild_target_of(j, j->ports->pipeline->state, &t);
    t.next = false;
    t.rebuild.keep = j->options->keep;
    int rc = generation_init(&t, err);
    if (rc == 0) {
        rc = rebuild_retry(j, rebuild_request_look_and_end, &t, err);
    }
    generation_release(&t);
    return rc < 0 ? rc : rebuild_look(j->ports->pipeline->state, &j->wish, &j->underway, err);
}

int rebuild_abort(const struct rebuild_options *options, const struct verify_ports *ports,
                  struct rebuild_aborted *out, struct err *err)
{
    struct rebuild_job j;
    rebuild_job_begin(&j, options, ports);
    *out = (struct rebuild_aborted){0};
    int rc = rebuild_look(ports->pipeline->state, &j.wish, &j.underway, err);
    if (rc == 0 && j.underway) {
        rc = rebuild_request_end_swapped(&j, err);
    }
    out->any = rc == 0 && j.underway;
    out->kind = j.wish.kind;
    if (out->any) {
        rc = rebuild_open_next(&j, err);
    }
    if (rc == 0 && out->any) {
        rc = rebuild_request_give_up(&j, out->generation, err);
    }
    if (rc == 0 && out->any) {
        log_event(LOG_INFO, "rebuild_aborted",
                  F_TEXT("pipeline", options->pipeline->definition.name),
                  F_TEXT("index", out->generation));
    }
    rebuild_job_end(&j, NULL);
    return rc;
}

/* --- restart --------------------------------------------------------------------------------- */

static int rebuild_request_look_live(struct rebuild_job *j, void *context, struct err *err)
{
    bool *live = context;
    struct index_info at;
    enum alias_kind kind = ALIAS_ABSENT;
    struct checkpoint next = {0};
    const struct service_port *service = &j->ports->pipeline->service;
    int rc = checkpoint_load(j->next, &next, err);
    if (rc == 0) {
        rc = service->ops->resolve(service->self, j->filling.definition.alias, &kind, &at, err);
    }
    *live = rc == 0 && kind != ALIAS_ABSENT && next.generation != NULL &&
            (kind == ALIAS_SEVERAL || strcmp(at.name, next.generation) == 0);
    checkpoint_release(&next);
    return rc;
}

int rebuild_restart(const struct rebuild_options *options, const struct verify_ports *ports,
                    struct err *why)
{
    struct rebuild_job j;
    struct err err;
    char generation[256];
    bool live = true;
    const char *name = options->pipeline->definition.name;
    rebuild_job_begin(&j, options, ports);
    int rc = rebuild_open_next(&j, &err);
    if (rc == 0 && j.wish.kind == REBUILD_NEW) {
        rc = rebuild_retry(&j, rebuild_request_look_live, &live, &err);
    }
    if (rc == 0 && live) {
        rebuild_job_end(&j, NULL);
        return err_hint(why, "run: rowferry reindex --abort %s, then rowferry reindex %s", name,
                        name);
    }
    if (rc == 0) {
        log_err(LOG_WARN, "rebuild_begins_again", name, why);
        rc = rebuild_request_give_up(&j, generation, &err);
    }
    rebuild_job_end(&j, NULL);
    if (rc == 0) {
        rc = rebuild_want(options, ports, REBUILD_NEW, j.wish.adopt, &err);
    }
    if (rc < 0) {
        *why = err;
    }
    return rc;
}
