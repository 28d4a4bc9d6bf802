/* SPDX-License-Identifier: Apache-2.0 */
/* Applies the delete guard and drives the reconcile. */
#include "guard/deletes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "guard/deletes_private.h"
#include "guard/reject_guard.h"
#include "rowferry/base/log.h"
#include "rowferry/state/guard_stop.h"

#define SPOT_MAX_BYTES ((size_t)64 << 10)
#define NAMES_MAX_BYTES ((size_t)256 << 20) /* for 65,536 keys; usually some hundred KiB */

void deletes_init(struct deletes *d, const struct guard_limits *limits, int64_t permitted)
{
    guard_init(&d->guard, limits, permitted);
    hashset_init(&d->probe.idle);
    scan_page_init(&d->walk.page);
    scan_page_init(&d->walk.next);
    scan_page_init(&d->walk.found);
    buf_init(&d->probe.names, NAMES_MAX_BYTES);
    buf_init(&d->walk.after, SPOT_MAX_BYTES);
    buf_init(&d->walk.last_absent, SPOT_MAX_BYTES);
}

void deletes_release(struct deletes *d)
{
    guard_release(&d->guard);
    hashset_release(&d->probe.idle);
    scan_page_release(&d->walk.page);
    scan_page_release(&d->walk.next);
    scan_page_release(&d->walk.found);
    buf_release(&d->probe.names);
    buf_release(&d->walk.after);
    buf_release(&d->walk.last_absent);
    free(d->walk.keys);
}

/* --- guard decisions ------------------------------------------------------------------------- */

static void deletes_keep(struct state *state, const struct clock *clock, int64_t deletes,
                         int64_t documents, const char *pipeline)
{
    struct guard_stop halt = {
        .deletes = deletes, .documents = documents, .at_us = clock_wall_us(clock)};
    reject_guard_keep(state, &halt, pipeline);
}

/* Sets *why to an error that states what would be deleted and for what reason. */
static void deletes_explain(const struct deletes *d, bool reconcile, bool always, struct err *why)
{
    const struct guard *g = &d->guard;
    const char *what = !reconcile                    ? "the next changes would delete"
                       : d->why == DELETES_TRUNCATED ? "the table was truncated, which would "
                                                       "delete"
                       : always                      ? "no document has a row: a reconcile would "
                                                       "delete"
                       : d->why == DELETES_LEFT      ? "a table left it, which would delete"
                                                     : "a reconcile would delete";
    struct buf of;
    struct buf limits;
    buf_init(&of, 64);
    buf_init(&limits, 256);
    if (g->documents >= 0) {
        buf_printf(&of, " of %" PRId64, g->documents);
    }
    if (!always) {
        buf_printf(&limits, ", more than delete_guard permits (share %g, count %" PRId64 ")",
                   g->limits.share, g->limits.count);
    }
    err_set(why, ERR_STATE,
            "the guard stopped the pipeline: %s %" PRId64 "%s documents of index \"%s\"%s", what,
            guard_count(g), buf_text(&of), d->view->target.index, buf_text(&limits));
    buf_release(&of);
    buf_release(&limits);
    err_hint(why,
             d->view->target.stream ? "a data stream takes no deletes: they stay until they are "
                                      "deleted there; to go on: rowferry sync --allow-deletes %s"
                                    : "if these rows are meant to be gone: rowferry sync "
                                      "--allow-deletes %s",
             d->view->target.pipeline);
}

/* Returns true if the reconcile certainly needs a person's permission. This holds if it would
 * empty the index. After a TRUNCATE it also holds for more than the permitted share, however few
 * rows, because a reloaded table may lack some. */
static bool deletes_never_meant(const struct deletes *d)
{
    double most = d->why == DELETES_TRUNCATED ? d->guard.limits.share * (double)d->walk.listed
                                              : (double)d->walk.listed;
    return d->walk.absent == d->walk.listed || (double)d->walk.absent > most;
}

/* Returns LOOP_GO_ON if the deletes may be sent. */
static enum loop_answer deletes_judge(struct deletes *d, bool reconcile, struct err *why)
{
    struct guard *g = &d->guard;
    bool always = reconcile && deletes_never_meant(d);
    d->spent = d->spent || guard_needs_permission(g, always);
    if (!guard_trips(g, always)) {
        return LOOP_GO_ON;
    }
    deletes_explain(d, reconcile, always, why);
    deletes_keep(d->view->state, &d->view->clock, guard_count(g), g->documents,
                 d->view->target.pipeline);
    return LOOP_END;
}

