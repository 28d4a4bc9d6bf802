/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a complete generation live, and names the consumers of generations in the source. */
#include "generation/generation_private.h"

#include <string.h>

#include "generation/generation_retention.h"
#include "guard/deletes.h"
#include "rowferry/base/failpoint.h"
#include "rowferry/base/log.h"
#include "rowferry/state/rebuild.h"

void generation_consumer_name(const struct generation *t, const char *index, const char *uuid,
                              struct buf *out)
{
    buf_reset(out);
    checkpoint_push_consumer(out, t->definition->name, index, uuid);
}

const char *generation_replaced(const struct generation *t)
{
    return buf_text(&t->replaced);
}

void generation_consumer(const struct generation *t, struct buf *out)
{
    const struct checkpoint *c = &t->checkpoint;
    generation_consumer_name(t, c->generation, c->index_uuid != NULL ? c->index_uuid : "", out);
}

int generation_check_filled(struct generation *t, struct err *err)
{
    struct index_info at;
    bool found;
    const char *name = t->checkpoint.generation;
    int rc = generation_look(t, name, &found, &at, err);
    if (rc < 0 || (found && generation_is_generation(t, &at))) {
        return rc;
    }
    err_set(err, ERR_STATE, "index \"%s\" was deleted while it was filled", name);
    return t->next ? err_hint(err, "run: rowferry reindex --abort %s, then rowferry reindex %s",
                              t->definition->name, t->definition->name)
                   : err_hint(err, "sync again: another generation is built from the beginning");
}

/* *count negative: it may not be counted. What was deleted just now is counted until a refresh. */
static int generation_live_count(struct generation *t, const char *index, int64_t *count,
                                 struct err *err)
{
    *count = -1;
    int rc = t->service.ops->refresh(t->service.self, index, err);
    if (rc == 0 || rc == ERR_REJECTED) {
        rc = t->service.ops->count(t->service.self, index, count, err);
    }
    *count = rc == 0 ? *count : -1;
    return rc == ERR_REJECTED ? 0 : rc;
}

int generation_judge_swap(struct generation *t, const struct guard_limits *limits, int64_t allowed,
                          const char *from, struct swap_loss *out, struct err *err)
{
    *out = (struct swap_loss){.before = -1, .after = -1};
    int rc = generation_live_count(t, t->checkpoint.generation, &out->after, err);
    if (rc == 0 && (out->after == 0 || limits->share < 1)) {
        rc = generation_live_count(t, from, &out->before, err);
    }
    if (rc == 0 && out->after == 0 && out->before < 0) {
        out->before = 1; /* nobody may count it: it is not known to be empty */
    }
    out->refused = rc == 0 && guard_refuses_swap(limits, allowed, out->before, out->after);
    return rc;
}

/* A first load beside an index that people search, which this state file does not know. */
static int generation_live_guard(struct generation *t, const char *from, struct err *err)
{
    struct swap_loss loss;
    int rc = generation_judge_swap(t, &t->guard->limits, t->guard->allowed, from, &loss, err);
    return rc == 0 && loss.refused ? deletes_refuse_swap(t->state, &t->guard->limits, &loss,
                                                         &t->clock, t->definition->name, from, err)
                                   : rc;
}

/* Records an index of ours, unknown to this state file, as a former generation. `status` lists it,
 * and a return to it needs a re-snapshot in place. A failure does not prevent the swap. */
static int generation_live_leave(const struct generation *t, const struct index_info *from,
                                 struct err *err)
{
    int rc = t->service.ops->leave(t->service.self, from->name, t->definition->name, "",
                                   clock_wall_us(&t->clock), err);
    if (rc < 0 && rc != ERR_TRANSIENT) {
        log_err(LOG_WARN, "former_not_noted", t->definition->name, err);
        rc = 0;
    }
    return rc;
}

static int generation_live_swap(struct generation *t, const struct index_info *from,
                                struct err *err)
{
    const char *to = t->checkpoint.generation;
    if (from == NULL) {
        return t->service.ops->swap(t->service.self, t->definition->alias, NULL, to, err);
    }
    int rc = generation_live_guard(t, from->name, err);
    if (rc == 0) {
        rc = generation_live_leave(t, from, err);
    }
    if (rc == 0) {
        rc = t->service.ops->swap(t->service.self, t->definition->alias, from->name, to, err);
    }
    if (rc == 0) {
        generation_consumer_name(t, from->name, from->uuid, &t->replaced);
    }
    return rc;
}

int generation_go_live(struct generation *t, struct err *err)
{
    const struct checkpoint *c = &t->checkpoint;
    int rc = generation_check_filled(t, err);
    if (rc == 0) {
        rc = t->definition->stream ? t->service.ops->refresh(t->service.self, c->generation, err)
                                   : t->service.ops->finish(t->service.self, c->generation,
                                                            t->definition->settings, err);
    }
    if (rc < 0) {
        return rc;
    }
    struct index_info from;
    enum alias_kind kind;
    rc = generation_holder(t, &kind, &from, err);
    if (rc < 0) {
        return rc;
    }
    bool held = kind == ALIAS_ONE;
    if (!held || strcmp(from.name, c->generation) != 0) {
        rc = generation_live_swap(t, held ? &from : NULL, err);
        if (rc < 0) {
            return rc;
        }
    }
    if (FAILPOINT("alias_swapped")) {
        return err_set(err, ERR_TRANSIENT, "failpoint \"alias_swapped\"");
    }
    if (!t->definition->stream) {
        generation_retention_note(t, c->generation);
    }
    rc = checkpoint_go_live(t->state, clock_wall_us(&t->clock), err);
    if (rc == 0) {
        log_event(LOG_INFO, "generation_live", F_TEXT("pipeline", t->definition->name),
                  F_TEXT("alias", t->definition->alias), F_TEXT("index", c->generation));
    }
    return rc < 0 ? rc : generation_reload(t, err);
}

int generation_live_promote(struct generation *t, const struct index_info *at, struct err *err)
{
    struct state *state = NULL;
    struct checkpoint next = {0};
    size_t removed = 0;
    int rc = rebuild_open(t->state, &state, err);
    bool promoted = false;
    if (rc == 0 && state != NULL) {
        rc = checkpoint_load(state, &next, err);
        promoted = rc == 0 && generation_same_text(next.generation, at->name) &&
                   generation_same_text(next.index_uuid, at->uuid);
    }
    state_close(state);
    if (promoted) { /* another program may have swapped it in before it was complete */
        rc = t->service.ops->finish(t->service.self, at->name, t->definition->settings, err);
    }
    if (promoted && rc == 0) {
        struct buf consumer;
        buf_init(&consumer, 2048);
        generation_consumer(t, &consumer);
        bool was_live = t->checkpoint.phase == GENERATION_LIVE;
        generation_retention_apply(t, t->state,
                                   &(struct kept){.live = at->name,
                                                  .former = t->checkpoint.generation,
                                                  .count = t->rebuild.keep},
                                   &removed);
        rc = rebuild_promote(t->state, was_live ? buf_text(&consumer) : NULL,
                             clock_wall_us(&t->clock), err);
        buf_release(&consumer);
        log_event(LOG_INFO, "generation_live", F_TEXT("pipeline", t->definition->name),
                  F_TEXT("alias", t->definition->alias), F_TEXT("index", at->name));
    }
    checkpoint_release(&next);
    return rc < 0 || !promoted ? rc : generation_reload(t, err);
}
