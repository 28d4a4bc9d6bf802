/* SPDX-License-Identifier: Apache-2.0 */
/* The event loop; see the walk of a row in src/README.md. */
#include "pipeline/loop.h"

#include <stdlib.h>

#include "generation/checkpoint_backup.h"
#include "observe/progress_report.h"
#include "pipeline/apply_outcome.h"
#include "pipeline/loop_wait.h"
#include "rowferry/base/log.h"
#include "rowferry/base/stop.h"
#include "rowferry/state/guard_stop.h"

#define LOOP_BURST 100 /* maximum number of changes read between two checks for answers */
#define LOOP_COMMIT_US INT64_C(200000)      /* interval between two commits */
#define LOOP_COMMIT_EARLY_US INT64_C(50000) /* interval if a quarter of the window is settled */
#define LOOP_RELEASE_US INT64_C(1000000)
#define LOOP_GIVE_UP_US INT64_C(5000000)
#define LOOP_LET_GO_US INT64_C(5000000) /* time after which an unread open page is given up */

/* Returns the target size of a batch: a share of the window, so that all batches in flight and the
 * one being filled fit into it together. */
static size_t loop_batch_bytes(const struct pipeline_options *options)
{
    size_t share = options->limits.window_bytes / (options->limits.in_flight + 1);
    return share < options->limits.batch_bytes ? share : options->limits.batch_bytes;
}

/* Initializes the guards with the last guard stop and the permission granted for it, if any. */
static int loop_init_guards(struct loop *l, struct err *err)
{
    struct guard_stop halt;
    bool known;
    int rc = guard_stop_read(l->state, &halt, &known, err);
    deletes_init(&l->deletes, &l->options->guard,
                 rc == 0 && l->options->permission.deletes ? halt.deletes : 0);
    reject_stats_init(&l->verdict.rejects, l->options->permission.rejections ? halt.reason : "",
                      halt.reason);
    return rc < 0 ? rc : reconcile_load(l, err);
}

int loop_init(struct loop *l, const struct pipeline_options *options,
              const struct pipeline_ports *ports, struct err *err)
{
    *l = (struct loop){.options = options,
                       .service = ports->service,
                       .state = ports->state,
                       .clock = ports->clock,
                       .moment = {.work = {.lag_rows = -1}, .dead_letters = -1}};
    struct sender_options sending = {.in_flight = options->limits.in_flight,
                                     .batch_bytes = loop_batch_bytes(options),
                                     .document_bytes = options->limits.document_bytes,
                                     .batch_operations = options->limits.batch_operations,
                                     .routing = options->definition.routing,
                                     .creates = options->definition.stream};
    retry_budget_init(&l->source_retry, "source", options->definition.name,
                      options->limits.retry_budget_ms);
    retry_budget_init(&l->service_retry, "service", options->definition.name,
                      options->limits.retry_budget_ms);
    window_init(&l->window, options->limits.window_bytes);
    sender_init(&l->sender, &sending, ports->service, &l->counters);
    l->sender.ingest_pipeline = options->definition.ingest_pipeline;
    l->sender.open_letters = &l->pending_commit.open;
    l->source_reader.source = ports->source;
    l->source_reader.state = ports->state;
    l->source_reader.clock = ports->clock;
    l->source_reader.window = &l->window;
    l->source_reader.retry_budget = &l->source_retry;
    l->source_reader.only_asked = options->mode == PIPELINE_REQUESTS;
    pace_init(&l->follow.pace, options->follow.poll_min_ms, options->follow.poll_max_ms);
    l->watch =
        (struct growth_watch){.service = ports->service, .pipeline = options->definition.name};
    l->lag_monitor.waiting = -1;
    lag_monitor_begin(l);
    wakeup_init(&l->wakeup);
    buf_init(&l->letters, CHECKPOINT_BACKUP_LETTERS_BYTES);
    requests_init(&l->requests, ports->state, ports->clock);
    requests_permit_to(&l->requests, &l->deletes, &l->verdict.rejects);
    l->requests.permission = options->permission.request;
    l->requests.asked = options->follow.asked;
    l->requests.asked_context = options->follow.asked_context;
    int rc = loop_init_guards(l, err);
    l->started_us = clock_monotonic_us(&l->clock);
    l->logged_us = l->started_us;
    l->told_us = l->started_us;
    l->let_go_us = LOOP_LET_GO_US;
    return rc < 0 ? rc : pending_commit_init(&l->pending_commit, ports->state, err);
}

