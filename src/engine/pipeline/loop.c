/* SPDX-License-Identifier: Apache-2.0 */
/* The event loop; see the walk of a row in src/README.md. */
#include "pipeline/loop.h"

#include <stdlib.h>

#include "rowferry/base/log.h"

#define LOOP_BURST 100 /* maximum number of changes read between two checks for answers */
#define LOOP_COMMIT_US INT64_C(200000)      /* interval between two commits */
#define LOOP_COMMIT_EARLY_US INT64_C(50000) /* interval if a quarter of the window is settled */
#define LOOP_RELEASE_US INT64_C(1000000)
#define LOOP_GIVE_UP_US INT64_C(5000000)

static void loop_note_alive(const struct loop *l)
{
    int64_t *alive_us = l->options->hooks.alive_us;
    if (alive_us != NULL) {
        __atomic_store_n(alive_us, clock_monotonic_us(&l->view.clock), __ATOMIC_RELAXED);
    }
}

/* Updates what the view shows of the requests in flight. */
static void loop_show_requests(struct loop *l)
{
    l->view.requests.in_flight = sender_in_flight(&l->sender);
    l->view.requests.oldest_us = sender_oldest_us(&l->sender);
}

void loop_note_away(struct loop *l)
{
    loop_note_alive(l);
    loop_show_requests(l);
    progress_report_retry_budget(&l->watchers.report);
}

void loop_end(struct loop *l, const struct err *why)
{
    if (!l->view.ended) {
        l->fatal = *why;
        l->view.ended = true;
    }
}

/* --- reading --------------------------------------------------------------------------------- */

static bool loop_may_read(struct loop *l)
{
    if (loop_stopping(l) || source_reader_done(&l->source_reader)) {
        return false;
    }
    /* conflicting keys are read again even if the window is full, because that makes room */
    bool full = window_full(&l->window) && l->source_reader.again.count == 0;
    if (full || deletes_wait(&l->deletes)) {
        sender_flush(&l->sender);
        return false;
    }
    return sender_filling(&l->sender) != NULL;
}

/* Encodes the change into the batch. Returns its size, or 0 if it was refused. */
static size_t loop_encode(struct loop *l, struct batch *batch, uint64_t page,
                          struct refusal *refusal)
{
    const struct change *change = &l->reading.change;
    int64_t version = l->source_reader.version;
    batch->read_us = l->source_reader.read_us;
    bool added = change->key_cut ? encode_refuse_cut(change->key, refusal)
                 : change->kind == CHANGE_UPSERT
                     ? encode_upsert(batch, l->plan, &change->row, version, page, refusal)
                     : encode_delete(batch, change->key, version, page, refusal);
    return added ? batch->operations[batch->count - 1].len : 0;
}

/* Admits the change to the window and a batch. Returns false if it must wait for its key. */
static bool loop_admit(struct loop *l)
{
    const struct change *change = &l->reading.change;
    uint64_t hash = text_hash(change->key.data, change->key.len);
    struct again conflict = {0};
    bool held = !change->key_null && window_holds(&l->window, hash);
    bool replaces = held && source_reader_replaces(&l->source_reader, change->key, &conflict);
    if (!replaces && l->source_reader.again.reading > 0) {
        return true; /* the text of the row's key changed; the log has a separate entry for it */
    }
    if (held && !replaces) {
        return false;
    }
    struct err why;
    if (change->kind == CHANGE_DELETE &&
        deletes_pass(&l->deletes, change->key, hash, &why) == LOOP_END) {
        loop_end(l, &why);
        return false;
    }
    struct batch *batch = sender_filling(&l->sender);
    struct refusal refusal = {0};
    uint64_t page = replaces ? conflict.page : l->source_reader.page;
    size_t bytes = loop_encode(l, batch, page, &refusal);
    if (bytes == 0 && refusal.no_room) {
        err_set(&why, ERR_TRANSIENT, "no memory for a document");
        loop_end(l, &why);
        return false;
    }
    l->counters.rows_read++;
    if (bytes == 0) {
        apply_outcome_refusal(l, page, &refusal);
    }
    if (replaces && bytes == 0) {
        window_settle(&l->window, page, hash, conflict.bytes);
    } else if (replaces) {
        window_replace(&l->window, conflict.bytes, bytes);
    } else if (bytes > 0) {
        window_admit(&l->window, page, hash, bytes);
    }
    if (bytes > 0 && batch->count == 1) {
        l->reading.filled_us = clock_monotonic_us(&l->view.clock);
    }
    if (batch_full(batch)) {
        sender_flush(&l->sender);
    }
    return true;
}

int loop_release_source(struct loop *l, struct err *err)
{
    int64_t now = clock_monotonic_us(&l->view.clock);
    if (now - l->times.released_us < LOOP_RELEASE_US) {
        return 0;
    }
    l->times.released_us = now;
    return checkpoint_backup_write(&l->backup, false, err);
}

