/* SPDX-License-Identifier: Apache-2.0 */
/* Takes position, clock and dead letters over from the source. */
#include "generation/generation_private.h"

#include <stdlib.h>
#include <string.h>

#include "generation/generation_retention.h"
#include "generation/place.h"
#include "rowferry/base/log.h"
#include "rowferry/base/text.h"
#include "rowferry/document/model/version.h"
#include "rowferry/engine/generation/pipeline_definition.h"
#include "rowferry/state/deadletter.h"

/* Returns null if the index was built from the pipeline's current definition. */
static const char *takeover_differs(const struct generation *t, const struct index_info *live)
{
    char fingerprint[17];
    schema_fingerprint(t, fingerprint);
    if (strcmp(live->source, t->facts.identity) != 0) {
        return "it was built from another database";
    }
    if (strcmp(live->fingerprint, fingerprint) != 0) {
        return "it was built with another mapping or ingest pipeline";
    }
    if (strcmp(live->table, t->facts.fingerprint) != 0) {
        return "it was built from another key, other fields, columns or depends_on, another where "
               "or "
               "query";
    }
    return NULL;
}

const char *takeover_pipeline_differs(const struct pipeline_definition *definition,
                                      const struct source_facts *facts,
                                      const struct index_info *index)
{
    struct generation t = {.definition = definition, .facts = *facts};
    return takeover_differs(&t, index);
}

/* Returns the number in `<alias>-<yyyymmdd>-<number>`, so that the next generation's name is
 * free. */
static int64_t takeover_number(const char *index)
{
    const char *last = strrchr(index, '-');
    int64_t number = last != NULL ? strtoll(last + 1, NULL, 10) : 0;
    return number > 0 ? number : 1;
}

static void takeover_not(const struct generation *t, const struct index_info *live, const char *why)
{
    log_event(LOG_INFO, "mirror_not_used", F_TEXT("pipeline", t->definition->name),
              F_TEXT("index", live->name), F_TEXT("reason", why));
}

static int takeover_report(struct generation *t, int64_t cut, struct err *err)
{
    int64_t letters;
    int rc = deadletter_count(t->state, &letters, err);
    if (rc == 0) {
        log_event(cut > 0 ? LOG_WARN : LOG_INFO, "mirror_taken_over",
                  F_TEXT("pipeline", t->definition->name),
                  F_TEXT("index", t->checkpoint.generation),
                  F_TEXT("position", t->checkpoint.position), F_INT("dead_letters", letters),
                  F_INT("dead_letters_lost", cut));
    }
    return rc;
}

/* Commits the takeover. Operations sent after the backup was written may have versions above its
 * ceiling, by up to one reserve. */
static int takeover_commit(struct generation *t, struct index_info *live, struct mirrored *mirror,
                           struct err *err)
{
    char fingerprint[17];
    int64_t cut;
    schema_fingerprint(t, fingerprint);
    struct checkpoint next = {
        .generation = live->name,
        .index_uuid = live->uuid,
        .mapping_fingerprint = fingerprint,
        .table_fingerprint = (char *)(uintptr_t)t->facts.fingerprint,
        .source_identity = (char *)(uintptr_t)t->facts.identity,
        .position = mirror->position,
        .generation_number = takeover_number(live->name),
        .clock_ceiling = mirror->clock + VERSION_RESERVE_US,
    };
    int rc =
        checkpoint_take_over(t->state, &next, mirror->letters, clock_wall_us(&t->clock), &cut, err);
    if (rc == 0) {
        t->taken_over = true;
        rc = generation_reload(t, err);
    }
    return rc == 0 ? takeover_report(t, cut, err) : rc;
}

/* Takes over a live index. The lock in the source ensures that no other process is still writing
 * to it. */
static int takeover_of(struct generation *t, struct index_info *live, const char *differs,
                       struct err *err)
{
    struct mirrored mirror = {0};
    struct buf consumer;
    buf_init(&consumer, 2048);
    generation_consumer_name(t, live->name, live->uuid, &consumer);
    int rc = t->source.ops->mirrored(t->source.self, buf_text(&consumer), NULL, &mirror, err);
    if (rc == 0 && differs != NULL) {
        takeover_not(t, live, differs);
    } else if (rc == 0 && mirror.usable) {
        rc = takeover_commit(t, live, &mirror, err);
    } else if (rc == 0) {
        takeover_not(t, live, mirror.why.message);
    }
    free(mirror.position);
    free(mirror.letters);
    buf_release(&consumer);
    return rc;
}

