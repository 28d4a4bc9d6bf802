/* SPDX-License-Identifier: Apache-2.0 */
/* Applies the delete guard and drives the reconcile. */
#include "guard/deletes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "guard/delete_probe.h"
#include "guard/reconcile.h"
#include "guard/reject_guard.h"
#include "pipeline/loop.h"
#include "rowferry/base/log.h"
#include "rowferry/state/guard_stop.h"

#define SPOT_MAX_BYTES ((size_t)64 << 10)
#define NAMES_MAX_BYTES ((size_t)256 << 20) /* for 65,536 keys; usually some hundred KiB */

void deletes_init(struct deletes *d, const struct guard_limits *limits, int64_t permitted)
{
    *d = (struct deletes){.phase = DELETES_IDLE};
    guard_init(&d->guard, limits, permitted);
    hashset_init(&d->idle);
    scan_page_init(&d->page);
    scan_page_init(&d->next);
    scan_page_init(&d->found);
    buf_init(&d->names, NAMES_MAX_BYTES);
    buf_init(&d->after, SPOT_MAX_BYTES);
    buf_init(&d->last_absent, SPOT_MAX_BYTES);
}

void deletes_release(struct deletes *d)
{
    guard_release(&d->guard);
    hashset_release(&d->idle);
    scan_page_release(&d->page);
    scan_page_release(&d->next);
    scan_page_release(&d->found);
    buf_release(&d->names);
    buf_release(&d->after);
    buf_release(&d->last_absent);
    free(d->keys);
}

/* --- guard decisions ------------------------------------------------------------------------- */

static void deletes_keep(struct state *state, const struct clock *clock, int64_t deletes,
                         int64_t documents, const char *pipeline)
{
    struct guard_stop halt = {
        .deletes = deletes, .documents = documents, .at_us = clock_wall_us(clock)};
    reject_guard_keep(state, &halt, pipeline);
}

static void deletes_push_documents(struct buf *out, int64_t documents)
{
    if (documents >= 0) {
        buf_printf(out, " of %" PRId64 " documents", documents);
    } else {
        buf_push_literal(out, " documents");
    }
}

/* Sets *why to an error that states what would be deleted and for what reason. */
static void deletes_explain(const struct loop *l, bool reconcile, bool always, struct err *why)
{
    const struct deletes *d = &l->deletes;
    const struct guard *g = &d->guard;
    const char *what = !reconcile                    ? "the next changes would delete"
                       : d->why == DELETES_TRUNCATED ? "the table was truncated, which would "
                                                       "delete"
                       : always                      ? "no document has a row: a reconcile would "
                                                       "delete"
                       : d->why == DELETES_LEFT      ? "a table left it, which would delete"
                                                     : "a reconcile would delete";
    struct buf of;
    buf_init(&of, 256);
    deletes_push_documents(&of, g->documents);
    if (always) {
        err_set(why, ERR_STATE, "the guard stopped the pipeline: %s %" PRId64 "%s of index \"%s\"",
                what, guard_count(g), buf_text(&of), l->sender.index);
    } else {
        err_set(why, ERR_STATE,
                "the guard stopped the pipeline: %s %" PRId64 "%s of index \"%s\", more than "
                "delete_guard lets pass (share %g, count %" PRId64 ")",
                what, guard_count(g), buf_text(&of), l->sender.index, g->limits.share,
                g->limits.count);
    }
    buf_release(&of);
    err_hint(why,
             l->options->definition.stream
                 ? "a data stream takes no deletes: they stay until somebody deletes "
                   "them there; to go on: rowferry sync --allow-deletes %s"
                 : "if so many rows are meant to be gone: rowferry sync "
                   "--allow-deletes %s",
             l->options->definition.name);
}

/* Returns true if the reconcile certainly needs a person's permission. This holds if it would
 * empty the index. After a TRUNCATE it also holds for more than the permitted share, however few
 * rows, because a reloaded table may lack some. */
static bool deletes_never_meant(const struct deletes *d)
{
    double most =
        d->why == DELETES_TRUNCATED ? d->guard.limits.share * (double)d->listed : (double)d->listed;
    return d->absent == d->listed || (double)d->absent > most;
}

/* Returns true if the deletes may be sent. Otherwise ends the work with an error. */
static bool deletes_passes(struct loop *l, bool reconcile)
{
    struct deletes *d = &l->deletes;
    struct guard *g = &d->guard;
    struct err why;
    bool always = reconcile && deletes_never_meant(d);
    d->spent = d->spent || guard_needs_permission(g, always);
    if (!guard_trips(g, always)) {
        return true;
    }
    deletes_explain(l, reconcile, always, &why);
    deletes_keep(l->state, &l->clock, guard_count(g), g->documents, l->options->definition.name);
    loop_end(l, &why);
    return false;
}

