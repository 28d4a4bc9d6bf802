/* SPDX-License-Identifier: Apache-2.0 */
/* Reports the loop's progress to the log, to the hook for progress and to `status`. */
#include "observe/progress_report.h"

#include <stdio.h>

#include "observe/progress.h"
#include "pipeline/loop.h"
#include "rowferry/base/log.h"
#include "rowferry/state/deadletter.h"
#include "rowferry/state/live_progress.h"

#define TELL_US INT64_C(1000000)
#define TELL_IDLE_US INT64_C(30000000)
#define SHOW_US INT64_C(200000)
#define LOG_US INT64_C(10000000)

static void progress_report_fill(struct loop *l, struct progress *out)
{
    struct capture_progress copy = {.rows_estimated = -1, .share = 1};
    if (l->source_reader.capture != NULL) {
        l->source_reader.capture->ops->progress(l->source_reader.capture, &copy);
    }
    *out = (struct progress){.pipeline = l->options->definition.name,
                             .in_flight = flow_in_flight(&l->sender.flow, INT64_MAX),
                             .batch_bytes = (int64_t)flow_batch_bytes(&l->sender.flow),
                             .noted = l->noted,
                             .stage = copy.share < 1 ? "copying" : "replaying"};
    if (l->follow.on && copy.share >= 1) {
        out->stage = "following";
    } else if (source_reader_done(&l->source_reader)) {
        out->stage = "settling";
    }
    progress_fill(out, &l->counters, &copy, (clock_monotonic_us(&l->clock) - l->started_us) / 1000);
}

/* Replaces the average rate by the rate since the last report if the work has no end. */
static void progress_report_fill_rate(const struct loop *l, struct progress *p, int64_t rows,
                                      int64_t since_us)
{
    int64_t took_us = clock_monotonic_us(&l->clock) - since_us;
    if (l->follow.on && took_us > 0) {
        p->rows_per_second = (double)(l->counters.rows_read - rows) * 1e6 / (double)took_us;
    }
}

/* Fills the current state; the rate covers the last second. Lag, watermark holder and stall are
 * maintained elsewhere. */
static void progress_report_fill_work(struct loop *l, const struct progress *p)
{
    struct live_progress *w = &l->moment.work;
    w->told_us = clock_wall_us(&l->clock);
    w->rows = p->counters.rows_read;
    w->share = p->share;
    w->remaining_ms = p->remaining_ms;
    w->in_flight = p->in_flight;
    w->batch_bytes = p->batch_bytes;
    w->equal_us = l->follow.equal_us;
    snprintf(w->stage, sizeof(w->stage), "%s", p->stage);
    snprintf(w->growth_stopped, sizeof(w->growth_stopped), "%s", growth_watch_why(&l->watch));
}

static int progress_report_log(struct loop *l, struct err *err)
{
    struct progress p;
    progress_report_fill(l, &p);
    progress_report_fill_rate(l, &p, l->told_rows, l->told_us);
    l->told_us = clock_monotonic_us(&l->clock);
    l->told_rows = l->counters.rows_read;
    l->told_following = l->follow.equal_us != 0;
    l->lag_monitor.news = false;
    l->moment.work.rows_per_second = (int64_t)p.rows_per_second;
    progress_report_fill_work(l, &p);
    int rc = live_progress_write(l->state, &l->moment.work, err);
    l->noted = l->noted || rc == 0;
    return rc;
}

static void progress_report_count_letters(struct loop *l)
{
    struct err ignored;
    struct status_snapshot_moment *m = &l->moment;
    uint64_t revision = deadletter_revision(l->state);
    if (m->dead_letters >= 0 && revision == l->counted_revision) {
        return;
    }
    l->counted_revision = revision;
    if (deadletter_count(l->state, &m->dead_letters, &ignored) < 0) {
        m->dead_letters = -1;
    }
}

