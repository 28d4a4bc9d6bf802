/* SPDX-License-Identifier: Apache-2.0 */
/* Finds or builds the generation, and swaps the alias in. */
#include "target.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deletes.h"
#include "rowferry/base/failpoint.h"
#include "rowferry/base/log.h"
#include "takeover.h"

int target_init(struct target *t, struct err *err)
{
    snprintf(t->creator, sizeof(t->creator), "%016" PRIx64, clock_random(&t->clock));
    buf_init(&t->replaced, 2048);
    return checkpoint_load(t->state, &t->checkpoint, err);
}

void target_release(struct target *t)
{
    checkpoint_release(&t->checkpoint);
    buf_release(&t->replaced);
}

int target_reload(struct target *t, struct err *err)
{
    checkpoint_release(&t->checkpoint);
    return checkpoint_load(t->state, &t->checkpoint, err);
}

void target_consumer_name(const struct target *t, const char *index, const char *uuid,
                          struct buf *out)
{
    buf_reset(out);
    buf_printf(out, "%s/%s/%.8s", t->pipeline, index, uuid);
}

const char *target_replaced(const struct target *t)
{
    return buf_text(&t->replaced);
}

void target_consumer(const struct target *t, struct buf *out)
{
    const struct checkpoint *c = &t->checkpoint;
    target_consumer_name(t, c->generation, c->index_uuid != NULL ? c->index_uuid : "", out);
}

