/* SPDX-License-Identifier: Apache-2.0 */
/* Decides when rejections are checked, and what is kept when they stop the pipeline. */
#include "guard/reject_guard.h"

#include <inttypes.h>
#include <string.h>

#include "rowferry/base/log.h"
#include "rowferry/state/deadletter.h"

/* Records a guard stop. The same counts as before mean the same stop, so a pending permission
 * still applies. */
void reject_guard_keep(struct state *state, const struct guard_stop *halt, const char *pipeline)
{
    struct err unkept;
    struct guard_stop before;
    struct guard_stop kept = *halt;
    bool known;
    int rc = guard_stop_read(state, &before, &known, &unkept);
    if (rc == 0 && known && before.deletes == halt->deletes && before.rejected == halt->rejected &&
        strcmp(before.reason, halt->reason) == 0) {
        kept.at_us = before.at_us;
    }
    if (guard_stop_write(state, &kept, &unkept) < 0) {
        log_err(LOG_ERROR, "halt_not_kept", pipeline, &unkept);
    }
}

static void reject_guard_on_settled(void *self, uint64_t page, bool sent,
                                    const struct new_letter *letter)
{
    struct reject_guard *g = self;
    (void)sent;
    if (source_reader_was_asked(g->view->reader, page)) {
        return;
    }
    if (letter != NULL) {
        reject_stats_add(&g->rejects, letter);
    } else {
        reject_stats_done(&g->rejects);
    }
}

/* The windows of the initial load are single pages, too short to be judged. */
static bool reject_guard_on_change(void *self, const struct change *change)
{
    struct reject_guard *g = self;
    if (change->kind == CHANGE_PAGE) {
        g->page_ended = change->drained || (change->whole && !change->copying);
    } else if (change->kind == CHANGE_UPSERT || change->kind == CHANGE_DELETE) {
        g->page_ended = false;
    }
    return false;
}

struct loop_observer reject_guard_observer(struct reject_guard *g)
{
    return (struct loop_observer){
        .self = g, .on_change = reject_guard_on_change, .on_settled = reject_guard_on_settled};
}

bool reject_guard_waits(const struct reject_guard *g)
{
    return g->tripped || reject_stats_doubt(&g->rejects);
}

static void reject_guard_stop(const struct reject_guard *g, const struct reject_reason *reason,
                              struct err *why)
{
    const struct loop_view *v = g->view;
    const char *name = v->target.pipeline;
    struct guard_stop halt = {.documents = -1,
                              .rejected = reason->count,
                              .operations = g->rejects.operations,
                              .at_us = clock_wall_us(&v->clock)};
    memcpy(halt.reason, reason->name, sizeof(halt.reason));
    reject_guard_keep(v->state, &halt, name);
    err_set(why, ERR_STATE,
            "the guard stopped the pipeline: of the last %" PRId64 " operations for index \"%s\" "
            "%" PRId64 " were refused for one reason: %s",
            g->rejects.operations, v->target.index, reason->count, reason->name);
    if (g->building) {
        err_hint(why,
                 "the live index stays as it is; correct mapping or rows, then: rowferry reindex "
                 "--abort %s, and start the rebuild again",
                 name);
    } else {
        err_hint(why,
                 "see \"rowferry deadletter list %s\", correct mapping or rows and sync again; if "
                 "they are to become dead letters: rowferry sync --allow-rejections %s",
                 name, name);
    }
}

/* Commits some dead letters for inspection. The others are dropped, because their operations will
 * be repeated. */
static int reject_guard_keep_letters(const struct reject_guard *g, struct err *err)
{
    const struct loop_view *v = g->view;
    int64_t kept;
    int rc = deadletter_count(v->state, &kept, err);
    if (rc == 0) {
        pending_commit_keep(g->pending_commit,
                            kept < REJECT_STATS_COUNT ? (size_t)(REJECT_STATS_COUNT - kept) : 0);
        rc = pending_commit_write(g->pending_commit, v->state, NULL, 0, clock_wall_us(&v->clock),
                                  err);
    }
    return rc;
}

enum loop_answer reject_guard_turn(struct reject_guard *g, bool closing, struct err *err)
{
    struct err ignored;
    bool ended = (g->page_ended && g->view->window->keys.count == 0) || closing;
    const struct reject_reason *reason = g->tripped ? NULL : reject_stats_trips(&g->rejects, ended);
    if (reason != NULL) {
        g->tripped = true;
        reject_guard_stop(g, reason, err);
        (void)!reject_guard_keep_letters(g, &ignored);
        return LOOP_END;
    }
    if (ended) {
        reject_stats_begin(&g->rejects);
    }
    return reject_guard_waits(g) ? LOOP_WAIT : LOOP_GO_ON;
}
