/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules reconciles and walks the keys of an index. */
#include "guard/reconcile.h"

#include <string.h>

#include "generation/checkpoint_backup.h"
#include "pipeline/loop.h"
#include "rowferry/base/log.h"

#define FOUND_MAX_BYTES ((size_t)1 << 20) /* maximum size of the kept keys without a row */

/* --- schedule -------------------------------------------------------------------------------- */

static bool reconcile_is_owed(const struct loop *l)
{
    int64_t owed_us = l->deletes.owed_us;
    return owed_us != 0 && owed_us <= clock_monotonic_us(&l->clock);
}

/* Returns true if a reconcile is due. If the clock was set back, the scheduled one is due at
 * once. */
static bool reconcile_is_due(const struct loop *l)
{
    const struct deletes *d = &l->deletes;
    if (l->options->definition.stream) { /* a data stream takes no deletes, and late requests
                                 overwrite nothing there */
        return false;
    }
    int64_t since = clock_wall_us(&l->clock) - d->kept.finished_us;
    return reconcile_is_owed(l) || (d->interval_us > 0 && (since < 0 || since >= d->interval_us));
}

/* Converts a wall-clock time to monotonic time, which counts within a process because the wall
 * clock may be set. Between processes there is only the wall clock. If it was set back, the result
 * is at most DELETES_LATE_US from now. */
static int64_t reconcile_from_wall(const struct loop *l, int64_t wall_us)
{
    int64_t left = wall_us - clock_wall_us(&l->clock);
    left = left < 0 ? 0 : left > DELETES_LATE_US ? DELETES_LATE_US : left;
    return wall_us == 0 ? 0 : clock_monotonic_us(&l->clock) + left;
}

static int64_t reconcile_to_wall(const struct loop *l, int64_t monotonic_us)
{
    int64_t left = monotonic_us - clock_monotonic_us(&l->clock);
    return monotonic_us == 0 ? 0 : clock_wall_us(&l->clock) + left;
}

/* Loads the record of the last reconcile. A lost state file has none, so assume that requests were
 * in flight and that a reconcile is owed. */
int reconcile_load(struct loop *l, struct err *err)
{
    struct deletes *d = &l->deletes;
    bool known;
    int rc = reconcile_read(l->state, &d->kept, &known, err);
    int64_t latest_us = clock_monotonic_us(&l->clock) + DELETES_LATE_US;
    d->owed_us = known ? reconcile_from_wall(l, d->kept.owed_us) : latest_us;
    d->late_us = known && !d->kept.flying ? reconcile_from_wall(l, d->kept.late_us) : latest_us;
    d->interval_us = l->options->reconcile_ms * 1000;
    return rc;
}

static int reconcile_write_state(struct loop *l, struct err *err)
{
    struct deletes *d = &l->deletes;
    d->kept.owed_us = reconcile_to_wall(l, d->owed_us);
    d->kept.late_us = reconcile_to_wall(l, d->late_us);
    return reconcile_write(l->state, &d->kept, err);
}

int reconcile_note_empty(struct loop *l, struct err *err)
{
    struct deletes *d = &l->deletes;
    d->kept = (struct reconcile){.finished_us = clock_wall_us(&l->clock)};
    d->owed_us = d->late_us = 0;
    return reconcile_write_state(l, err);
}

int reconcile_note_former(struct loop *l, struct err *err)
{
    l->deletes.owed_us = clock_monotonic_us(&l->clock);
    return reconcile_write_state(l, err);
}

int reconcile_mind(struct loop *l, struct err *err)
{
    struct deletes *d = &l->deletes;
    struct source_reader *r = &l->source_reader;
    if (d->phase == DELETES_IDLE && r->reading == SOURCE_READER_DRAINED && !r->only_asked &&
        !l->held && !loop_stopping(l) && reconcile_is_due(l)) {
        source_reader_more(r);
        reconcile_begin(l, reconcile_is_owed(l) ? DELETES_OWED : DELETES_DUE);
    }
    if (l->window.keys.count == 0 || d->kept.flying) {
        return 0;
    }
    d->kept.flying = true;
    return reconcile_write_state(l, err);
}

