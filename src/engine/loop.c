/* SPDX-License-Identifier: Apache-2.0 */
/* The story of every row; see the walk in src/README.md. */
#include "loop.h"

#include <stdio.h>
#include <stdlib.h>

#include "progress.h"
#include "rowferry/base/log.h"
#include "rowferry/state/deadletter.h"
#include "rowferry/state/halt.h"
#include "rowferry/state/working.h"
#include "settle.h"

#define LOOP_BURST 2000                     /* changes between two looks at the answers */
#define LOOP_COMMIT_US INT64_C(200000)      /* between two commits, */
#define LOOP_COMMIT_EARLY_US INT64_C(50000) /* or with a quarter of the window settled */
#define LOOP_RELEASE_US INT64_C(1000000)
#define LOOP_LETTERS_BYTES ((size_t)64 << 20)
#define LOOP_GIVE_UP_US INT64_C(5000000)
#define LOOP_TELL_US INT64_C(1000000)
#define LOOP_SHOW_US INT64_C(200000)
#define LOOP_LOG_US INT64_C(10000000)
#define LOOP_WAIT_MAX_MS 250

/* A batch aims at a share of the window, so that all that may fly and the one that is being filled
 * fit into it together. */
static size_t loop_batch_bytes(const struct pipeline_options *options)
{
    size_t share = options->window_bytes / (options->in_flight + 1);
    return share < options->batch_bytes ? share : options->batch_bytes;
}

/* What was counted when the guard stopped the pipeline, and how much of it is permitted now. */
static int loop_init_deletes(struct loop *l, struct err *err)
{
    struct halt halt;
    bool known;
    const struct guard_limits limits = {l->options->guard_share, l->options->guard_count};
    int rc = halt_look(l->state, &halt, &known, err);
    deletes_init(&l->deletes, &limits, rc == 0 && l->options->allow_deletes ? halt.deletes : 0);
    return rc;
}

int loop_init(struct loop *l, const struct pipeline_options *options,
              const struct pipeline_ports *ports, struct err *err)
{
    *l = (struct loop){.options = options,
                       .service = ports->service,
                       .state = ports->state,
                       .clock = ports->clock};
    struct sender_options sending = {.in_flight = options->in_flight,
                                     .batch_bytes = loop_batch_bytes(options),
                                     .document_bytes = options->document_bytes,
                                     .batch_operations = options->batch_operations};
    patience_init(&l->source_patience, "source", options->name, options->retry_budget_ms);
    patience_init(&l->service_patience, "service", options->name, options->retry_budget_ms);
    window_init(&l->window, options->window_bytes);
    sender_init(&l->sender, &sending, ports->service, &l->counters);
    l->sender.ingest_pipeline = options->ingest_pipeline;
    l->intake.source = ports->source;
    l->intake.state = ports->state;
    l->intake.clock = ports->clock;
    l->intake.window = &l->window;
    l->intake.patience = &l->source_patience;
    l->intake.only_asked = options->requests_only;
    l->watch = (struct watch){.service = ports->service, .pipeline = options->name};
    buf_init(&l->letters, LOOP_LETTERS_BYTES);
    requests_init(&l->requests, ports->state, ports->clock);
    int rc = loop_init_deletes(l, err);
    l->started_us = clock_monotonic_us(&l->clock);
    l->logged_us = l->started_us;
    l->told_us = l->started_us;
    return rc < 0 ? rc : settling_init(&l->settling, ports->state, err);
}

void loop_release(struct loop *l)
{
    intake_release(&l->intake);
    requests_release(&l->requests);
    deletes_release(&l->deletes);
    settling_release(&l->settling);
    sender_release(&l->sender);
    window_release(&l->window);
    buf_release(&l->letters);
    free(l->committed);
}

bool loop_stopping(const struct loop *l)
{
    return l->fatal.class != ERR_NONE || (l->options->stop != NULL && *l->options->stop != 0);
}

void loop_end(struct loop *l, const struct err *why)
{
    if (l->fatal.class == ERR_NONE) {
        l->fatal = *why;
    }
}

/* --- reading ------------------------------------------------------------------------------- */