int deletes_refuse_swap(struct state *state, const struct guard_limits *limits,
                        const struct swap_loss *loss, const struct clock *clock,
                        const char *pipeline, const char *index, struct err *err)
{
    int64_t fewer = loss->before - loss->after;
    deletes_keep(state, clock, fewer, loss->before, pipeline);
    if (loss->after == 0) {
        err_set(err, ERR_STATE,
                "the guard stopped the pipeline: the table gives no documents, and the live index "
                "\"%s\" has %" PRId64,
                index, loss->before);
        return err_hint(err, "if the index is meant to be empty: rowferry sync --allow-deletes %s",
                        pipeline);
    }
    err_set(err, ERR_STATE,
            "the guard stopped the pipeline: the table gives %" PRId64 " documents, %" PRId64
            " fewer than the %" PRId64
            " of the live index \"%s\", more than delete_guard permits (share %g, "
            "count %" PRId64 ")",
            loss->after, fewer, loss->before, index, limits->share, limits->count);
    return err_hint(err,
                    "the alias stays as it is; look at from, to.index and the state file; if these "
                    "documents are meant to be gone: rowferry sync --allow-deletes %s",
                    pipeline);
}

/* --- changes from the source ----------------------------------------------------------------- */

static void deletes_take_judge(struct deletes *d, const struct change *change)
{
    if (d->view->target.stream && change->left && !change->truncated) {
        reconcile_spare(d);
    } else if (change->truncated || change->left || change->again) {
        reconcile_begin(d, change->truncated ? DELETES_TRUNCATED
                           : change->left    ? DELETES_LEFT
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
    hashset_release(&d->probe.idle);
}

bool deletes_on_change(void *self, const struct change *change)
{
    struct deletes *d = self;
    switch (change->kind) {
    case CHANGE_PRESCAN_DELETE:
        deletes_take_foreseen(d, change->key);
        return true;
    case CHANGE_PRESCAN_END:
        deletes_take_judge(d, change);
        return true;
    case CHANGE_DELETE:
        if (d->phase != DELETES_COUNT || !d->reader->missing.reading ||
            d->reader->again.reading > 0) {
            return false;
        }
        reconcile_absent(d, change->key);
        return true;
    case CHANGE_WAIT:
        reconcile_list_ahead(d);
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
enum loop_answer deletes_pass(struct deletes *d, struct span key, uint64_t key_hash,
                              struct err *why)
{
    if (!d->guard.judged || hashset_has(&d->probe.idle, key_hash)) {
        return LOOP_GO_ON;
    }
    if (guard_foresee(&d->guard, key_hash) && guard_needs_permission(&d->guard, false)) {
        delete_probe_one(d, key);
    }
    return deletes_judge(d, false, why);
}

/* --- steps ----------------------------------------------------------------------------------- */

static bool deletes_settled(const struct deletes *d)
{
    return d->view->window->keys.count == 0;
}

bool deletes_close(const struct deletes *d)
{
    return d->phase == DELETES_CLOSE && deletes_settled(d);
}

static bool deletes_closes_late(const struct deletes *d)
{
    return d->phase == DELETES_CLOSE && (!deletes_settled(d) || d->view->window->reached != NULL ||
                                         pending_commit_any(d->pending_commit));
}

/* Counts the documents. Refreshes first if the exact number decides. A service that does not
 * permit it leaves the number unknown. */
static int deletes_count_documents(struct deletes *d, struct err *err)
{
    struct guard *g = &d->guard;
    int rc = 0;
    if (guard_matters(g)) {
        rc = d->view->service.ops->refresh(d->view->service.self, d->view->target.index, err);
    }
    if (rc == 0 || rc == ERR_REJECTED) {
        rc = d->view->service.ops->count(d->view->service.self, d->view->target.index,
                                         &g->documents, err);
    }
    if (rc == ERR_REJECTED) {
        g->documents = -1;
        rc = 0;
    }
    return rc;
}

static int deletes_approve(struct deletes *d, struct err *err)
{
    if (deletes_judge(d, false, err) == LOOP_END) {
        return (int)err->class;
    }
    d->guard.judged = true;
    d->phase = DELETES_IDLE;
    return 0;
}

/* Decides on a window. If it has too many deletes, probes them first: some documents may already
 * be deleted or may never have existed. */
static int deletes_judge_window(struct deletes *d, struct err *err)
{
    int rc = deletes_count_documents(d, err);
    if (rc == 0 && guard_needs_permission(&d->guard, false)) {
        d->phase = DELETES_MEET;
    } else if (rc == 0) {
        rc = deletes_approve(d, err);
    }
    return rc;
}

static int deletes_meet(struct deletes *d, struct err *err)
{
    bool more;
    int rc = delete_probe_next(d, &more, err);
    if (rc == ERR_REJECTED) { /* not permitted: all counted deletes stay */
        return deletes_approve(d, err);
    }
    if (rc == 0 && !more) { /* includes what was settled since the first count */
        rc = deletes_count_documents(d, err);
        rc = rc == 0 ? deletes_approve(d, err) : rc;
    }
    return rc;
}

static int deletes_end_walk(struct deletes *d, struct err *err)
{
    if (d->phase == DELETES_COUNT) {
        d->guard.documents = d->walk.listed;
        log_event(LOG_INFO, "reconcile_counted", F_TEXT("pipeline", d->view->target.pipeline),
                  F_INT("documents", d->walk.listed), F_INT("deletes", d->walk.absent));
    }
    if (d->phase == DELETES_COUNT && guard_count(&d->guard) > 0) {
        if (deletes_judge(d, true, err) == LOOP_END) {
            return (int)err->class;
        }
        if (!d->view->target.stream) {
            reconcile_walk(d, DELETES_SEND);
            return 0;
        }
        reconcile_report_spared(d, d->walk.absent);
    }
    d->phase = DELETES_CLOSE;
    return 0;
}

static int deletes_step(struct deletes *d, struct err *err)
{
    bool more = true;
    int rc = 0;
    switch (d->phase) {
    case DELETES_JUDGE:
        return deletes_judge_window(d, err);
    case DELETES_SETTLE:
        return reconcile_list(d, err);
    case DELETES_MEET:
        return deletes_meet(d, err);
    case DELETES_COUNT:
    case DELETES_SEND:
        rc = reconcile_next(d, &more, err);
        return rc == 0 && !more ? deletes_end_walk(d, err) : rc;
    case DELETES_CLOSE:
        return reconcile_end(d, err);
    case DELETES_IDLE:
    default:
        return 0;
    }
}

static bool deletes_between_pages(const struct deletes *d)
{
    const struct source_reader *r = d->reader;
    return r->reading != SOURCE_READER_PAGE && r->again.count == 0 && r->asked.count == 0 &&
           r->missing.count == 0;
}

bool deletes_wait(const struct deletes *d)
{
    if (d->phase == DELETES_IDLE || !deletes_between_pages(d)) {
        return false;
    }
    bool settles = d->phase == DELETES_SETTLE || d->phase == DELETES_MEET;
    return (settles && !deletes_settled(d)) || deletes_closes_late(d) ||
           retry_budget_wait_ms(d->service_retry, clock_monotonic_us(&d->view->clock)) > 0;
}

enum loop_answer deletes_turn(struct deletes *d, struct err *err)
{
    while (d->phase != DELETES_IDLE && deletes_between_pages(d)) {
        int rc = deletes_step(d, err);
        bool lists = d->phase >= DELETES_SETTLE && d->phase <= DELETES_SEND;
        if (rc == ERR_REJECTED && d->why == DELETES_OWED && lists) {
            rc = reconcile_drop(d, err);
        }
        if (rc == ERR_TRANSIENT && retry_budget_away(d->service_retry, &d->view->clock, err)) {
            return LOOP_WAIT;
        }
        if (rc < 0) {
            return LOOP_END;
        }
        if (loop_view_stopping(d->view)) {
            return LOOP_WAIT;
        }
        retry_budget_well(d->service_retry, &d->view->clock);
        /* let the loop take answers between probes and before a reconcile ends */
        if (d->phase == DELETES_MEET || deletes_closes_late(d)) {
            return LOOP_WAIT;
        }
    }
    return LOOP_GO_ON;
}
