/* SPDX-License-Identifier: Apache-2.0 */
/* Decides when rejections are checked, and what is kept when they stop the pipeline. */
#include "guard/reject_guard.h"

#include <inttypes.h>
#include <string.h>

#include "pipeline/loop.h"
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

void reject_guard_count(struct loop *l, uint64_t page, const struct letter *letter)
{
    if (source_reader_was_asked(&l->source_reader, page)) {
        return;
    }
    if (letter != NULL) {
        reject_stats_add(&l->verdict.rejects, letter);
    } else {
        reject_stats_done(&l->verdict.rejects);
    }
}

/* Detects the end of a window. The windows of the initial load are single pages, too short to be
 * judged. */
void reject_guard_take(struct loop *l, const struct change *change)
{
    if (change->kind == CHANGE_PAGE) {
        l->verdict.page_ended = change->drained || (change->whole && !change->copying);
    } else if (change->kind == CHANGE_UPSERT || change->kind == CHANGE_DELETE) {
        l->verdict.page_ended = false;
    }
}

bool reject_guard_waits(const struct loop *l)
{
    return l->verdict.tripped || reject_stats_doubt(&l->verdict.rejects);
}

static void reject_guard_stop(struct loop *l, const struct reject_reason *reason)
{
    const struct reject_stats *r = &l->verdict.rejects;
    struct guard_stop halt = {.documents = -1,
                              .rejected = reason->count,
                              .operations = r->operations,
                              .at_us = clock_wall_us(&l->clock)};
    struct err why;
    memcpy(halt.reason, reason->name, sizeof(halt.reason));
    reject_guard_keep(l->state, &halt, l->options->definition.name);
    err_set(&why, ERR_STATE,
            "the guard stopped the pipeline: of the last %" PRId64 " operations for index \"%s\" "
            "%" PRId64 " were refused for one reason: %s",
            r->operations, l->sender.index, reason->count, reason->name);
    if (l->options->mode == PIPELINE_BUILD) {
        err_hint(&why,
                 "the live index stays as it is; correct mapping or rows, then: rowferry reindex "
                 "--abort %s, and reindex anew",
                 l->options->definition.name);
        loop_end(l, &why);
        return;
    }
    err_hint(&why,
             "see \"rowferry deadletter list\", correct mapping or rows and sync again; if they "
             "are to become dead letters: rowferry sync --allow-rejections %s",
             l->options->definition.name);
    loop_end(l, &why);
}

/* Commits some dead letters for inspection. The others are dropped, because their operations will
 * be repeated. */
static int reject_guard_keep_letters(struct loop *l, struct err *err)
{
    int64_t kept;
    int rc = deadletter_count(l->state, &kept, err);
    if (rc == 0) {
        pending_commit_keep(&l->pending_commit,
                            kept < REJECT_STATS_COUNT ? (size_t)(REJECT_STATS_COUNT - kept) : 0);
        rc = pending_commit_write(&l->pending_commit, l->state, NULL, 0, clock_wall_us(&l->clock),
                                  err);
    }
    return rc;
}

int reject_guard_turn(struct loop *l, struct err *err)
{
    struct reject_guard *v = &l->verdict;
    bool ended = (v->page_ended && l->window.keys.count == 0) || deletes_close(l);
    const struct reject_reason *reason = v->tripped ? NULL : reject_stats_trips(&v->rejects, ended);
    if (reason != NULL) {
        v->tripped = true;
        reject_guard_stop(l, reason);
        return reject_guard_keep_letters(l, err);
    }
    if (ended) {
        reject_stats_begin(&v->rejects);
    }
    return 0;
}