static bool loop_may_read(struct loop *l)
{
    if (loop_stopping(l) || intake_done(&l->intake)) {
        return false;
    }
    /* what was outrun is read again also where the window is full: it is what makes room */
    if (window_full(&l->window) && l->intake.again_count == 0) {
        sender_flush(&l->sender);
        return false;
    }
    if (deletes_wait(l)) {
        sender_flush(&l->sender);
        return false;
    }
    return sender_filling(&l->sender) != NULL;
}

/* Writes the change into the batch; 0 where it was refused instead. */
static size_t loop_encode(struct loop *l, struct batch *batch, uint64_t page,
                          struct refusal *refusal)
{
    const struct change *change = &l->change;
    int64_t version = l->intake.version;
    bool added = change->kind == CHANGE_ROW
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

/* Admits the change to the window and a batch; false where it has to wait for its key. */
static bool loop_admit(struct loop *l)
{
    const struct change *change = &l->change;
    uint64_t hash = text_hash(change->key.data, change->key.len);
    struct again outrun = {0};
    bool held = !change->key_null && window_holds(&l->window, hash);
    bool replaces = held && intake_replaces(&l->intake, change->key, &outrun);
    if (!replaces && l->intake.rereading > 0) {
        return true; /* a row whose key's text changed: the log has an entry of its own for it */
    }
    if (held && !replaces) {
        return false;
    }
    if (change->kind == CHANGE_GONE && !deletes_pass(l, hash)) {
        return false;
    }
    struct batch *batch = sender_filling(&l->sender);
    struct refusal refusal = {0};
    size_t bytes = loop_encode(l, batch, replaces ? outrun.page : l->intake.page, &refusal);
    if (bytes == 0 && refusal.no_room) {
        loop_no_memory(l);
        return false;
    }
    l->counters.rows_read++;
    if (bytes == 0) {
        settle_refusal(l, replaces ? outrun.page : l->intake.page, &refusal);
    }
    if (replaces && bytes == 0) {
        window_settle(&l->window, outrun.page, hash, outrun.bytes);
    } else if (replaces) {
        window_replace(&l->window, outrun.bytes, bytes);
    } else if (bytes > 0) {
        window_admit(&l->window, l->intake.page, hash, bytes);
    }
    if (batch_full(batch)) {
        sender_flush(&l->sender);
    }
    return true;
}

/* Tells the source where the state file stands. */
static int loop_mirror(struct loop *l, bool now, struct err *err)
{
    uint64_t revision = deadletter_revision(l->state);
    if (l->committed == NULL) {
        return 0;
    }
    if (l->letters_revision != revision) {
        buf_reset(&l->letters);
        int rc = deadletter_export(l->state, &l->letters, err);
        if (rc < 0) {
            return rc;
        }
        l->letters_revision = revision;
    }
    intake_release_source(&l->intake, l->committed, buf_text(&l->letters), now);
    return 0;
}

static int loop_page_ended(struct loop *l, struct err *err)
{
    int64_t now = clock_monotonic_us(&l->clock);
    if (intake_done(&l->intake)) {
        sender_flush(&l->sender);
    }
    if (now - l->released_us < LOOP_RELEASE_US) {
        return 0;
    }
    l->released_us = now;
    return loop_mirror(l, false, err);
}

/* Reads a burst; *waiting where the source has nothing right now. */
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
            rc = intake_next(&l->intake, &l->change, err);
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
            if (l->change.kind == CHANGE_PAGE || l->change.kind == CHANGE_MARK) {
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

/* --- settling ------------------------------------------------------------------------------ */

/* Requests overtake each other: what was sent before the service went away says nothing of whether
 * it is back, and what was sent before it was well nothing of whether it is away again. */
static void loop_judge_service(struct loop *l, struct sender_news *news)
{
    if (news->settled > 0) {
        if (news->settled_by_us >= l->service_patience.away_since_us) {
            if (l->service_patience.away_since_us != 0) {
                sender_hurry(&l->sender);
            }
            patience_well(&l->service_patience, &l->clock);
            l->well_by_us = news->settled_by_us;
        }
    } else if (news->failure.class != ERR_NONE && news->failure_by_us >= l->well_by_us &&
               !patience_away(&l->service_patience, &l->clock, &news->failure)) {
        loop_end(l, &news->failure);
    }
}

static int loop_collect(struct loop *l, struct err *err)
{
    struct sender_news news;
    int rc = sender_collect(&l->sender, &l->clock, settle_operation, l, &news, err);
    if (rc == 0) {
        loop_judge_service(l, &news);
    }
    return rc;
}

/* --- checkpoint ---------------------------------------------------------------------------- */

/* A crash sends again what is not committed: that is to be little, and commits are to be few. */
static bool loop_commit_due(const struct loop *l, int64_t now_us)
{
    bool much = l->window.uncommitted >= l->window.max_bytes / 4;
    return settling_crowded(&l->settling) ||
           now_us - l->committed_us >= (much ? LOOP_COMMIT_EARLY_US : LOOP_COMMIT_US);
}

static int loop_commit(struct loop *l, bool now, struct err *err)
{
    bool pending =
        l->window.reached != NULL || l->settling.letter_count > 0 || l->settling.cleared_count > 0;
    int64_t at = clock_monotonic_us(&l->clock);
    if (!pending || !(now || loop_commit_due(l, at))) {
        return 0;
    }
    uint64_t unsettled = window_unsettled_before_reached(&l->window);
    char *reached = window_take_reached(&l->window);
    int rc =
        settling_commit(&l->settling, l->state, reached, unsettled, clock_wall_us(&l->clock), err);
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

/* --- waiting ------------------------------------------------------------------------------- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int loop_wait(struct loop *l, bool reading, bool waiting, struct err *err)
{
    int64_t now = clock_monotonic_us(&l->clock);
    int64_t timeout_ms = LOOP_WAIT_MAX_MS;
    int64_t due_us = sender_next_due_us(&l->sender, now);
    if (due_us != INT64_MAX && !loop_stopping(l)) {
        timeout_ms = least(timeout_ms, due_us <= now ? 1 : (due_us - now + 999) / 1000);
    }
    int fd = -1;
    if (waiting) {
        fd = intake_fd(&l->intake);
        if (fd < 0) {
            timeout_ms = least(timeout_ms, patience_wait_ms(&l->source_patience, now));
        }
    } else if (reading) {
        timeout_ms = 0;
    }
    bool readable;
    return l->service.ops->wait(l->service.self, fd, timeout_ms, &readable, err);
}

static bool loop_finished(struct loop *l)
{
    if (!loop_stopping(l)) {
        return intake_done(&l->intake) && window_empty(&l->window) && l->requests.looked_us > 0 &&
               requests_idle(&l->requests);
    }
    int64_t now = clock_monotonic_us(&l->clock);
    if (l->give_up_us == 0) {
        l->give_up_us = now + LOOP_GIVE_UP_US;
    }
    return sender_flying(&l->sender) == 0 || now >= l->give_up_us;
}

/* --- telling ------------------------------------------------------------------------------- */

static void loop_progress(struct loop *l, struct progress *out)
{
    struct capture_progress copy = {.rows_estimated = -1, .share = 1};
    if (l->intake.capture != NULL) {
        l->intake.capture->ops->progress(l->intake.capture, &copy);
    }
    *out = (struct progress){.pipeline = l->options->name,
                             .in_flight = flow_in_flight(&l->sender.flow, INT64_MAX),
                             .batch_bytes = (int64_t)flow_batch_bytes(&l->sender.flow),
                             .stage = copy.share < 1 ? "copying" : "replaying"};
    if (intake_done(&l->intake)) {
        out->stage = "settling";
    }
    progress_fill(out, &l->counters, &copy, (clock_monotonic_us(&l->clock) - l->started_us) / 1000);
}

/* For `status`, which shows it while this process holds the pipeline. */
static int loop_tell(struct loop *l, struct err *err)
{
    int64_t now = clock_monotonic_us(&l->clock);
    if (now - l->told_us < LOOP_TELL_US) {
        return 0;
    }
    l->told_us = now;
    struct progress p;
    loop_progress(l, &p);
    struct working working = {.told_us = clock_wall_us(&l->clock),
                              .rows = p.counters.rows_read,
                              .rows_per_second = (int64_t)p.rows_per_second,
                              .share = p.share,
                              .remaining_ms = p.remaining_ms,
                              .in_flight = p.in_flight,
                              .batch_bytes = p.batch_bytes};
    snprintf(working.stage, sizeof(working.stage), "%s", p.stage);
    snprintf(working.frozen, sizeof(working.frozen), "%s", watch_why(&l->watch));
    return working_tell(l->state, &working, err);
}

static int loop_turn(struct loop *l, struct err *err)
{
    bool waiting = false;
    int rc = loop_read(l, &waiting, err);
    if (rc == 0 && waiting && intake_fd(&l->intake) < 0) {
        sender_flush(&l->sender); /* the source is away: what was read need not wait for it */
    }
    if (rc == 0 && !loop_stopping(l)) {
        rc = sender_pump(&l->sender, clock_monotonic_us(&l->clock), err);
    }
    if (rc == 0 && !loop_finished(l)) {
        rc = loop_wait(l, !l->held && loop_may_read(l), waiting, err);
    }
    if (rc == 0) {
        rc = loop_collect(l, err);
    }
    if (rc == 0) {
        rc = loop_commit(l, requests_finished(&l->requests, &l->intake), err);
    }
    if (rc == 0 && !loop_stopping(l)) {
        bool now = intake_done(&l->intake) && window_empty(&l->window);
        rc = requests_turn(&l->requests, &l->intake, &l->settling, now, err);
    }
    if (rc == 0 && !loop_stopping(l)) {
        rc = loop_tell(l, err);
    }
    return rc;
}

/* Only a copy tells how an index grows: a change replaces a document. */
static void loop_watch(struct loop *l)
{
    struct capture_progress copy;
    if (l->intake.capture == NULL || loop_stopping(l)) {
        return;
    }
    l->intake.capture->ops->progress(l->intake.capture, &copy);
    if (copy.share < 1) {
        int64_t left = copy.rows_estimated > 0 ? copy.rows_estimated - copy.rows_read : -1;
        watch_turn(&l->watch, l->sender.index, &l->sender.flow, l->counters.upserts, left,
                   clock_monotonic_us(&l->clock));
    }
}

static void loop_log(const struct progress *p)
{
    log_event(LOG_INFO, "progress", F_TEXT("pipeline", p->pipeline), F_TEXT("stage", p->stage),
              F_INT("read", p->counters.rows_read), F_INT("upserts", p->counters.upserts),
              F_INT("deletes", p->counters.deletes), F_INT("rejected", p->counters.rejected),
              F_INT("per_second", (int64_t)p->rows_per_second),
              F_INT("remaining_s", p->remaining_ms < 0 ? -1 : p->remaining_ms / 1000),
              F_INT("in_flight", p->in_flight), F_INT("batch_bytes", p->batch_bytes));
}

void loop_show(struct loop *l)
{
    int64_t now = clock_monotonic_us(&l->clock);
    bool show = l->options->progress != NULL && now - l->shown_us >= LOOP_SHOW_US;
    bool log = now - l->logged_us >= LOOP_LOG_US;
    if (!show && !log) {
        return;
    }
    struct progress progress;
    loop_progress(l, &progress);
    if (show) {
        l->shown_us = now;
        l->options->progress(l->options->progress_context, &progress);
    }
    if (log) {
        l->logged_us = now;
        loop_log(&progress);
    }
}

int loop_run(struct loop *l, bool *stopped, struct err *err)
{
    while (!loop_finished(l)) {
        struct err why;
        if (loop_turn(l, &why) < 0) {
            if (l->fatal.class != ERR_NONE) {
                break; /* also while stopping something fails: leave with the first reason */
            }
            loop_end(l, &why);
        }
        loop_show(l);
        loop_watch(l);
    }
    int rc = loop_commit(l, true, err);
    if (l->fatal.class != ERR_NONE) { /* the first reason, also where the last commit failed */
        *err = l->fatal;
        rc = (int)l->fatal.class;
    }
    *stopped =
        rc == 0 && loop_stopping(l) && !(intake_done(&l->intake) && window_empty(&l->window));
    return rc == 0 ? loop_mirror(l, true, err) : rc;
}