int deletes_refuse_swap(struct state *state, const struct guard_limits *limits,
                        const struct swap_loss *loss, const struct clock *clock,
                        const char *pipeline, const char *index, struct err *err)
{
    int64_t fewer = loss->before - loss->after;
    deletes_keep(state, clock, fewer, loss->before, pipeline);
    if (loss->after == 0) {
        err_set(err, ERR_STATE,
                "the guard stopped the pipeline: the table gives no documents, and index \"%s\" "
                "that people search has %" PRId64,
                index, loss->before);
        return err_hint(err, "if the index is meant to be empty: rowferry sync --allow-deletes %s",
                        pipeline);
    }
    err_set(err, ERR_STATE,
            "the guard stopped the pipeline: the table gives %" PRId64 " documents, %" PRId64
            " fewer than the %" PRId64
            " of index \"%s\" that people search, more than delete_guard lets pass (share %g, "
            "count %" PRId64 ")",
            loss->after, fewer, loss->before, index, limits->share, limits->count);
    return err_hint(err,
                    "the alias stays as it is; look at from, to.index and the state file; if so "
                    "many documents are meant to be gone: rowferry sync --allow-deletes %s",
                    pipeline);
}

/* --- changes from the source ----------------------------------------------------------------- */

static void deletes_take_judge(struct loop *l)
{
    struct deletes *d = &l->deletes;
    if (l->options->definition.stream && l->change.left && !l->change.truncated) {
        reconcile_spare(l);
    } else if (l->change.truncated || l->change.left || l->change.again) {
        reconcile_begin(l, l->change.truncated ? DELETES_TRUNCATED
                           : l->change.left    ? DELETES_LEFT
                                               : DELETES_AGAIN);
    } else {
        if (!d->foreseeing) {
            guard_begin(&d->guard);
        }
        d->phase = DELETES_JUDGE;
    }
    d->foreseeing = false;
}

static void deletes_take_foreseen(struct deletes *d, struct span key)
{
    if (!d->foreseeing) {
        guard_begin(&d->guard);
        delete_probe_begin(d);
    }
    d->foreseeing = true;
    delete_probe_foresee(d, key);
}

/* A permission is used up once it was needed. */
void deletes_judged(struct deletes *d)
{
    d->guard.allowed = d->spent ? 0 : d->guard.allowed;
    d->spent = false;
    guard_begin(&d->guard);
    hashset_release(&d->idle);
}

bool deletes_take(struct loop *l)
{
    struct deletes *d = &l->deletes;
    const struct change *change = &l->change;
    switch (change->kind) {
    case CHANGE_PRESCAN_DELETE:
        deletes_take_foreseen(d, change->key);
        return true;
    case CHANGE_PRESCAN_END:
        deletes_take_judge(l);
        return true;
    case CHANGE_DELETE:
        if (d->phase != DELETES_COUNT || !l->source_reader.finding_missing ||
            l->source_reader.rereading > 0) {
            return false;
        }
        reconcile_absent(d, change->key);
        return true;
    case CHANGE_WAIT:
        reconcile_list_ahead(l);
        return false;
    case CHANGE_PAGE:
        if (change->whole && d->guard.judged) {
            deletes_judged(d);
        }
        return false;
    default:
        return false;
    }
}

/* Counts the delete if the prescan of its window did not, because its row was deleted later. */
bool deletes_pass(struct loop *l, uint64_t key_hash)
{
    struct deletes *d = &l->deletes;
    if (!d->guard.judged || hashset_has(&d->idle, key_hash)) {
        return true;
    }
    if (guard_foresee(&d->guard, key_hash) && guard_needs_permission(&d->guard, false)) {
        delete_probe_one(l, l->change.key);
    }
    return deletes_passes(l, false);
}

/* --- steps ----------------------------------------------------------------------------------- */

static bool deletes_settled(const struct loop *l)
{
    return l->window.keys.count == 0;
}

bool deletes_close(const struct loop *l)
{
    return l->deletes.phase == DELETES_CLOSE && deletes_settled(l);
}

static bool deletes_closes_late(const struct loop *l)
{
    return l->deletes.phase == DELETES_CLOSE && (!deletes_settled(l) || loop_commit_pending(l));
}

bool deletes_wait(const struct loop *l)
{
    if (l->deletes.phase == DELETES_IDLE || l->source_reader.reading == SOURCE_READER_PAGE ||
        l->source_reader.again_count > 0 || l->source_reader.asked_count > 0 ||
        l->source_reader.missing_count > 0) {
        return false;
    }
    bool settles = l->deletes.phase == DELETES_SETTLE || l->deletes.phase == DELETES_MEET;
    return (settles && !deletes_settled(l)) || deletes_closes_late(l) ||
           retry_budget_wait_ms(&l->service_retry, clock_monotonic_us(&l->clock)) > 0;
}