void loop_release(struct loop *l)
{
    source_reader_release(&l->source_reader);
    requests_release(&l->requests);
    deletes_release(&l->deletes);
    pending_commit_release(&l->pending_commit);
    sender_release(&l->sender);
    window_release(&l->window);
    wakeup_close(&l->wakeup);
    buf_release(&l->letters);
    free(l->committed);
}

/* hooks.stop is set by a signal handler or another thread. */
static bool loop_stop_requested(const struct loop *l)
{
    return stop_is_set(l->options->hooks.stop);
}

bool loop_stopping(const struct loop *l)
{
    return l->fatal.class != ERR_NONE || loop_stop_requested(l);
}

void loop_note_alive(struct loop *l)
{
    int64_t *alive_us = l->options->hooks.alive_us;
    if (alive_us != NULL) {
        __atomic_store_n(alive_us, clock_monotonic_us(&l->clock), __ATOMIC_RELAXED);
    }
}

void loop_end(struct loop *l, const struct err *why)
{
    if (l->fatal.class == ERR_NONE) {
        l->fatal = *why;
    }
}

/* --- reading --------------------------------------------------------------------------------- */

static bool loop_may_read(struct loop *l)
{
    if (loop_stopping(l) || source_reader_done(&l->source_reader)) {
        return false;
    }
    /* conflicting keys are read again even if the window is full, because that makes room */
    if (window_full(&l->window) && l->source_reader.again_count == 0) {
        sender_flush(&l->sender);
        return false;
    }
    if (deletes_wait(l)) {
        sender_flush(&l->sender);
        return false;
    }
    return sender_filling(&l->sender) != NULL;
}

/* Encodes the change into the batch. Returns its size, or 0 if it was refused. */
static size_t loop_encode(struct loop *l, struct batch *batch, uint64_t page,
                          struct refusal *refusal)
{
    const struct change *change = &l->change;
    int64_t version = l->source_reader.version;
    bool added = change->kind == CHANGE_UPSERT
                     ? encode_upsert(batch, l->plan, &change->row, version, page, refusal)
                     : encode_delete(batch, change->key, version, page, refusal);
    return added ? batch->operations[batch->count - 1].len : 0;
}

static void loop_no_memory(struct loop *l)
{
    struct err why;
    err_set(&why, ERR_TRANSIENT, "no memory for a document");
    loop_end(l, &why);
}

/* Admits the change to the window and a batch. Returns false if it must wait for its key. */
static bool loop_admit(struct loop *l)
{
    const struct change *change = &l->change;
    uint64_t hash = text_hash(change->key.data, change->key.len);
    struct again conflict = {0};
    bool held = !change->key_null && window_holds(&l->window, hash);
    bool replaces = held && source_reader_replaces(&l->source_reader, change->key, &conflict);
    if (!replaces && l->source_reader.rereading > 0) {
        return true; /* the text of the row's key changed; the log has a separate entry for it */
    }
    if (held && !replaces) {
        return false;
    }
    if (change->kind == CHANGE_DELETE && !deletes_pass(l, hash)) {
        return false;
    }
    struct batch *batch = sender_filling(&l->sender);
    struct refusal refusal = {0};
    size_t bytes =
        loop_encode(l, batch, replaces ? conflict.page : l->source_reader.page, &refusal);
    if (bytes == 0 && refusal.no_room) {
        loop_no_memory(l);
        return false;
    }
    l->counters.rows_read++;
    if (bytes == 0) {
        apply_outcome_refusal(l, replaces ? conflict.page : l->source_reader.page, &refusal);
    }
    if (replaces && bytes == 0) {
        window_settle(&l->window, conflict.page, hash, conflict.bytes);
    } else if (replaces) {
        window_replace(&l->window, conflict.bytes, bytes);
    } else if (bytes > 0) {
        window_admit(&l->window, l->source_reader.page, hash, bytes);
    }
    if (bytes > 0 && batch->count == 1) {
        l->filled_us = clock_monotonic_us(&l->clock);
    }
    if (batch_full(batch)) {
        sender_flush(&l->sender);
    }
    return true;
}

