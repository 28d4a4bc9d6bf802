/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules reconciles and walks the keys of an index. */
#include "guard/deletes_private.h"

#include <string.h>

#include "core/checkpoint_backup.h"
#include "rowferry/base/log.h"

#define FOUND_MAX_BYTES ((size_t)1 << 20) /* maximum size of the kept keys without a row */

/* --- schedule -------------------------------------------------------------------------------- */

static bool reconcile_is_owed(const struct deletes *d)
{
    int64_t owed_us = d->schedule.owed_us;
    return owed_us != 0 && owed_us <= clock_monotonic_us(&d->view->clock);
}

/* Returns true if a reconcile is due. If the clock was set back, the scheduled one is due at
 * once. */
static bool reconcile_is_due(const struct deletes *d)
{
    if (d->view->target.stream) { /* a data stream takes no deletes, and late requests
                                 overwrite nothing there */
        return false;
    }
    int64_t since = clock_wall_us(&d->view->clock) - d->schedule.kept.finished_us;
    return reconcile_is_owed(d) ||
           (d->schedule.interval_us > 0 && (since < 0 || since >= d->schedule.interval_us));
}

/* Converts a wall-clock time to monotonic time, which counts within a process because the wall
 * clock may be set. Between processes there is only the wall clock. If it was set back, the result
 * is at most DELETES_LATE_US from now. */
static int64_t reconcile_from_wall(const struct deletes *d, int64_t wall_us)
{
    int64_t left = wall_us - clock_wall_us(&d->view->clock);
    left = left < 0 ? 0 : left > DELETES_LATE_US ? DELETES_LATE_US : left;
    return wall_us == 0 ? 0 : clock_monotonic_us(&d->view->clock) + left;
}

static int64_t reconcile_to_wall(const struct deletes *d, int64_t monotonic_us)
{
    int64_t left = monotonic_us - clock_monotonic_us(&d->view->clock);
    return monotonic_us == 0 ? 0 : clock_wall_us(&d->view->clock) + left;
}

/* Loads the record of the last reconcile. A lost state file has none, so assume that requests were
 * in flight and that a reconcile is owed. */
int reconcile_load(struct deletes *d, int64_t interval_ms, struct err *err)
{
    bool known;
    int rc = reconcile_read(d->view->state, &d->schedule.kept, &known, err);
    int64_t latest_us = clock_monotonic_us(&d->view->clock) + DELETES_LATE_US;
    d->schedule.owed_us = known ? reconcile_from_wall(d, d->schedule.kept.owed_us) : latest_us;
    d->schedule.late_us = known && !d->schedule.kept.flying
                              ? reconcile_from_wall(d, d->schedule.kept.late_us)
                              : latest_us;
    d->schedule.interval_us = interval_ms * 1000;
    return rc;
}

static int reconcile_write_state(struct deletes *d, struct err *err)
{
    d->schedule.kept.owed_us = reconcile_to_wall(d, d->schedule.owed_us);
    d->schedule.kept.late_us = reconcile_to_wall(d, d->schedule.late_us);
    return reconcile_write(d->view->state, &d->schedule.kept, err);
}

int reconcile_note_empty(struct deletes *d, struct err *err)
{
    d->schedule.kept = (struct reconcile){.finished_us = clock_wall_us(&d->view->clock)};
    d->schedule.owed_us = d->schedule.late_us = 0;
    return reconcile_write_state(d, err);
}

int reconcile_note_former(struct deletes *d, struct err *err)
{
    d->schedule.owed_us = clock_monotonic_us(&d->view->clock);
    return reconcile_write_state(d, err);
}

int reconcile_mind(struct deletes *d, struct err *err)
{
    struct source_reader *r = d->reader;
    if (d->phase == DELETES_IDLE && r->reading == SOURCE_READER_DRAINED && !r->only_asked &&
        !d->view->held && !loop_view_stopping(d->view) && reconcile_is_due(d)) {
        source_reader_more(r);
        reconcile_begin(d, reconcile_is_owed(d) ? DELETES_OWED : DELETES_DUE);
    }
    if (d->view->window->keys.count == 0 || d->schedule.kept.flying) {
        return 0;
    }
    d->schedule.kept.flying = true;
    return reconcile_write_state(d, err);
}