/* Records future times again, converted by the current wall clock. */
int reconcile_rest(struct loop *l, struct err *err)
{
    struct deletes *d = &l->deletes;
    bool rests = d->kept.flying && l->window.keys.count == 0;
    d->kept.flying = d->kept.flying && !rests;
    return rests || d->owed_us != 0 || d->late_us > clock_monotonic_us(&l->clock)
               ? reconcile_write_state(l, err)
               : 0;
}

/* --- walks ----------------------------------------------------------------------------------- */

static const char *reconcile_words_of(enum deletes_why why)
{
    static const char *const words[] = {
        [DELETES_TRUNCATED] = "the table was truncated",
        [DELETES_LEFT] = "a table left it",
        [DELETES_AGAIN] = "everything was copied again",
        [DELETES_OWED] = "requests of a process that was killed may have come after the last one",
        [DELETES_DUE] = "it is time",
    };
    return words[why];
}

void reconcile_begin(struct loop *l, enum deletes_why why)
{
    struct deletes *d = &l->deletes;
    guard_begin(&d->guard);
    d->phase = DELETES_SETTLE;
    d->why = why;
    if (why == DELETES_AGAIN && d->late_us < l->started_us + DELETES_LATE_US) {
        d->late_us = l->started_us + DELETES_LATE_US; /* of holders elsewhere */
    }
    log_event(why >= DELETES_OWED ? LOG_INFO : LOG_WARN, "reconcile_started",
              F_TEXT("pipeline", l->options->definition.name), F_TEXT("index", l->sender.index),
              F_TEXT("why", reconcile_words_of(why)));
}

void reconcile_report_spared(const struct loop *l, int64_t documents)
{
    log_event(LOG_WARN, "documents_stay", F_TEXT("pipeline", l->options->definition.name),
              F_TEXT("index", l->sender.index), F_TEXT("why", reconcile_words_of(l->deletes.why)),
              F_INT("documents", documents));
}

void reconcile_spare(struct loop *l)
{
    struct deletes *d = &l->deletes;
    guard_begin(&d->guard);
    d->why = DELETES_LEFT;
    d->listed = d->absent = 0;
    d->phase = DELETES_CLOSE;
    reconcile_report_spared(l, -1);
}

void reconcile_walk(struct deletes *d, enum deletes_phase phase)
{
    bool again = phase == DELETES_SEND && d->guarded && !d->overflowed;
    d->phase = phase;
    d->begun = again;
    d->listed_ahead = again;
    d->page.last = false;
    buf_reset(&d->after);
    if (again) { /* check only the missing keys again */
        struct scan_page found = d->found;
        d->found = d->next;
        d->next = found;
        d->next.last = true;
        return;
    }
    if (phase == DELETES_COUNT || !d->guarded) {
        d->listed = d->absent = 0;
        d->overflowed = false;
        scan_page_reset(&d->found);
        buf_reset(&d->last_absent);
    }
}

int reconcile_list(struct loop *l, struct err *err)
{
    struct deletes *d = &l->deletes;
    int64_t now = clock_monotonic_us(&l->clock);
    int rc = l->service.ops->refresh(l->service.self, l->sender.index, err);
    if (rc == 0) {
        d->listing_us = now;
        reconcile_walk(d, d->guarded ? DELETES_COUNT : DELETES_SEND);
    }
    return rc;
}

static int reconcile_list_page(struct loop *l, struct scan_page *page, struct err *err)
{
    const struct deletes *d = &l->deletes;
    struct span after =
        d->begun ? span_make(buf_text(&d->after), d->after.len) : span_make(NULL, 0);
    return l->service.ops->scan(l->service.self, l->sender.index, after, page, err);
}

/* Lists the next page in advance. A failure is ignored, because it recurs when the page is
 * needed. */
