/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which generations are kept, and removes the others. */
#include "generation/generation_retention.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/base/failpoint.h"
#include "rowferry/base/log.h"
#include "rowferry/base/text.h"
#include "rowferry/state/rebuild.h"

static bool is(const struct index_info *index, const char *name)
{
    return name != NULL && strcmp(index->name, name) == 0;
}

/* Returns true if a was live after b. If neither was live or recorded as left, the newer one
 * counts as later. */
static bool after(const struct index_info *a, const struct index_info *b)
{
    return a->left_clock != b->left_clock ? a->left_clock > b->left_clock : a > b;
}

const struct index_info *generation_retention_last(const struct index_info *all, size_t count,
                                                   const char *live)
{
    const struct index_info *last = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!is(&all[i], live) && (last == NULL || after(&all[i], last))) {
            last = &all[i];
        }
    }
    return last;
}

static bool stays(const struct index_info *all, size_t count, const struct index_info *one,
                  const struct kept *kept)
{
    int64_t before = 0;
    for (size_t i = 0; i < count; i++) {
        const struct index_info *other = &all[i];
        before += other != one && !is(other, kept->live) &&
                  (is(other, kept->former) || after(other, one));
    }
    return is(one, kept->live) || (is(one, kept->former) ? kept->count > 0 : before < kept->count);
}

/* Records what a generation keeps in the source, because this state file may not know it. The
 * recorded clock may be ahead of the time by the reserve. */
static int note(const struct generation *t, struct state *state, const struct index_info *one,
                bool removed, struct err *err)
{
    struct buf consumer;
    int64_t now_us = clock_wall_us(&t->clock);
    int64_t left_us = one->left_clock < now_us ? one->left_clock : now_us;
    buf_init(&consumer, 2048);
    generation_consumer_name(t, one->name, one->uuid, &consumer);
    int rc = removed ? former_due(state, buf_text(&consumer), err)
                     : former_meet(state, buf_text(&consumer), left_us, err);
    buf_release(&consumer);
    return rc;
}

static bool is_there(const struct generation *t, const char *consumer, const struct index_info *all,
                     size_t count)
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
    int rc = all_listed ? former_last(t->state, &former, &known, &err) : 0;
    while (rc == 0 && known && !is_there(t, former.consumer, all, count)) {
        rc = former_due(t->state, former.consumer, &err);
        rc = rc < 0 ? rc : former_last(t->state, &former, &known, &err);
    }
    if (rc < 0) {
        log_err(LOG_WARN, "former_not_noted", t->pipeline, &err);
    }
}

static int remove_one(const struct generation *t, struct state *state, const struct index_info *one,
                      struct err *err)
{
    int rc = t->service.ops->remove(t->service.self, one->name, t->pipeline, err);
    if (rc == 0) {
        log_event(LOG_INFO, "generation_removed", F_TEXT("pipeline", t->pipeline),
                  F_TEXT("index", one->name));
        rc = note(t, state, one, true, err);
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
    int rc = t->service.ops->list(t->service.self, t->alias, t->pipeline, all,
                                  GENERATION_RETENTION_MAX, &count, &err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        if (!stays(all, count, &all[i], kept)) {
            rc = remove_one(t, state, &all[i], &err);
            *removed += rc == 0;
        } else if (!is(&all[i], kept->live)) {
            rc = note(t, state, &all[i], false, &err);
        }
    }
    if (rc < 0) {
        log_err(LOG_WARN, "generation_not_removed", t->pipeline, &err);
    }
    free(all);
}

/* Sets *name to the generation of the rebuild in progress; null: none. The caller frees it. */
static int name_of_next(struct state *state, char **name, struct err *err)
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
    int rc = name_of_next(t->state, &next, &err);
    if (rc == 0) {
        rc = t->service.ops->list(t->service.self, t->alias, t->pipeline, all,
                                  GENERATION_RETENTION_MAX, &count, &err);
    }
    for (size_t i = 0; rc == 0 && i < count; i++) {
        if (!is(&all[i], live) && !is(&all[i], next)) {
            rc = note(t, t->state, &all[i], false, &err);
        }
    }
    if (rc < 0) {
        log_err(LOG_WARN, "former_not_noted", t->pipeline, &err);
    }
    free(next);
    free(all);
}