/* Records future times again, converted by the current wall clock. */
int reconcile_rest(struct deletes *d, struct err *err)
{
    bool rests = d->schedule.kept.flying && d->view->window->keys.count == 0;
    d->schedule.kept.flying = d->schedule.kept.flying && !rests;
    return rests || d->schedule.owed_us != 0 ||
                   d->schedule.late_us > clock_monotonic_us(&d->view->clock)
               ? reconcile_write_state(d, err)
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

void reconcile_begin(struct deletes *d, enum deletes_why why)
{
    guard_begin(&d->guard);
    d->phase = DELETES_SETTLE;
    d->why = why;
    if (why == DELETES_AGAIN && d->schedule.late_us < d->view->started_us + DELETES_LATE_US) {
        d->schedule.late_us = d->view->started_us + DELETES_LATE_US; /* of holders elsewhere */
    }
    log_event(why >= DELETES_OWED ? LOG_INFO : LOG_WARN, "reconcile_started",
              F_TEXT("pipeline", d->view->target.pipeline), F_TEXT("index", d->view->target.index),
              F_TEXT("why", reconcile_words_of(why)));
}

void reconcile_report_spared(const struct deletes *d, int64_t documents)
{
    log_event(LOG_WARN, "documents_stay", F_TEXT("pipeline", d->view->target.pipeline),
              F_TEXT("index", d->view->target.index), F_TEXT("why", reconcile_words_of(d->why)),
              F_INT("documents", documents));
}

void reconcile_spare(struct deletes *d)
{
    guard_begin(&d->guard);
    d->why = DELETES_LEFT;
    d->walk.listed = d->walk.absent = 0;
    d->phase = DELETES_CLOSE;
    reconcile_report_spared(d, -1);
}

void reconcile_walk(struct deletes *d, enum deletes_phase phase)
{
    bool again = phase == DELETES_SEND && d->guarded && !d->walk.overflowed;
    d->phase = phase;
    d->walk.begun = again;
    d->walk.listed_ahead = again;
    d->walk.page.last = false;
    buf_reset(&d->walk.after);
    if (again) { /* check only the missing keys again */
        struct scan_page found = d->walk.found;
        d->walk.found = d->walk.next;
        d->walk.next = found;
        d->walk.next.last = true;
        return;
    }
    if (phase == DELETES_COUNT || !d->guarded) {
        d->walk.listed = d->walk.absent = 0;
        d->walk.overflowed = false;
        scan_page_reset(&d->walk.found);
        buf_reset(&d->walk.last_absent);
    }
}

int reconcile_list(struct deletes *d, struct err *err)
{
    int64_t now = clock_monotonic_us(&d->view->clock);
    int rc = d->view->service.ops->refresh(d->view->service.self, d->view->target.index, err);
    if (rc == 0) {
        d->schedule.listing_us = now;
        reconcile_walk(d, d->guarded ? DELETES_COUNT : DELETES_SEND);
    }
    return rc;
}

static int reconcile_list_page(struct deletes *d, struct scan_page *page, struct err *err)
{
    struct span after =
        d->walk.begun ? span_make(buf_text(&d->walk.after), d->walk.after.len) : span_make(NULL, 0);
    return d->view->service.ops->scan(d->view->service.self, d->view->target.index, after, page,
                                      err);
}

/* Lists the next page in advance. A failure is ignored, because it recurs when the page is
 * needed. */
void reconcile_list_ahead(struct deletes *d)
{
    struct err ignored;
    bool walks = d->phase == DELETES_COUNT || d->phase == DELETES_SEND;
    if (walks && d->reader->missing.reading && !d->walk.listed_ahead && !d->walk.page.last &&
        !loop_view_stopping(d->view)) {
        d->walk.listed_ahead = reconcile_list_page(d, &d->walk.next, &ignored) == 0;
    }
}

static int reconcile_turn_page(struct deletes *d, struct err *err)
{
    if (!d->walk.listed_ahead) {
        return reconcile_list_page(d, &d->walk.page, err);
    }
    struct scan_page listed = d->walk.next;
    d->walk.next = d->walk.page;
    d->walk.page = listed;
    d->walk.listed_ahead = false;
    return 0;
}

int reconcile_next(struct deletes *d, bool *more, struct err *err)
{
    *more = !(d->walk.begun && d->walk.page.last);
    int rc = *more ? reconcile_turn_page(d, err) : 0;
    if (rc < 0 || !*more) {
        return rc;
    }
    d->walk.keys = d->walk.keys != NULL ? d->walk.keys : mem_zero(SCAN_PAGE, sizeof(*d->walk.keys));
    for (size_t i = 0; i < d->walk.page.keys.count; i++) {
        d->walk.keys[i] = scan_list_get(&d->walk.page.keys, i);
    }
    d->walk.begun = true;
    d->walk.listed += d->phase == DELETES_SEND && d->guarded ? 0 : (int64_t)d->walk.page.keys.count;
    if (d->walk.page.keys.count == 0) {
        return 0;
    }
    struct span last = d->walk.keys[d->walk.page.keys.count - 1];
    buf_reset(&d->walk.after);
    buf_push(&d->walk.after, last.data, last.len);
    source_reader_find_missing(d->reader, d->walk.keys, d->walk.page.keys.count);
    return 0;
}

int reconcile_drop(struct deletes *d, struct err *err)
{
    log_err(LOG_WARN, "reconcile_dropped", d->view->target.pipeline, err);
    deletes_judged(d);
    d->phase = DELETES_IDLE;
    d->schedule.owed_us = 0;
    return reconcile_write_state(d, err);
}

/* Returns true if the key is not after the last one in byte order, because an interrupted page was
 * read again. */
static bool reconcile_is_repeat(const struct deletes *d, struct span key)
{
    size_t shared = key.len < d->walk.last_absent.len ? key.len : d->walk.last_absent.len;
    int order = memcmp(key.data, buf_text(&d->walk.last_absent), shared);
    return d->walk.absent > 0 && (order < 0 || (order == 0 && key.len <= d->walk.last_absent.len));
}

void reconcile_absent(struct deletes *d, struct span key)
{
    if (reconcile_is_repeat(d, key)) {
        return;
    }
    buf_reset(&d->walk.last_absent);
    buf_push(&d->walk.last_absent, key.data, key.len);
    guard_foresee(&d->guard, text_hash(key.data, key.len));
    d->walk.absent++;
    d->walk.overflowed = d->walk.overflowed || d->walk.found.keys.count == SCAN_PAGE ||
                         d->walk.found.keys.bytes.len + key.len > FOUND_MAX_BYTES;
    if (!d->walk.overflowed) {
        scan_list_push(&d->walk.found.keys, key);
    }
}

/* Ends the reconcile and reports this to the source, although the position has not moved. If the
 * connection was lost, the source asks for the reconcile again. */
int reconcile_end(struct deletes *d, struct err *err)
{
    deletes_judged(d);
    d->phase = DELETES_IDLE;
    d->schedule.kept.finished_us =
        clock_wall_us(&d->view->clock); /* the end, in case it took long */
    d->schedule.owed_us = d->schedule.late_us > d->schedule.listing_us ? d->schedule.late_us : 0;
    log_event(LOG_INFO, "reconcile_ended", F_TEXT("pipeline", d->view->target.pipeline),
              F_INT("documents", d->walk.listed), F_INT("deletes", d->walk.absent));
    int rc = reconcile_write_state(d, err);
    return rc == 0 ? checkpoint_backup_write(d->backup, true, err) : rc;
}