int takeover_try(struct generation *t, struct err *err)
{
    struct index_info live;
    enum alias_kind kind;
    int rc = generation_resolve(t, &kind, &live, err);
    bool ours = rc == 0 && kind == ALIAS_ONE && strcmp(live.pipeline, t->definition->name) == 0;
    rc = ours ? place_check(t, &live, err) : rc;
    if (ours && rc == 0) {
        rc = takeover_of(t, &live, takeover_differs(t, &live), err);
    }
    if (rc == 0) {
        generation_retention_note(t, ours ? live.name : NULL);
    }
    return rc;
}

/* --- outdated state file --------------------------------------------------------------------- */

static bool takeover_is_own(const struct generation *t, const struct index_info *live)
{
    const struct checkpoint *c = &t->checkpoint;
    return c->phase == GENERATION_LIVE && c->index_uuid != NULL &&
           strcmp(c->index_uuid, live->uuid) == 0;
}

/* Abandons an initial load that another host has overtaken. */
static int takeover_abandon(struct generation *t, const char *index, bool remains, struct err *err)
{
    log_event(LOG_WARN, "generation_abandoned", F_TEXT("pipeline", t->definition->name),
              F_TEXT("index", index), F_TEXT("error", "another host has built one meanwhile"));
    return remains ? t->service.ops->remove(t->service.self, index, t->definition->name, err) : 0;
}

/* Finds out if the index being filled still exists. If it was removed, the live index may now have
 * its name. */
static int takeover_remains(const struct generation *t, bool *remains, struct err *err)
{
    struct index_info at;
    bool found;
    *remains = false;
    if (t->definition->stream) {
        return 0;
    }
    int rc = generation_look(t, t->checkpoint.generation, &found, &at, err);
    *remains = rc == 0 && found && generation_is_generation(t, &at);
    return rc;
}

static int takeover_replace(struct generation *t, struct index_info *live, struct mirrored *mirror,
                            struct err *err)
{
    const struct checkpoint *c = &t->checkpoint;
    bool remains = false;
    int rc = 0;
    char *building =
        c->phase == GENERATION_BUILDING && c->index_uuid != NULL ? text_copy(c->generation) : NULL;
    if (building != NULL) {
        generation_consumer(t, &t->replaced);
        rc = takeover_remains(t, &remains, err);
    }
    if (rc == 0) {
        rc = takeover_commit(t, live, mirror, err);
    }
    if (rc == 0 && building != NULL) {
        rc = takeover_abandon(t, building, remains, err);
    }
    if (rc == 0) {
        generation_retention_note(t, live->name);
    }
    free(building);
    return rc;
}

int takeover_newer(struct generation *t, struct err *err)
{
    struct index_info live;
    enum alias_kind kind;
    struct mirrored mirror = {0};
    struct buf consumer;
    if (t->checkpoint.phase == GENERATION_NONE) {
        return 0; /* handled by takeover_try */
    }
    int rc = generation_resolve(t, &kind, &live, err);
    if (rc < 0 || kind != ALIAS_ONE || strcmp(live.pipeline, t->definition->name) != 0 ||
        takeover_differs(t, &live) != NULL) {
        return rc;
    }
    rc = place_check(t, &live, err);
    if (rc < 0) {
        return rc;
    }
    bool own = takeover_is_own(t, &live);
    buf_init(&consumer, 2048);
    generation_consumer_name(t, live.name, live.uuid, &consumer);
    rc = t->source.ops->mirrored(t->source.self, buf_text(&consumer),
                                 own ? t->checkpoint.position : NULL, &mirror, err);
    if (rc == 0 && mirror.usable && (mirror.order > 0 || t->rivals == RIVALS_ACTIVE)) {
        rc = takeover_replace(t, &live, &mirror, err);
    } else if (rc == 0 && !own) {
        takeover_not(t, &live, mirror.why.message);
    }
    free(mirror.position);
    free(mirror.letters);
    buf_release(&consumer);
    return rc;
}