void progress_report_publish(struct loop *l)
{
    struct progress p;
    struct status_snapshot_moment *m = &l->moment;
    if (l->options->follow.snapshot == NULL) {
        return;
    }
    progress_report_fill(l, &p);
    progress_report_fill_work(l, &p);
    progress_report_count_letters(l);
    m->counters = l->counters;
    m->flying = (int64_t)sender_flying(&l->sender);
    m->unsettled = (int64_t)l->window.bytes;
    m->window_bytes = (int64_t)l->window.max_bytes;
    m->source_away = l->source_retry.away_since_us != 0;
    m->service_away = l->service_retry.away_since_us != 0;
    snprintf(m->generation, sizeof(m->generation), "%s",
             l->sender.index != NULL ? l->sender.index : "");
    status_snapshot_publish(l->options->follow.snapshot, m);
}

/* Each report is a commit, so an idle pipeline reports rarely. */
int progress_report_write(struct loop *l, struct err *err)
{
    int64_t now = clock_monotonic_us(&l->clock);
    bool same = follow_rests(l) && l->told_following && l->counters.rows_read == l->told_rows;
    bool begins = (l->follow.equal_us != 0 && !l->told_following) || l->lag_monitor.news;
    if (!begins && now - l->told_us < (same ? TELL_IDLE_US : TELL_US)) {
        return 0;
    }
    return progress_report_log(l, err);
}

void progress_report_retry_budget(struct loop *l)
{
    struct err ignored;
    lag_monitor_turn(l);
    if (l->lag_monitor.news) {
        (void)!progress_report_log(l, &ignored);
    }
    progress_report_publish(l);
}

/* Logs documents that the data stream already had. Either the previous process crashed, or rows
 * were updated. */
static void progress_report_log_present(struct loop *l)
{
    int64_t more = l->counters.present - l->logged_present;
    if (more > 0) {
        l->logged_present = l->counters.present;
        log_event(LOG_WARN, "already_there", F_TEXT("pipeline", l->options->definition.name),
                  F_TEXT("index", l->sender.index), F_INT("documents", more));
    }
}

void progress_report_end(struct loop *l)
{
    struct err ignored;
    progress_report_log_present(l);
    if (l->follow.equal_us != 0) {
        (void)!progress_report_log(l, &ignored);
    }
}

/* Checks the growth only during an initial load, because later changes replace documents. */
void progress_report_watch(struct loop *l)
{
    struct capture_progress copy;
    if (!source_reader_copies(&l->source_reader) || loop_stopping(l)) {
        return;
    }
    l->source_reader.capture->ops->progress(l->source_reader.capture, &copy);
    int64_t left = copy.rows_estimated > 0 ? copy.rows_estimated - copy.rows_read : -1;
    growth_watch_turn(&l->watch, l->sender.index, &l->sender.flow, l->counters.upserts, left,
                      clock_monotonic_us(&l->clock));
}

static void progress_report_log_rate(const struct progress *p)
{
    log_event(LOG_INFO, "progress", F_TEXT("pipeline", p->pipeline), F_TEXT("stage", p->stage),
              F_INT("read", p->counters.rows_read), F_INT("upserts", p->counters.upserts),
              F_INT("deletes", p->counters.deletes), F_INT("rejected", p->counters.rejected),
              F_INT("per_second", (int64_t)p->rows_per_second),
              F_INT("remaining_s", p->remaining_ms < 0 ? -1 : p->remaining_ms / 1000),
              F_INT("in_flight", p->in_flight), F_INT("batch_bytes", p->batch_bytes));
}

void progress_report_show(struct loop *l)
{
    int64_t now = clock_monotonic_us(&l->clock);
    bool show = l->options->hooks.progress != NULL && now - l->shown_us >= SHOW_US;
    bool same = l->follow.on && l->counters.rows_read == l->logged_rows;
    bool log = now - l->logged_us >= LOG_US && !same;
    if (!show && !log) {
        return;
    }
    struct progress progress;
    progress_report_fill(l, &progress);
    if (show) {
        l->shown_us = now;
        l->options->hooks.progress(l->options->hooks.progress_context, &progress);
    }
    if (log) {
        progress_report_fill_rate(l, &progress, l->logged_rows, l->logged_us);
        l->logged_us = now;
        l->logged_rows = l->counters.rows_read;
        progress_report_log_rate(&progress);
        progress_report_log_present(l);
    }
}