static bool text_same(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static bool index_is_ours(const struct target *t, const struct index_info *index)
{
    return strcmp(index->pipeline, t->pipeline) == 0;
}

/* `<alias>-<yyyymmdd>-<number>`; to.index may have been changed since. */
static bool name_is_of_alias(const struct target *t, const char *name)
{
    size_t len = strlen(t->alias);
    if (strncmp(name, t->alias, len) != 0 || name[len] != '-') {
        return false;
    }
    const char *day = name + len + 1;
    size_t digits = strspn(day, "0123456789");
    return digits == 8 && day[8] == '-' && strspn(day + 9, "0123456789") == strlen(day + 9);
}

/* The very index of the checkpoint. Where its uuid was not recorded any more, only one that this
 * run created: a run with another state file may have chosen the same name. */
static bool index_is_generation(const struct target *t, const struct index_info *index)
{
    const char *uuid = t->checkpoint.index_uuid;
    return index_is_ours(t, index) && (uuid != NULL ? strcmp(uuid, index->uuid) == 0
                                                    : strcmp(t->creator, index->creator) == 0);
}

/* Which index a swap would take the alias from: null where the alias is free. Refuses what is not
 * ours. `from` holds the name's memory. */
static int target_alias_holder(struct target *t, struct index_info *from, bool *held,
                               struct err *err)
{
    enum alias_kind kind;
    int rc = t->service.ops->resolve(t->service.self, t->alias, &kind, from, err);
    if (rc < 0) {
        return rc;
    }
    *held = kind == ALIAS_ONE;
    switch (kind) {
    case ALIAS_ABSENT:
        return 0;
    case ALIAS_CONCRETE:
        err_set(err, ERR_REJECTED,
                "\"%s\" is an index of its own, and an alias cannot bear its name", t->alias);
        return err_hint(err, "choose another to.index, or delete or rename that index");
    case ALIAS_SEVERAL:
        return err_set(err, ERR_REJECTED, "alias \"%s\" points at several indices", t->alias);
    case ALIAS_ONE:
        break;
    }
    if (!index_is_ours(t, from)) {
        err_set(err, ERR_REJECTED,
                "alias \"%s\" points at index \"%s\", which pipeline \"%s\" did not build",
                t->alias, from->name, t->pipeline);
        return err_hint(err, "choose another to.index, or remove the alias");
    }
    if (strcmp(from->source, t->facts.identity) != 0) {
        err_set(err, ERR_REJECTED,
                "alias \"%s\" points at index \"%s\", which was built from another database",
                t->alias, from->name);
        return err_hint(err, "choose another to.index; where it is the same database, restored or "
                             "upgraded, remove the alias and sync again");
    }
    return 0;
}

/* `<alias>-<yyyymmdd>-<number>`, the first number from `number` on that is free. */
static int target_free_name(struct target *t, int64_t *number, struct buf *name, struct err *err)
{
    char iso[CLOCK_ISO_BYTES];
    clock_iso(iso, clock_wall_us(&t->clock), 0);
    bool found = true;
    while (found) {
        struct index_info info;
        (*number)++;
        buf_reset(name);
        buf_printf(name, "%s-%.4s%.2s%.2s-%lld", t->alias, iso, iso + 5, iso + 8,
                   (long long)*number);
        int rc = t->service.ops->look(t->service.self, buf_text(name), &found, &info, err);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

static void target_meta(const struct target *t, const char *fingerprint, struct buf *meta)
{
    buf_push_literal(meta, "{\"pipeline\":");
    text_json(meta, t->pipeline, strlen(t->pipeline));
    buf_push_literal(meta, ",\"mapping\":");
    text_json(meta, fingerprint, strlen(fingerprint));
    buf_push_literal(meta, ",\"source\":");
    text_json(meta, t->facts.identity, strlen(t->facts.identity));
    buf_push_literal(meta, ",\"table\":");
    text_json(meta, t->facts.fingerprint, strlen(t->facts.fingerprint));
    buf_push_literal(meta, ",\"creator\":");
    text_json(meta, t->creator, strlen(t->creator));
    buf_push_literal(meta, ",\"rowferry\":\"" ROWFERRY_VERSION "\"}");
}

static int target_create_index(struct target *t, struct err *err)
{
    struct buf meta;
    struct buf mappings;
    buf_init(&meta, 64 * 1024);
    buf_init(&mappings, 16 * 1024 * 1024);
    target_meta(t, t->checkpoint.mapping_fingerprint, &meta);
    mapping_write(&mappings, t->mapping, buf_text(&meta));
    int rc = t->service.ops->create(t->service.self, t->checkpoint.generation, buf_text(&mappings),
                                    t->settings, err);
    buf_release(&meta);
    buf_release(&mappings);
    return rc;
}

/* Records the uuid of the index just created. */
static int target_adopt_uuid(struct target *t, struct err *err)
{
    struct index_info info;
    bool found;
    int rc = t->service.ops->look(t->service.self, t->checkpoint.generation, &found, &info, err);
    if (rc < 0) {
        return rc;
    }
    if (!found || !index_is_generation(t, &info)) {
        return err_set(err, ERR_STATE, "index \"%s\" is not there after it was created",
                       t->checkpoint.generation);
    }
    rc = checkpoint_set_uuid(t->state, info.uuid, err);
    return rc < 0 ? rc : target_reload(t, err);
}

static int target_new_generation(struct target *t, struct err *err)
{
    struct index_info from;
    bool held;
    int rc = target_alias_holder(t, &from, &held, err);
    if (rc < 0) {
        return rc;
    }
    char fingerprint[17];
    mapping_fingerprint(fingerprint, t->mapping);
    int64_t number = t->checkpoint.generation_number;
    struct buf name;
    buf_init(&name, 512);
    rc = target_free_name(t, &number, &name, err);
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
        rc = target_reload(t, err);
    }
    if (rc == 0) {
        rc = target_create_index(t, err);
    }
    if (rc == 0 && FAILPOINT("generation_created")) {
        rc = err_set(err, ERR_TRANSIENT, "failpoint \"generation_created\"");
    }
    if (rc == 0) {
        rc = target_adopt_uuid(t, err);
    }
    if (rc == 0) {
        log_event(LOG_INFO, "generation_created", F_TEXT("pipeline", t->pipeline),
                  F_TEXT("index", t->checkpoint.generation));
    }
    return rc;
}

/* Source, table and mapping must be what the generation was built from. */
static int target_check_origin(struct target *t, struct err *err)
{
    const struct checkpoint *c = &t->checkpoint;
    char fingerprint[17];
    mapping_fingerprint(fingerprint, t->mapping);
    const char *what = NULL;
    bool same_source = text_same(c->source_identity, t->facts.identity);
    if (!same_source) {
        what = "the source is another database than the one";
    } else if (!text_same(c->mapping_fingerprint, fingerprint)) {
        what = "the mapping differs from the one";
    } else if (!text_same(c->table_fingerprint, t->facts.fingerprint)) {
        what = "key, fields, mapped columns, where or query differ from those";
    }
    if (what == NULL) {
        return 0;
    }
    err_set(err, ERR_STATE, "%s that index \"%s\" was built from", what, c->generation);
    return err_hint(err, "to build the index anew, move the state file aside%s and sync again",
                    same_source ? "" : ", remove the alias");
}

static int target_check_live(struct target *t, struct err *err)
{
    struct index_info at;
    enum alias_kind kind;
    int rc = t->service.ops->resolve(t->service.self, t->alias, &kind, &at, err);
    if (rc < 0) {
        return rc;
    }
    const struct checkpoint *c = &t->checkpoint;
    if (kind != ALIAS_ONE || strcmp(at.name, c->generation) != 0) {
        err_set(err, ERR_STATE, "alias \"%s\" does not point at \"%s\" any more (%s)", t->alias,
                c->generation, kind == ALIAS_ABSENT ? "it is gone" : at.name);
    } else if (!text_same(c->index_uuid, at.uuid)) {
        err_set(err, ERR_STATE, "index \"%s\" was deleted and created again by somebody else",
                c->generation);
    } else {
        return target_check_origin(t, err);
    }
    return err_hint(err,
                    "move the state file aside and sync again: what the alias points at is gone "
                    "on with where it is this pipeline's, else an index is built anew");
}

/* A build that was interrupted: goes on where it can, else begins again. */
static int target_check_building(struct target *t, struct err *err)
{
    struct index_info at;
    bool found;
    const struct checkpoint *c = &t->checkpoint;
    int rc = t->service.ops->look(t->service.self, c->generation, &found, &at, err);
    if (rc < 0) {
        return rc;
    }
    bool same = found && index_is_generation(t, &at);
    struct err drift = {.message = "to.index was changed"};
    if (same && name_is_of_alias(t, c->generation) && target_check_origin(t, &drift) == 0) {
        return c->index_uuid == NULL ? target_adopt_uuid(t, err) : 0;
    }
    log_event(LOG_WARN, "generation_abandoned", F_TEXT("pipeline", t->pipeline),
              F_TEXT("index", c->generation),
              F_TEXT("error", same    ? drift.message
                              : found ? "it was created by another run"
                                      : "it is gone"));
    if (same) {
        rc = t->service.ops->remove(t->service.self, c->generation, t->pipeline, err);
    }
    return rc < 0 ? rc : target_new_generation(t, err);
}

int target_prepare(struct target *t, struct err *err)
{
    switch (t->checkpoint.phase) {
    case GENERATION_LIVE:
        return target_check_live(t, err);
    case GENERATION_BUILDING:
        return target_check_building(t, err);
    case GENERATION_NONE:
        break;
    }
    int rc = takeover_try(t, err);
    return rc < 0 || t->taken_over ? rc : target_new_generation(t, err);
}

/* A bulk request creates an index that is gone, without its mapping and with a part of the rows. */
static int target_check_filled(struct target *t, struct err *err)
{
    struct index_info at;
    bool found;
    const char *name = t->checkpoint.generation;
    int rc = t->service.ops->look(t->service.self, name, &found, &at, err);
    if (rc < 0 || (found && index_is_generation(t, &at))) {
        return rc;
    }
    err_set(err, ERR_STATE, "index \"%s\" was deleted while it was filled", name);
    return err_hint(err, "sync again: another generation is built from the beginning");
}

/* An index that nobody may count is not known to be empty. */
static int target_count(struct target *t, const char *index, int64_t unknown, int64_t *count,
                        struct err *err)
{
    int rc = t->service.ops->count(t->service.self, index, count, err);
    if (rc != ERR_REJECTED) {
        return rc;
    }
    *count = unknown;
    return 0;
}

static int target_check_emptied(struct target *t, const char *from, struct err *err)
{
    int64_t before = 0;
    int64_t after = 0;
    int rc = target_count(t, t->checkpoint.generation, 1, &after, err);
    if (rc == 0 && after == 0) {
        rc = target_count(t, from, 1, &before, err);
    }
    if (rc < 0 || after > 0) {
        return rc;
    }
    return deletes_check_emptied(t->state, t->guard, before, &t->clock, t->pipeline, from, err);
}

int target_go_live(struct target *t, struct err *err)
{
    const struct checkpoint *c = &t->checkpoint;
    int rc = target_check_filled(t, err);
    if (rc == 0) {
        rc = t->service.ops->finish(t->service.self, c->generation, t->settings, err);
    }
    if (rc < 0) {
        return rc;
    }
    struct index_info from;
    bool held;
    rc = target_alias_holder(t, &from, &held, err);
    if (rc < 0) {
        return rc;
    }
    if (held && strcmp(from.name, c->generation) != 0) {
        rc = target_check_emptied(t, from.name, err);
        if (rc < 0) {
            return rc;
        }
    }
    if (!held || strcmp(from.name, c->generation) != 0) {
        rc = t->service.ops->swap(t->service.self, t->alias, held ? from.name : NULL, c->generation,
                                  err);
        if (rc < 0) {
            return rc;
        }
        if (held) {
            target_consumer_name(t, from.name, from.uuid, &t->replaced);
        }
    }
    if (FAILPOINT("alias_swapped")) {
        return err_set(err, ERR_TRANSIENT, "failpoint \"alias_swapped\"");
    }
    rc = checkpoint_go_live(t->state, clock_wall_us(&t->clock), err);
    if (rc == 0) {
        log_event(LOG_INFO, "generation_live", F_TEXT("pipeline", t->pipeline),
                  F_TEXT("alias", t->alias), F_TEXT("index", c->generation));
    }
    return rc < 0 ? rc : target_reload(t, err);
}