int loop_release_source(struct loop *l, struct err *err)
{
    int64_t now = clock_monotonic_us(&l->clock);
    if (now - l->released_us < LOOP_RELEASE_US) {
        return 0;
    }
    l->released_us = now;
    if (l->options->mode != PIPELINE_BUILD) {
        consumer_retention_apply(&l->former, &l->source_reader, l->state, &l->clock);
    }
    return checkpoint_backup_write(l, false, err);
}

/* Flushes the batch if the source is drained, because no more changes may come for a while. */
static int loop_page_ended(struct loop *l, struct err *err)
{
    if (source_reader_done(&l->source_reader)) {
        sender_flush(&l->sender);
    }
    lag_monitor_ask(l, !source_reader_done(&l->source_reader));
    return loop_release_source(l, err);
}

/* Gives up an open page if the service accepts nothing for a while, and reads it again from its
 * last safepoint once there is room. An open page holds a transaction and a lock on the table, so
 * a statement that alters the table waits, and all others queue behind it. The time limit doubles
 * each time, in case a slow service never lets the pipeline reach a safepoint. */
static void loop_let_go(struct loop *l)
{
    int64_t now = clock_monotonic_us(&l->clock);
    if (!source_reader_holds(&l->source_reader)) {
        l->taken_us = now;
        return;
    }
    if (now - l->taken_us < l->let_go_us) {
        return;
    }
    log_event(LOG_INFO, "page_given_up", F_TEXT("pipeline", l->options->definition.name),
              F_INT("unread_ms", (now - l->taken_us) / 1000));
    source_reader_let_go(&l->source_reader);
    l->held = false;
    l->taken_us = now;
    l->let_go_us *= 2;
}

/* Reads a burst of changes. Sets *waiting if the source has no more for now. */
static int loop_read(struct loop *l, bool *waiting, struct err *err)
{
    for (unsigned n = 0; n < LOOP_BURST; n++) {
        if (!l->held) {
            if (!loop_may_read(l)) {
                return 0;
            }
            bool ready;
            int rc = deletes_turn(l, &ready, err);
            if (rc < 0 || !ready) {
                return rc;
            }
            lag_monitor_reads(l);
            rc = source_reader_next(&l->source_reader, &l->change, err);
            l->taken_us = clock_monotonic_us(&l->clock);
            if (rc == 0) {
                lag_monitor_has_read(l, &l->change);
                reject_guard_take(l, &l->change);
            }
            if (rc == 0 && deletes_take(l)) {
                continue;
            }
            if (rc == 0 && l->change.kind == CHANGE_PAGE) {
                rc = loop_page_ended(l, err);
            }
            if (rc < 0) {
                return rc;
            }
            if (l->change.kind == CHANGE_WAIT) {
                *waiting = true;
                return 0;
            }
            if (l->change.kind == CHANGE_PAGE || l->change.kind == CHANGE_SAFEPOINT) {
                l->let_go_us = LOOP_LET_GO_US;
                continue;
            }
        }
        l->held = sender_filling(&l->sender) == NULL || !loop_admit(l);
        if (l->held) {
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
            retry_budget_well(&l->service_retry, &l->clock);
            l->well_by_us = news->settled_by_us;
        }
    } else if (news->failure.class != ERR_NONE && news->failure_by_us >= l->well_by_us &&
               !retry_budget_away(&l->service_retry, &l->clock, &news->failure)) {
        loop_end(l, &news->failure);
    }
}

static int loop_collect(struct loop *l, struct err *err)
{
    struct sender_news news;
    l->answered_us = clock_wall_us(&l->clock);
    l->collected_us = clock_monotonic_us(&l->clock);
    int rc = sender_collect(&l->sender, &l->clock, apply_outcome_operation, l, &news, err);
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
           now_us - l->committed_us >= (much ? LOOP_COMMIT_EARLY_US : LOOP_COMMIT_US);
}

