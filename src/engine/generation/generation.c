/* SPDX-License-Identifier: Apache-2.0 */
/* Finds or builds the generation, and swaps the alias. */
#include "generation/generation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generation/generation_private.h"
#include "generation/generation_retention.h"
#include "generation/place.h"
#include "rowferry/base/failpoint.h"
#include "rowferry/base/log.h"
#include "rowferry/state/rebuild.h"

#define ONE_ALONE "point the alias at one index of the pipeline only, then try again"

#define MARK_SPREAD_US 1000000

/* Sets the creator mark. The ceiling does not change until the uuid is recorded, because no
 * version is taken before. */
static void generation_mark(struct generation *t)
{
    int64_t mark = t->rebuild.begun_us != 0 ? t->rebuild.begun_us : t->checkpoint.clock_ceiling;
    snprintf(t->creator, sizeof(t->creator), "%016" PRIx64, (uint64_t)mark);
}

/* Before an initial load creates its index: sets the ceiling to a value that no other state file
 * has. */
static int generation_mark_anew(struct generation *t, struct err *err)
{
    if (t->rebuild.begun_us != 0) {
        return 0;
    }
    int64_t now_us = clock_wall_us(&t->clock);
    int64_t last = t->checkpoint.clock_ceiling > now_us ? t->checkpoint.clock_ceiling : now_us;
    int64_t mark = last + 1 + (int64_t)(clock_random(&t->clock) % MARK_SPREAD_US);
    int rc = checkpoint_raise_ceiling(t->state, mark, err);
    if (rc == 0) {
        t->checkpoint.clock_ceiling = mark;
        generation_mark(t);
    }
    return rc;
}

int generation_init(struct generation *t, struct err *err)
{
    buf_init(&t->replaced, 2048);
    int rc = checkpoint_load(t->state, &t->checkpoint, err);
    generation_mark(t);
    return rc;
}

void generation_release(struct generation *t)
{
    checkpoint_release(&t->checkpoint);
    drift_release(&t->drift);
    buf_release(&t->replaced);
}

int generation_reload(struct generation *t, struct err *err)
{
    checkpoint_release(&t->checkpoint);
    return checkpoint_load(t->state, &t->checkpoint, err);
}