/* Flushes the batch if the source is drained, because no more changes may come for a while. */
static int loop_page_ended(struct loop *l, struct err *err)
{
    if (source_reader_done(&l->source_reader)) {
        sender_flush(&l->sender);
    }
    loop_observers_page(&l->observers, !source_reader_done(&l->source_reader));
    return loop_release_source(l, err);
}

/* Gives up an open page if the service accepts nothing for a while, and reads it again from its
 * last safepoint once there is room. An open page holds a transaction and a lock on the table, so
 * a statement that alters the table waits, and all others queue behind it. The time limit doubles
 * each time, in case a slow service never lets the pipeline reach a safepoint. */
static void loop_let_go(struct loop *l)
{
    int64_t now = clock_monotonic_us(&l->view.clock);
    if (!source_reader_in_page(&l->source_reader)) {
        l->reading.taken_us = now;
        return;
    }
    if (now - l->reading.taken_us < l->reading.let_go_us) {
        return;
    }
    log_event(LOG_INFO, "page_given_up", F_TEXT("pipeline", l->options->definition.name),
              F_INT("unread_ms", (now - l->reading.taken_us) / 1000));
    source_reader_let_go(&l->source_reader);
    l->view.held = false;
    l->reading.taken_us = now;
    l->reading.let_go_us *= 2;
}

/* Returns true if a change may be read now. A guard may end the work instead. */
static bool loop_ask_guards(struct loop *l)
{
    struct err why;
    enum loop_answer answer = deletes_turn(&l->deletes, &why);
    if (answer == LOOP_END) {
        loop_end(l, &why);
    }
    return answer == LOOP_GO_ON;
}

/* Reads the next change. Sets *handled if no operation follows from it. */
static int loop_read_next(struct loop *l, bool *handled, struct err *err)
{
    struct change *change = &l->reading.change;
    if (l->source_reader.page == 0) {
        follow_before_page(l);
    }
    int rc = source_reader_next(&l->source_reader, change, err);
    l->reading.taken_us = clock_monotonic_us(&l->view.clock);
    if (rc < 0) {
        return rc;
    }
    follow_has_read(l, change);
    *handled = loop_observers_change(&l->observers, change);
    if (change->kind == CHANGE_PAGE || change->kind == CHANGE_SAFEPOINT) {
        *handled = true;
        l->reading.let_go_us = LOOP_LET_GO_US;
    }
    return change->kind == CHANGE_PAGE ? loop_page_ended(l, err) : 0;
}

/* Reads a burst of changes. Sets *waiting if the source has no more for now. */
static int loop_read(struct loop *l, bool *waiting, struct err *err)
{
    for (unsigned n = 0; n < LOOP_BURST; n++) {
        if (!l->view.held) {
            bool handled;
            if (!loop_may_read(l) || !loop_ask_guards(l)) {
                return 0;
            }
            int rc = loop_read_next(l, &handled, err);
            *waiting = rc == 0 && l->reading.change.kind == CHANGE_WAIT;
            if (rc < 0 || *waiting) {
                return rc;
            }
            if (handled) {
                continue;
            }
        }
        l->view.held = sender_filling(&l->sender) == NULL || !loop_admit(l);
        if (l->view.held) {
            sender_flush(&l->sender);
            return 0;
        }
    }
    return 0;
}

/* --- settling -------------------------------------------------------------------------------- */

/* Updates the retry budget of the service. Requests overtake each other: a success counts only if
 * it was sent after the service went away, and a failure only if it was sent after the last
 * success. */
static void loop_judge_service(struct loop *l, struct sender_news *news)
{
    if (news->settled > 0) {
        if (news->settled_by_us >= l->service_retry.away_since_us) {
            if (l->service_retry.away_since_us != 0) {
                sender_hurry(&l->sender);
            }
            retry_budget_well(&l->service_retry, &l->view.clock);
            l->times.well_by_us = news->settled_by_us;
        }
    } else if (news->failure.class != ERR_NONE && news->failure_by_us >= l->times.well_by_us &&
               !retry_budget_away(&l->service_retry, &l->view.clock, &news->failure)) {
        loop_end(l, &news->failure);
    }
}

static int loop_collect(struct loop *l, struct err *err)
{
    struct sender_news news;
    l->view.requests.answered_wall_us = clock_wall_us(&l->view.clock);
    l->view.requests.answered_us = clock_monotonic_us(&l->view.clock);
    int rc = sender_collect(&l->sender, &l->view.clock, apply_outcome_operation, l, &news, err);
    if (rc == 0) {
        loop_judge_service(l, &news);
    }
    return rc;
}

/* --- checkpoint ------------------------------------------------------------------------------ */

/* Returns true if a commit is due. Frequent commits reduce what a crash sends again, rare ones
 * cost less. */
