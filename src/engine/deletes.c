/* SPDX-License-Identifier: Apache-2.0 */
/* The guard's questions and the reconcile's walks. */
#include "deletes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "loop.h"
#include "rowferry/base/log.h"
#include "rowferry/state/halt.h"

#define KEY_MAX_BYTES ((size_t)64 << 10)

void deletes_init(struct deletes *d, const struct guard_limits *limits, int64_t permitted)
{
    *d = (struct deletes){.phase = DELETES_IDLE};
    guard_init(&d->guard, limits, permitted);
    scan_page_init(&d->page);
    buf_init(&d->after, KEY_MAX_BYTES);
}

void deletes_release(struct deletes *d)
{
    guard_release(&d->guard);
    scan_page_release(&d->page);
    buf_release(&d->after);
    free(d->keys);
}

/* --- the verdict --------------------------------------------------------------------------- */

/* Kept, so that a person may permit just this. */
static void keep_halt(struct state *state, const struct halt *halt, const char *pipeline)
{
    struct err unkept;
    if (halt_note(state, halt, &unkept) < 0) {
        log_err(LOG_ERROR, "halt_not_kept", pipeline, &unkept);
    }
}

static void push_documents(struct buf *out, int64_t documents)
{
    if (documents >= 0) {
        buf_printf(out, " of %" PRId64 " documents", documents);
    } else {
        buf_push_literal(out, " documents");
    }
}

/* Ends the work where the guard says so. */
static bool passes(struct loop *l, bool truncated)
{
    struct deletes *d = &l->deletes;
    struct guard *g = &d->guard;
    struct err why;
    struct buf of;
    if (!guard_trips(g, truncated)) {
        return true;
    }
    buf_init(&of, 256);
    push_documents(&of, g->documents);
    if (truncated) {
        err_set(&why, ERR_STATE,
                "the guard stopped the pipeline: the table was truncated, which would delete "
                "%" PRId64 "%s of index \"%s\"",
                guard_count(g), buf_text(&of), l->sender.index);
    } else {
        err_set(&why, ERR_STATE,
                "the guard stopped the pipeline: the next changes would delete %" PRId64
                "%s of index \"%s\", more than delete_guard lets pass (share %g, count %" PRId64
                ")",
                guard_count(g), buf_text(&of), l->sender.index, g->limits.share, g->limits.count);
    }
    buf_release(&of);
    err_hint(&why, "if so many rows are meant to be gone: rowferry sync --allow-deletes %s",
             l->options->name);
    keep_halt(l->state, &(struct halt){guard_count(g), g->documents, clock_wall_us(&l->clock)},
              l->options->name);
    loop_end(l, &why);
    return false;
}

int deletes_check_emptied(struct state *state, const struct guard *guard, int64_t documents,
                          const struct clock *clock, const char *pipeline, const char *index,
                          struct err *err)
{
    if (documents <= guard->allowed) {
        return 0;
    }
    keep_halt(state, &(struct halt){documents, documents, clock_wall_us(clock)}, pipeline);
    err_set(err, ERR_STATE,
            "the guard stopped the pipeline: the table gives no documents, and index \"%s\" that "
            "people search has %" PRId64,
            index, documents);
    return err_hint(err, "if the index is meant to be empty: rowferry sync --allow-deletes %s",
                    pipeline);
}

/* --- what comes from the source ------------------------------------------------------------ */

static void begin_reconcile(struct loop *l)
{
    struct deletes *d = &l->deletes;
    guard_begin(&d->guard);
    d->phase = DELETES_SETTLE;
    log_event(LOG_WARN, "reconcile_started", F_TEXT("pipeline", l->options->name),
              F_TEXT("index", l->sender.index), F_TEXT("why", "the table was truncated"));
}

static void take_judge(struct loop *l)
{
    struct deletes *d = &l->deletes;
    if (l->change.truncated) {
        begin_reconcile(l);
    } else {
        if (!d->foreseeing) {
            guard_begin(&d->guard);
        }
        d->phase = DELETES_JUDGE;
    }
    d->foreseeing = false;
}

static void take_foreseen(struct deletes *d, struct span key)
{
    if (!d->foreseeing) {
        guard_begin(&d->guard);
    }
    d->foreseeing = true;
    guard_foresee(&d->guard, text_hash(key.data, key.len));
}

/* What was permitted was so for one time. */
static void window_ended(struct deletes *d)
{
    if (d->guard.judged) {
        guard_begin(&d->guard);
        d->guard.allowed = 0;
    }
}

bool deletes_take(struct loop *l)
{
    struct deletes *d = &l->deletes;
    const struct change *change = &l->change;
    switch (change->kind) {
    case CHANGE_FORESEEN:
        take_foreseen(d, change->key);
        return true;
    case CHANGE_JUDGE:
        take_judge(l);
        return true;
    case CHANGE_GONE:
        if (d->phase != DELETES_COUNT || !l->intake.sifting || l->intake.rereading > 0) {
            return false;
        }
        guard_foresee(&d->guard, text_hash(change->key.data, change->key.len));
        return true;
    case CHANGE_PAGE:
        if (change->whole) {
            window_ended(d);
        }
        return false;
    default:
        return false;
    }
}