bool generation_same_text(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static bool generation_index_is_ours(const struct generation *t, const struct index_info *index)
{
    return strcmp(index->pipeline, t->definition->name) == 0;
}

/* to.index may have changed since. */
static bool generation_name_is_of_alias(const struct generation *t, const char *name)
{
    int64_t number;
    return t->definition->stream ? strcmp(name, t->definition->alias) == 0
                                 : index_name_of_alias(name, t->definition->alias, &number);
}

bool generation_is_generation(const struct generation *t, const struct index_info *index)
{
    const char *uuid = t->checkpoint.index_uuid;
    return generation_index_is_ours(t, index) &&
           (uuid != NULL ? strcmp(uuid, index->uuid) == 0
                         : strcmp(t->creator, index->creator) == 0);
}

static int generation_refuse_concrete(const struct generation *t, struct err *err)
{
    if (t->definition->stream) {
        err_set(err, ERR_REJECTED,
                "\"%s\" is already the name of an index or alias, so no data stream can have it",
                t->definition->alias);
        return err_hint(err, "choose another to.index, or remove the index or alias");
    }
    err_set(err, ERR_REJECTED, "\"%s\" is already the name of an index, so no alias can have it",
            t->definition->alias);
    return err_hint(err,
                    "rowferry reindex --adopt %s builds an index beside it and turns the name into "
                    "an alias; or choose another to.index",
                    t->definition->name);
}

static int generation_expect_own(struct generation *t, const struct index_info *from,
                                 struct err *err)
{
    if (t->definition->stream && !generation_index_is_ours(t, from)) {
        return 0; /* service/index/stream.h decides whether it may be used */
    }
    if (!generation_index_is_ours(t, from)) {
        err_set(err, ERR_REJECTED,
                "alias \"%s\" points at index \"%s\", which pipeline \"%s\" did not build",
                t->definition->alias, from->name, t->definition->name);
        return err_hint(err, "choose another to.index, or remove the alias");
    }
    if (!t->next && strcmp(from->source, t->facts.identity) != 0) {
        err_set(err, ERR_REJECTED,
                "alias \"%s\" points at index \"%s\", which was built from another database",
                t->definition->alias, from->name);
        return t->definition->stream
                   ? err_hint(err, "choose another to.index")
                   : err_hint(err,
                              "choose another to.index; if this is intended, rowferry "
                              "reindex %s rebuilds the index from this database",
                              t->definition->name);
    }
    return t->next ? 0 : place_check(t, from, err);
}

int generation_holder(struct generation *t, enum alias_kind *kind, struct index_info *from,
                      struct err *err)
{
    int rc = generation_resolve(t, kind, from, err);
    if (rc < 0) {
        return rc;
    }
    switch (*kind) {
    case ALIAS_ABSENT:
        return 0;
    case ALIAS_CONCRETE:
        return t->rebuild.adopt ? 0 : generation_refuse_concrete(t, err);
    case ALIAS_STREAM: /* handled by generation_resolve */
    case ALIAS_SEVERAL:
        err_set(err, ERR_REJECTED, "alias \"%s\" points at several indices", t->definition->alias);
        return err_hint(err, ONE_ALONE);
    case ALIAS_ONE:
        break;
    }
    return generation_expect_own(t, from, err);
}

/* Sets name to `<alias>-<yyyymmdd>-<number>` with the first free number after *number. A free name
 * belongs to no index and no alias. */
static int generation_free_name(struct generation *t, int64_t *number, struct buf *name,
                                struct err *err)
{
    char iso[CLOCK_ISO_BYTES];
    clock_iso(iso, clock_wall_us(&t->clock), 0);
    enum alias_kind kind = ALIAS_ONE;
    if (t->definition->stream) {
        (*number)++;
        buf_push_text(name, t->definition->alias);
        return 0;
    }
    while (kind != ALIAS_ABSENT) {
        struct index_info info;
        (*number)++;
        buf_reset(name);
        buf_printf(name, "%s-%.4s%.2s%.2s-%lld", t->definition->alias, iso, iso + 5, iso + 8,
                   (long long)*number);
        int rc = t->service.ops->resolve(t->service.self, buf_text(name), &kind, &info, err);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

/* Records the uuid of the index just created. */
static int generation_adopt_uuid(struct generation *t, struct err *err)
{
    struct index_info info;
    bool found;
    int rc = generation_look(t, t->checkpoint.generation, &found, &info, err);
    if (rc < 0) {
        return rc;
    }
    if (!found || !generation_is_generation(t, &info)) {
        return err_set(err, ERR_STATE, "index \"%s\" does not exist after it was created",
                       t->checkpoint.generation);
    }
    if (!t->definition->stream) {
        rc = schema_expect_plain(t, &info, err);
    }
    rc = rc == 0 ? place_check(t, &info, err) : rc;
    rc = rc == 0 ? checkpoint_set_uuid(t->state, info.uuid, err) : rc;
    return rc < 0 ? rc : generation_reload(t, err);
}

/* Creates the index of a recorded generation. */
static int generation_build(struct generation *t, struct err *err)
{
    int rc = generation_create(t, t->checkpoint.mapping_fingerprint, err);
    if (rc == 0 && FAILPOINT("generation_created")) {
        rc = err_set(err, ERR_TRANSIENT, "failpoint \"generation_created\"");
    }
    if (rc == 0) {
        rc = generation_adopt_uuid(t, err);
    }
    if (rc == 0) {
        log_event(LOG_INFO, "generation_created", F_TEXT("pipeline", t->definition->name),
                  F_TEXT("index", t->checkpoint.generation));
    }
    return rc;
}

static int generation_check_trial(const struct generation *t, struct err *err)
{
    const char *name = t->definition->name;
    if (t->definition->trial == DEFINITION_UNTRIED) {
        log_event(LOG_WARN, "not_validated", F_TEXT("pipeline", name));
    }
    if (t->definition->trial != DEFINITION_BARRED) {
        return 0;
    }
    err_set(err, ERR_STATE,
            "no index is built, because validate has not passed for its definition, and "
            "\"validate.required\" is true");
    return err_hint(err, "correct what it finds: rowferry validate %s", name);
}

static int generation_begin_new(struct generation *t, struct err *err)
{
    struct index_info from;
    enum alias_kind kind;
    int rc = generation_check_trial(t, err);
    rc = rc == 0 ? generation_holder(t, &kind, &from, err) : rc;
    if (rc < 0) {
        return rc;
    }
    char fingerprint[17];
    schema_fingerprint(t, fingerprint);
    int64_t number = t->checkpoint.generation_number;
    struct buf name;
    buf_init(&name, 512);
    rc = generation_free_name(t, &number, &name, err);
    if (rc == 0) {
        rc = generation_mark_anew(t, err);
    }
    if (rc == 0) {
        struct checkpoint next = {
            .generation = name.data,
            .mapping_fingerprint = fingerprint,
            .table_fingerprint = (char *)(uintptr_t)t->facts.fingerprint,
            .source_identity = (char *)(uintptr_t)t->facts.identity,
            .generation_number = number,
        };
        rc = checkpoint_begin_generation(t->state, &next, err);
    }
    buf_release(&name);
    if (rc == 0) {
        rc = generation_reload(t, err);
    }
    if (rc == 0) {
        rc = schema_note(t, err);
    }
    return rc == 0 ? generation_build(t, err) : rc;
}

/* Refills a data stream from the beginning after it was deleted or recreated by its template. Its
 * documents stay. */
static int generation_refill(struct generation *t, bool gone, struct err *err)
{
    log_event(LOG_WARN, "generation_abandoned", F_TEXT("pipeline", t->definition->name),
              F_TEXT("index", t->checkpoint.generation),
              F_TEXT("error", gone ? "it no longer exists" : "it was deleted and created again"));
    generation_consumer(t, &t->replaced);
    int rc = rebuild_former_due(t->state, generation_replaced(t), err);
    return rc < 0 ? rc : generation_begin_new(t, err);
}

/* The service removes an alias with its last index. */
static int generation_refuse_absent(struct generation *t, struct err *err)
{
    struct index_info ignored;
    bool found = true;
    const char *live = t->checkpoint.generation;
    int rc = generation_look(t, live, &found, &ignored, err);
    if (rc < 0) {
        return rc;
    }
    if (!found) {
        err_set(err, ERR_STATE, "index \"%s\" no longer exists", live);
        return err_hint(err, "rebuild it: rowferry reindex %s", t->definition->name);
    }
    err_set(err, ERR_STATE, "alias \"%s\" no longer exists; it pointed at \"%s\"",
            t->definition->alias, live);
    return err_hint(err, "restore the alias, or rebuild the index: rowferry reindex %s",
                    t->definition->name);
}

/* The alias does not name the live index. A rebuild is recommended only if it would not be refused
 * (generation_holder). */
static int generation_refuse_elsewhere(struct generation *t, enum alias_kind kind,
                                       const struct index_info *at, struct err *err)
{
    const char *alias = t->definition->alias;
    const char *live = t->checkpoint.generation;
    if (t->definition->stream) {
        err_set(err, ERR_STATE, "data stream \"%s\" no longer exists", alias);
        return err_hint(err, "the next sync fills it again: rowferry sync %s", t->definition->name);
    }
    bool renamed = !generation_name_is_of_alias(t, live);
    if (renamed) {
        err_set(err, ERR_STATE, "to.index was changed to \"%s\", and the live index is \"%s\"",
                alias, live);
    } else if (kind == ALIAS_ABSENT) {
        return generation_refuse_absent(t, err);
    } else if (kind == ALIAS_SEVERAL) {
        err_set(err, ERR_STATE,
                "alias \"%s\" does not point at \"%s\" alone, but at several indices", alias, live);
        return err_hint(err, ONE_ALONE);
    } else if (generation_index_is_ours(t, at) &&
               place_pipeline_check(t->definition, &t->facts, at, t->state, err) < 0) {
        return (int)err->class; /* a copy was rebuilt */
    } else {
        err_set(err, ERR_STATE, "alias \"%s\" does not point at \"%s\" but at \"%s\"", alias, live,
                at->name);
    }
    bool rebuildable =
        kind == ALIAS_ABSENT || (kind == ALIAS_ONE && generation_index_is_ours(t, at));
    return err_hint(err, "restore %s%s%s", renamed ? "to.index in the file" : "the alias",
                    rebuildable ? ", or rebuild the index: rowferry reindex " : "",
                    rebuildable ? t->definition->name : "");
}

static int generation_check_live(struct generation *t, struct err *err)
{
    struct index_info at;
    enum alias_kind kind;
    int rc = generation_resolve(t, &kind, &at, err);
    if (rc < 0) {
        return rc;
    }
    const struct checkpoint *c = &t->checkpoint;
    bool same = kind == ALIAS_ONE && generation_same_text(c->index_uuid, at.uuid);
    if (t->definition->stream && kind == ALIAS_CONCRETE) {
        return generation_refuse_concrete(t, err);
    }
    if (t->definition->stream && !t->observes && !same) {
        return generation_refill(t, kind == ALIAS_ABSENT, err);
    }
    if (kind != ALIAS_ONE || strcmp(at.name, c->generation) != 0) {
        return generation_refuse_elsewhere(t, kind, &at, err);
    }
    if (!same) {
        err_set(err, ERR_STATE, "index \"%s\" was deleted and created again by another program",
                c->generation);
        return err_hint(err, "rebuild the index: rowferry reindex %s", t->definition->name);
    }
    rc = schema_check_source_id(t, &at, err);
    rc = rc == 0 ? place_check(t, &at, err) : rc;
    return rc < 0 ? rc : schema_check(t, err);
}

/* Resumes an interrupted build if possible, otherwise starts again. */
static int generation_check_building(struct generation *t, struct err *err)
{
    struct index_info at;
    bool found;
    const struct checkpoint *c = &t->checkpoint;
    int rc = generation_look(t, c->generation, &found, &at, err);
    if (rc < 0) {
        return rc;
    }
    bool same = found && generation_is_generation(t, &at);
    bool unborn = !found && c->index_uuid == NULL;
    rc = same ? place_check(t, &at, err) : 0;
    if (rc < 0) {
        return rc;
    }
    struct err drift = {.message = "to.index was changed"};
    if ((same || unborn) && generation_name_is_of_alias(t, c->generation) &&
        schema_check(t, &drift) == 0) {
        /* not created yet: keep the name, so that a creation request still in flight hits the same
         * index */
        return unborn                  ? generation_build(t, err)
               : c->index_uuid == NULL ? generation_adopt_uuid(t, err)
                                       : 0;
    }
    log_event(LOG_WARN, "generation_abandoned", F_TEXT("pipeline", t->definition->name),
              F_TEXT("index", c->generation),
              F_TEXT("error", same    ? drift.message
                              : found ? "it was created by another run"
                                      : "it no longer exists"));
    bool stays =
        same && t->definition->stream; /* it becomes the next generation with the same consumer */
    if (c->index_uuid != NULL && !stays) {
        generation_consumer(t, &t->replaced);
        rc = rebuild_former_due(t->state, generation_replaced(t), err);
    }
    if (rc == 0 && same && !stays) {
        rc = t->service.ops->remove(t->service.self, c->generation, t->definition->name, err);
    }
    return rc < 0 ? rc : generation_begin_new(t, err);
}

int generation_end_rebuild(struct generation *t, struct err *err)
{
    struct rebuild rebuild;
    struct index_info at;
    enum alias_kind kind = ALIAS_ABSENT;
    bool underway = false;
    int rc = rebuild_look(t->state, &rebuild, &underway, err);
    if (rc == 0 && underway) {
        rc = generation_resolve(t, &kind, &at, err);
    }
    return rc == 0 && underway && kind == ALIAS_ONE ? generation_live_promote(t, &at, err) : rc;
}

/* Claims the initial load before the index is looked up, because another host may be about to
 * create it. */
static int generation_claim(const struct generation *t, struct err *err)
{
    if (t->checkpoint.phase == GENERATION_LIVE || t->next || t->observes) {
        return 0;
    }
    struct buf name;
    buf_init(&name, 2048);
    buf_printf(&name, "first load of %s into %s at %s", t->definition->name, t->definition->alias,
               t->product.cluster);
    int rc = t->source.ops->claim(t->source.self, buf_text(&name), err);
    buf_release(&name);
    return rc;
}

static int generation_find(struct generation *t, struct err *err)
{
    int rc = generation_claim(t, err);
    if (rc == 0 && t->rivals != RIVALS_NONE) {
        rc = takeover_newer(t, err);
    }
    if (rc < 0) {
        return rc;
    }
    t->rivals = RIVALS_NONE;
    if (t->taken_over && t->checkpoint.phase == GENERATION_LIVE) {
        rc = schema_note(t, err);
        if (rc < 0) {
            return rc;
        }
    }
    switch (t->checkpoint.phase) {
    case GENERATION_LIVE:
        return generation_check_live(t, err);
    case GENERATION_BUILDING:
        return generation_check_building(t, err);
    case GENERATION_NONE:
        break;
    }
    rc = t->next ? 0 : takeover_try(t, err);
    if (rc < 0 || !t->taken_over) {
        return rc < 0 ? rc : generation_begin_new(t, err);
    }
    return schema_note(t, err);
}

int generation_prepare(struct generation *t, struct err *err)
{
    int rc = generation_find(t, err);
    rc = rc == 0 && !t->observes ? place_settle(t, err) : rc;
    return rc == 0 && !t->observes ? generation_open(t, err) : rc;
}