static bool loop_commit_due(const struct loop *l, int64_t now_us)
{
    bool much = l->window.uncommitted >= l->window.max_bytes / 4;
    return pending_commit_is_full(&l->pending_commit) ||
           now_us - l->times.committed_us >= (much ? LOOP_COMMIT_EARLY_US : LOOP_COMMIT_US);
}

static int loop_commit(struct loop *l, bool now, struct err *err)
{
    bool pending = loop_commit_pending(l);
    int64_t at = clock_monotonic_us(&l->view.clock);
    if (!pending || reject_guard_waits(&l->reject_guard) || !(now || loop_commit_due(l, at))) {
        return 0;
    }
    uint64_t unsettled = window_unsettled_before_reached(&l->window);
    char *reached = window_take_reached(&l->window);
    int rc = pending_commit_write(&l->pending_commit, l->view.state, reached, unsettled,
                                  clock_wall_us(&l->view.clock), err);
    if (rc < 0 || reached == NULL) {
        free(reached);
        return rc;
    }
    checkpoint_backup_take(&l->backup, reached);
    l->times.committed_us = at;
    l->counters.checkpoints++;
    return 0;
}

/* --- turns ----------------------------------------------------------------------------------- */

static bool loop_finished(struct loop *l)
{
    if (!loop_stopping(l)) {
        return (!l->view.following.on || follow_quiet(l)) &&
               source_reader_done(&l->source_reader) && window_empty(&l->window) &&
               l->requests.looked_us > 0 && l->requests.id == 0;
    }
    int64_t now = clock_monotonic_us(&l->view.clock);
    if (l->times.give_up_us == 0) {
        l->times.give_up_us = now + LOOP_GIVE_UP_US;
    }
    return sender_in_flight(&l->sender) == 0 || now >= l->times.give_up_us;
}

/* Lets the reject guard judge what was settled, then commits. */
static int loop_settle(struct loop *l, struct err *err)
{
    struct err why;
    bool closing = deletes_close(&l->deletes);
    follow_settled(l);
    if (reject_guard_turn(&l->reject_guard, closing, &why) == LOOP_END) {
        loop_end(l, &why);
    }
    return loop_commit(l, requests_finished(&l->requests) || closing, err);
}

static int loop_turn(struct loop *l, struct err *err)
{
    bool waiting = false;
    loop_note_alive(l);
    int rc = follow_turn(l, err);
    if (rc == 0) {
        rc = loop_read(l, &waiting, err);
        loop_let_go(l);
    }
    if (rc == 0 && waiting) {
        loop_wait_linger(l);
    }
    rc = rc == 0 ? reconcile_mind(&l->deletes, err) : rc;
    if (rc == 0 && !loop_stopping(l)) {
        rc = sender_pump(&l->sender, clock_monotonic_us(&l->view.clock), err);
    }
    if (rc == 0 && !loop_finished(l)) {
        rc = loop_wait_sleep(l, !l->view.held && loop_may_read(l), waiting, err);
    }
    if (rc == 0) {
        rc = loop_collect(l, err);
    }
    if (rc == 0) {
        rc = loop_settle(l, err);
    }
    if (rc == 0 && !loop_stopping(l) && !reject_guard_waits(&l->reject_guard)) {
        bool now = !l->view.following.on && source_reader_done(&l->source_reader) &&
                   window_empty(&l->window);
        rc = requests_turn(&l->requests, now, err);
    }
    return rc;
}

/* Tells the observers that a turn has ended. Each may end the work. */
static void loop_send_turn(struct loop *l)
{
    loop_show_requests(l);
    for (size_t i = 0; i < l->observers.count; i++) {
        const struct loop_observer *o = &l->observers.all[i];
        struct err why;
        if (o->on_turn != NULL && o->on_turn(o->self, &why) == LOOP_END) {
            loop_end(l, &why);
        }
    }
}

int loop_run(struct loop *l, bool *stopped, struct err *err)
{
    lag_monitor_begin(&l->watchers.lag_monitor);
    while (!loop_finished(l)) {
        struct err why;
        if (loop_turn(l, &why) < 0) {
            if (l->view.ended) {
                break; /* a failure during the stop: keep the first reason */
            }
            loop_end(l, &why);
        }
        loop_send_turn(l);
    }
    int rc = loop_commit(l, true, err);
    loop_show_requests(l);
    progress_report_end(&l->watchers.report);
    rc = rc == 0 ? reconcile_rest(&l->deletes, err) : rc;
    if (l->view.ended) { /* the first reason wins, even if the last commit failed */
        *err = l->fatal;
        rc = (int)l->fatal.class;
    }
    *stopped = rc == 0 && loop_stopping(l) &&
               !(source_reader_done(&l->source_reader) && window_empty(&l->window));
    return rc == 0 ? checkpoint_backup_write(&l->backup, true, err) : rc;
}