/* Counts the documents. Refreshes first if the exact number decides. A service that does not
 * permit it leaves the number unknown. */
static int deletes_count_documents(struct loop *l, struct err *err)
{
    struct guard *g = &l->deletes.guard;
    int rc = 0;
    if (guard_matters(g)) {
        rc = l->service.ops->refresh(l->service.self, l->sender.index, err);
    }
    if (rc == 0 || rc == ERR_REJECTED) {
        rc = l->service.ops->count(l->service.self, l->sender.index, &g->documents, err);
    }
    if (rc == ERR_REJECTED) {
        g->documents = -1;
        rc = 0;
    }
    return rc;
}

static void deletes_approve(struct loop *l)
{
    if (deletes_passes(l, false)) {
        l->deletes.guard.judged = true;
        l->deletes.phase = DELETES_IDLE;
    }
}

/* Decides on a window. If it has too many deletes, probes them first: some documents may already
 * be deleted or may never have existed. */
static int deletes_judge_window(struct loop *l, struct err *err)
{
    struct deletes *d = &l->deletes;
    int rc = deletes_count_documents(l, err);
    if (rc == 0 && guard_needs_permission(&d->guard, false)) {
        d->phase = DELETES_MEET;
    } else if (rc == 0) {
        deletes_approve(l);
    }
    return rc;
}

static int deletes_meet(struct loop *l, struct err *err)
{
    bool more;
    int rc = delete_probe_next(l, &more, err);
    if (rc == ERR_REJECTED) { /* not permitted: all counted deletes stay */
        deletes_approve(l);
        return 0;
    }
    if (rc == 0 && !more) { /* includes what was settled since the first count */
        rc = deletes_count_documents(l, err);
        if (rc == 0) {
            deletes_approve(l);
        }
    }
    return rc;
}

static void deletes_end_walk(struct loop *l)
{
    struct deletes *d = &l->deletes;
    if (d->phase == DELETES_COUNT) {
        d->guard.documents = d->listed;
        log_event(LOG_INFO, "reconcile_counted", F_TEXT("pipeline", l->options->definition.name),
                  F_INT("documents", d->listed), F_INT("deletes", d->absent));
    }
    if (d->phase == DELETES_COUNT && guard_count(&d->guard) > 0) {
        if (!deletes_passes(l, true)) {
            return;
        }
        if (!l->options->definition.stream) {
            reconcile_walk(d, DELETES_SEND);
            return;
        }
        reconcile_report_spared(l, d->absent);
    }
    d->phase = DELETES_CLOSE;
}

static int deletes_step(struct loop *l, struct err *err)
{
    bool more = true;
    int rc = 0;
    switch (l->deletes.phase) {
    case DELETES_JUDGE:
        return deletes_judge_window(l, err);
    case DELETES_SETTLE:
        return reconcile_list(l, err);
    case DELETES_MEET:
        return deletes_meet(l, err);
    case DELETES_COUNT:
    case DELETES_SEND:
        rc = reconcile_next(l, &more, err);
        if (rc == 0 && !more) {
            deletes_end_walk(l);
        }
        return rc;
    case DELETES_CLOSE:
        return reconcile_end(l, err);
    case DELETES_IDLE:
    default:
        return 0;
    }
}

static bool deletes_is_listing(const struct deletes *d)
{
    return d->phase == DELETES_SETTLE || d->phase == DELETES_COUNT || d->phase == DELETES_SEND;
}

int deletes_turn(struct loop *l, bool *ready, struct err *err)
{
    while (l->deletes.phase != DELETES_IDLE && l->source_reader.reading != SOURCE_READER_PAGE &&
           l->source_reader.again_count == 0 && l->source_reader.asked_count == 0 &&
           l->source_reader.missing_count == 0) {
        int rc = deletes_step(l, err);
        if (rc == ERR_REJECTED && l->deletes.why == DELETES_OWED &&
            deletes_is_listing(&l->deletes)) {
            rc = reconcile_drop(l, err);
        }
        *ready = rc == 0 && !loop_stopping(l);
        if (rc == ERR_TRANSIENT) {
            return retry_budget_away(&l->service_retry, &l->clock, err) ? 0 : rc;
        }
        if (rc < 0 || !*ready) {
            return rc;
        }
        retry_budget_well(&l->service_retry, &l->clock);
        /* let the loop take answers between probes and before a reconcile ends */
        if (l->deletes.phase == DELETES_MEET || deletes_closes_late(l)) {
            *ready = false;
            return 0;
        }
    }
    *ready = true;
    return 0;
}
