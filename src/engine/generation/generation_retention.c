/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which generations are kept, and removes the others. */
#include "generation/generation_retention.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/base/failpoint.h"
#include "rowferry/base/log.h"
#include "rowferry/base/text.h"
#include "rowferry/state/rebuild.h"

static bool generation_retention_is(const struct index_info *index, const char *name)
{
    return name != NULL && strcmp(index->name, name) == 0;
}

/* Returns true if a was live after b. If neither was live or recorded as left, the newer one
 * counts as later. */
static bool generation_retention_after(const struct index_info *a, const struct index_info *b)
{
    return a->left_clock != b->left_clock ? a->left_clock > b->left_clock : a > b;
}

const struct index_info *generation_retention_last(const struct index_info *all, size_t count,
                                                   const char *live)
{
    const struct index_info *last = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!generation_retention_is(&all[i], live) &&
            (last == NULL || generation_retention_after(&all[i], last))) {
            last = &all[i];
        }
    }
    return last;
}

static bool generation_retention_stays(const struct index_info *all, size_t count,
                                       const struct index_info *one, const struct kept *kept)
{
    int64_t before = 0;
    for (size_t i = 0; i < count; i++) {
        const struct index_info *other = &all[i];
        before += other != one && !generation_retention_is(other, kept->live) &&
                  (generation_retention_is(other, kept->former) ||
                   generation_retention_after(other, one));
    }
    return generation_retention_is(one, kept->live) ||
           (generation_retention_is(one, kept->former) ? kept->count > 0 : before < kept->count);
}

/* Records what a generation keeps in the source, because this state file may not know it. The
 * recorded clock may be ahead of the time by the reserve. */
static int generation_retention_note_swap(const struct generation *t, struct state *state,
                                          const struct index_info *one, bool removed,
                                          struct err *err)
{
    struct buf consumer;
    int64_t now_us = clock_wall_us(&t->clock);
    int64_t left_us = one->left_clock < now_us ? one->left_clock : now_us;
    buf_init(&consumer, 2048);
    generation_consumer_name(t, one->name, one->uuid, &consumer);
    int rc = removed ? rebuild_former_due(state, buf_text(&consumer), err)
                     : rebuild_former_meet(state, buf_text(&consumer), left_us, err);
    buf_release(&consumer);
    return rc;
}

static bool generation_retention_is_there(const struct generation *t, const char *consumer,
                                          const struct index_info *all, size_t count)
{
    bool there = false;
    struct buf name;
    buf_init(&name, 2048);
    for (size_t i = 0; i < count && !there; i++) {
        buf_reset(&name);
        generation_consumer_name(t, all[i].name, all[i].uuid, &name);
        there = strcmp(buf_text(&name), consumer) == 0;
    }
    buf_release(&name);
    return there;
}

void generation_retention_forget_gone(const struct generation *t, const struct index_info *all,
                                      size_t count)
{
    struct former former;
    struct err err;
    bool known = false;
    bool all_listed = count < GENERATION_RETENTION_MAX;
    int rc = all_listed ? rebuild_former_last(t->state, &former, &known, &err) : 0;
    while (rc == 0 && known && !generation_retention_is_there(t, former.consumer, all, count)) {
        rc = rebuild_former_due(t->state, former.consumer, &err);
        rc = rc < 0 ? rc : rebuild_former_last(t->state, &former, &known, &err);
    }
    if (rc < 0) {
        log_err(LOG_WARN, "former_not_noted", t->definition->name, &err);
    }
}

static int generation_retention_remove_one(const struct generation *t, struct state *state,
                                           const struct index_info *one, struct err *err)
{
    int rc = t->service.ops->remove(t->service.self, one->name, t->definition->name, err);
    if (rc == 0) {
        log_event(LOG_INFO, "generation_removed", F_TEXT("pipeline", t->definition->name),
                  F_TEXT("index", one->name));
        rc = generation_retention_note_swap(t, state, one, true, err);
    }
    if (rc == 0 && FAILPOINT("generation_removed")) {
        rc = err_set(err, ERR_TRANSIENT, "failpoint \"generation_removed\"");
    }
    return rc;
}

void generation_retention_apply(const struct generation *t, struct state *state,
                                const struct kept *kept, size_t *removed)
{
    size_t count = 0;
    struct err err;
    struct index_info *all = mem_zero(GENERATION_RETENTION_MAX, sizeof(*all));
    int rc = t->service.ops->list(t->service.self, t->definition->alias, t->definition->name, all,
                                  GENERATION_RETENTION_MAX, &count, &err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        if (!generation_retention_stays(all, count, &all[i], kept)) {
            rc = generation_retention_remove_one(t, state, &all[i], &err);
            *removed += rc == 0;
        } else if (!generation_retention_is(&all[i], kept->live)) {
            rc = generation_retention_note_swap(t, state, &all[i], false, &err);
        }
    }
    if (rc < 0) {
        log_err(LOG_WARN, "generation_not_removed", t->definition->name, &err);
    }
    free(all);
}

/* Sets *name to the generation of the rebuild in progress; null: none. The caller frees it. */
static int generation_retention_name_of_next(struct state *state, char **name, struct err *err)
{
    struct checkpoint c = {0};
    struct state *next = NULL;
    *name = NULL;
    int rc = rebuild_open(state, &next, err);
    if (rc == 0 && next != NULL) {
        rc = checkpoint_load(next, &c, err);
    }
    if (rc == 0 && c.generation != NULL) {
        *name = text_copy(c.generation);
    }
    checkpoint_release(&c);
    state_close(next);
    return rc;
}

void generation_retention_note(const struct generation *t, const char *live)
{
    size_t count = 0;
    struct err err;
    char *next = NULL;
    struct index_info *all = mem_zero(GENERATION_RETENTION_MAX, sizeof(*all));
    int rc = generation_retention_name_of_next(t->state, &next, &err);
    if (rc == 0) {
        rc = t->service.ops->list(t->service.self, t->definition->alias, t->definition->name, all,
                                  GENERATION_RETENTION_MAX, &count, &err);
    }
    for (size_t i = 0; rc == 0 && i < count; i++) {
        if (!generation_retention_is(&all[i], live) && !generation_retention_is(&all[i], next)) {
            rc = generation_retention_note_swap(t, t->state, &all[i], false, &err);
        }
    }
    if (rc < 0) {
        log_err(LOG_WARN, "former_not_noted", t->definition->name, &err);
    }
    free(next);
    free(all);
}