/* Rows may have gone after the look ahead at their window. */
bool deletes_pass(struct loop *l, uint64_t key_hash)
{
    struct deletes *d = &l->deletes;
    if (!d->guard.judged) {
        return true;
    }
    guard_foresee(&d->guard, key_hash);
    return passes(l, false);
}

/* --- steps --------------------------------------------------------------------------------- */

static bool settled(const struct loop *l)
{
    return l->window.keys.count == 0;
}

bool deletes_wait(const struct loop *l)
{
    if (l->deletes.phase == DELETES_IDLE || l->intake.reading == INTAKE_PAGE ||
        l->intake.again_count > 0 || l->intake.asked_count > 0 || l->intake.sift_count > 0) {
        return false;
    }
    return (l->deletes.phase == DELETES_SETTLE && !settled(l)) ||
           patience_wait_ms(&l->service_patience, clock_monotonic_us(&l->clock)) > 0;
}

/* The number has to be exact only where it decides. A service that may not be asked leaves it
 * unknown. */
static int count_documents(struct loop *l, struct err *err)
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

static int judge_window(struct loop *l, struct err *err)
{
    struct guard *g = &l->deletes.guard;
    int rc = count_documents(l, err);
    if (rc == 0 && passes(l, false)) {
        g->judged = true;
        l->deletes.phase = DELETES_IDLE;
    }
    return rc;
}

static void begin_walk(struct deletes *d, enum deletes_phase phase)
{
    d->phase = phase;
    d->begun = false;
    d->page.last = false;
    d->listed = 0;
    buf_reset(&d->after);
}

static int begin_listing(struct loop *l, struct err *err)
{
    int rc = l->service.ops->refresh(l->service.self, l->sender.index, err);
    if (rc == 0) {
        begin_walk(&l->deletes, l->deletes.guarded ? DELETES_COUNT : DELETES_SEND);
    }
    return rc;
}

static int next_page(struct loop *l, struct err *err)
{
    struct deletes *d = &l->deletes;
    struct span after =
        d->begun ? span_make(buf_text(&d->after), d->after.len) : span_make(NULL, 0);
    int rc = l->service.ops->scan(l->service.self, l->sender.index, after, &d->page, err);
    if (rc < 0) {
        return rc;
    }
    d->keys = d->keys != NULL ? d->keys : mem_zero(SCAN_PAGE, sizeof(*d->keys));
    for (size_t i = 0; i < d->page.count; i++) {
        d->keys[i] = scan_page_key(&d->page, i);
    }
    if (d->page.count > 0) {
        struct span last = d->keys[d->page.count - 1];
        buf_reset(&d->after);
        buf_push(&d->after, last.data, last.len);
        intake_sift(&l->intake, d->keys, d->page.count);
    }
    d->begun = true;
    d->listed += (int64_t)d->page.count;
    return 0;
}

static void end_walk(struct loop *l)
{
    struct deletes *d = &l->deletes;
    if (d->phase == DELETES_COUNT) {
        d->guard.documents = d->listed;
        log_event(LOG_INFO, "reconcile_counted", F_TEXT("pipeline", l->options->name),
                  F_INT("documents", d->listed), F_INT("deletes", guard_count(&d->guard)));
    }
    if (d->phase == DELETES_COUNT && guard_count(&d->guard) > 0) {
        if (passes(l, true)) {
            begin_walk(d, DELETES_SEND);
        }
        return;
    }
    d->phase = DELETES_IDLE;
    guard_begin(&d->guard);
}

static int step(struct loop *l, struct err *err)
{
    struct deletes *d = &l->deletes;
    switch (d->phase) {
    case DELETES_JUDGE:
        return judge_window(l, err);
    case DELETES_SETTLE:
        return begin_listing(l, err);
    case DELETES_COUNT:
    case DELETES_SEND:
        if (d->begun && d->page.last) {
            end_walk(l);
            return 0;
        }
        return next_page(l, err);
    case DELETES_IDLE:
    default:
        return 0;
    }
}

int deletes_turn(struct loop *l, bool *ready, struct err *err)
{
    while (l->deletes.phase != DELETES_IDLE && l->intake.reading != INTAKE_PAGE &&
           l->intake.again_count == 0 && l->intake.asked_count == 0 && l->intake.sift_count == 0) {
        int rc = step(l, err);
        *ready = rc == 0 && !loop_stopping(l);
        if (rc == ERR_TRANSIENT) {
            return patience_away(&l->service_patience, &l->clock, err) ? 0 : rc;
        }
        if (rc < 0 || !*ready) {
            return rc;
        }
        patience_well(&l->service_patience, &l->clock);
    }
    *ready = true;
    return 0;
}