void reconcile_list_ahead(struct loop *l)
{
    struct err ignored;
    struct deletes *d = &l->deletes;
    bool walks = d->phase == DELETES_COUNT || d->phase == DELETES_SEND;
    if (walks && l->source_reader.finding_missing && !d->listed_ahead && !d->page.last &&
        !loop_stopping(l)) {
        d->listed_ahead = reconcile_list_page(l, &d->next, &ignored) == 0;
    }
}

static int reconcile_turn_page(struct loop *l, struct err *err)
{
    struct deletes *d = &l->deletes;
    if (!d->listed_ahead) {
        return reconcile_list_page(l, &d->page, err);
    }
    struct scan_page listed = d->next;
    d->next = d->page;
    d->page = listed;
    d->listed_ahead = false;
    return 0;
}

int reconcile_next(struct loop *l, bool *more, struct err *err)
{
    struct deletes *d = &l->deletes;
    *more = !(d->begun && d->page.last);
    int rc = *more ? reconcile_turn_page(l, err) : 0;
    if (rc < 0 || !*more) {
        return rc;
    }
    d->keys = d->keys != NULL ? d->keys : mem_zero(SCAN_PAGE, sizeof(*d->keys));
    for (size_t i = 0; i < d->page.count; i++) {
        d->keys[i] = scan_page_key(&d->page, i);
    }
    d->begun = true;
    d->listed += d->phase == DELETES_SEND && d->guarded ? 0 : (int64_t)d->page.count;
    if (d->page.count == 0) {
        return 0;
    }
    struct span last = d->keys[d->page.count - 1];
    buf_reset(&d->after);
    buf_push(&d->after, last.data, last.len);
    source_reader_find_missing(&l->source_reader, d->keys, d->page.count);
    return 0;
}

int reconcile_drop(struct loop *l, struct err *err)
{
    log_err(LOG_WARN, "reconcile_dropped", l->options->definition.name, err);
    deletes_judged(&l->deletes);
    l->deletes.phase = DELETES_IDLE;
    l->deletes.owed_us = 0;
    return reconcile_write_state(l, err);
}

/* Returns true if the key is not after the last one in byte order, because an interrupted page was
 * read again. */
static bool reconcile_is_repeat(const struct deletes *d, struct span key)
{
    size_t shared = key.len < d->last_absent.len ? key.len : d->last_absent.len;
    int order = memcmp(key.data, buf_text(&d->last_absent), shared);
    return d->absent > 0 && (order < 0 || (order == 0 && key.len <= d->last_absent.len));
}

void reconcile_absent(struct deletes *d, struct span key)
{
    if (reconcile_is_repeat(d, key)) {
        return;
    }
    buf_reset(&d->last_absent);
    buf_push(&d->last_absent, key.data, key.len);
    guard_foresee(&d->guard, text_hash(key.data, key.len));
    d->absent++;
    d->overflowed = d->overflowed || d->found.count == SCAN_PAGE ||
                    d->found.bytes.len + key.len > FOUND_MAX_BYTES;
    if (!d->overflowed) {
        scan_page_push(&d->found, key);
    }
}

/* Ends the reconcile and reports this to the source, although the position has not moved. If the
 * connection was lost, the source asks for the reconcile again. */
int reconcile_end(struct loop *l, struct err *err)
{
    struct deletes *d = &l->deletes;
    deletes_judged(d);
    d->phase = DELETES_IDLE;
    d->kept.finished_us = clock_wall_us(&l->clock); /* the end, in case it took long */
    d->owed_us = d->late_us > d->listing_us ? d->late_us : 0;
    log_event(LOG_INFO, "reconcile_ended", F_TEXT("pipeline", l->options->definition.name),
              F_INT("documents", d->listed), F_INT("deletes", d->absent));
    int rc = reconcile_write_state(l, err);
    return rc == 0 ? checkpoint_backup_write(l, true, err) : rc;
}