bool loop_commit_pending(const struct loop *l)
{
    return l->window.reached != NULL || l->pending_commit.letter_count > 0 ||
           l->pending_commit.cleared_count > 0;
}

static int loop_commit(struct loop *l, bool now, struct err *err)
{
    bool pending = loop_commit_pending(l);
    int64_t at = clock_monotonic_us(&l->clock);
    if (!pending || reject_guard_waits(l) || !(now || loop_commit_due(l, at))) {
        return 0;
    }
    uint64_t unsettled = window_unsettled_before_reached(&l->window);
    char *reached = window_take_reached(&l->window);
    int rc = pending_commit_write(&l->pending_commit, l->state, reached, unsettled,
                                  clock_wall_us(&l->clock), err);
    if (rc < 0 || reached == NULL) {
        free(reached);
        return rc;
    }
    free(l->committed);
    l->committed = reached;
    l->committed_us = at;
    l->counters.checkpoints++;
    return 0;
}

/* --- turns ----------------------------------------------------------------------------------- */

static bool loop_finished(struct loop *l)
{
    if (!loop_stopping(l)) {
        return !l->follow.on && source_reader_done(&l->source_reader) && window_empty(&l->window) &&
               l->requests.looked_us > 0 && requests_idle(&l->requests);
    }
    int64_t now = clock_monotonic_us(&l->clock);
    if (l->give_up_us == 0) {
        l->give_up_us = now + LOOP_GIVE_UP_US;
    }
    return sender_flying(&l->sender) == 0 || now >= l->give_up_us;
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
    rc = rc == 0 ? reconcile_mind(l, err) : rc;
    if (rc == 0 && !loop_stopping(l)) {
        rc = sender_pump(&l->sender, clock_monotonic_us(&l->clock), err);
    }
    if (rc == 0 && !loop_finished(l)) {
        rc = loop_wait_sleep(l, !l->held && loop_may_read(l), waiting, err);
    }
    if (rc == 0) {
        rc = loop_collect(l, err);
    }
    if (rc == 0) {
        follow_settled(l);
        rc = reject_guard_turn(l, err);
    }
    if (rc == 0) {
        bool now = requests_finished(&l->requests, &l->source_reader) || deletes_close(l);
        rc = loop_commit(l, now, err);
    }
    if (rc == 0 && !loop_stopping(l) && !reject_guard_waits(l)) {
        bool now =
            !l->follow.on && source_reader_done(&l->source_reader) && window_empty(&l->window);
        rc = requests_turn(&l->requests, &l->source_reader, &l->pending_commit, now, err);
    }
    if (rc == 0 && !loop_stopping(l)) {
        lag_monitor_turn(l);
        rc = progress_report_write(l, err);
    }
    return rc;
}

/* Ends the work if the alias no longer points at the index being written. */
static void loop_look_at_alias(struct loop *l)
{
    if (!loop_stopping(l) && alias_watch_turn(&l->aim, clock_monotonic_us(&l->clock))) {
        struct err why;
        err_set(&why, ERR_TRANSIENT, "alias \"%s\" was moved for a moment",
                l->options->definition.alias);
        err_hint(&why, "sync again");
        loop_end(l, &why);
    }
}

int loop_run(struct loop *l, bool *stopped, struct err *err)
{
    lag_monitor_begin(l);
    while (!loop_finished(l)) {
        struct err why;
        if (loop_turn(l, &why) < 0) {
            if (l->fatal.class != ERR_NONE) {
                break; /* a failure during the stop: keep the first reason */
            }
            loop_end(l, &why);
        }
        progress_report_publish(l);
        progress_report_show(l);
        progress_report_watch(l);
        loop_look_at_alias(l);
    }
    int rc = loop_commit(l, true, err);
    progress_report_end(l);
    progress_report_publish(l);
    rc = rc == 0 ? reconcile_rest(l, err) : rc;
    if (l->fatal.class != ERR_NONE) { /* the first reason wins, even if the last commit failed */
        *err = l->fatal;
        rc = (int)l->fatal.class;
    }
    *stopped = rc == 0 && loop_stopping(l) &&
               !(source_reader_done(&l->source_reader) && window_empty(&l->window));
    return rc == 0 ? checkpoint_backup_write(l, true, err) : rc;
}
