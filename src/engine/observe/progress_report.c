/* SPDX-License-Identifier: Apache-2.0 */
/* Reports the loop's progress to the log, to the hook for progress and to `status`. */
#include "observe/progress_report.h"

#include <stdio.h>

#include "rowferry/base/log.h"
#include "rowferry/state/deadletter.h"
#include "rowferry/state/live_progress.h"

#define WRITE_US INT64_C(1000000)
#define WRITE_IDLE_US INT64_C(30000000)
#define SHOW_US INT64_C(200000)
#define LOG_US INT64_C(10000000)

static int64_t progress_report_remaining_ms(const struct capture_progress *copy,
                                            double rows_per_second)
{
    if (rows_per_second < 1 || copy->rows_estimated <= 0) {
        return -1;
    }
    double left = (double)copy->rows_estimated * (1 - copy->share);
    return (int64_t)(left / rows_per_second * 1000);
}

void progress_report_compute(struct progress *out, const struct counters *counters,
                             const struct capture_progress *copy, int64_t elapsed_ms)
{
    out->counters = *counters;
    out->elapsed_ms = elapsed_ms;
    out->rows_per_second =
        elapsed_ms > 0 ? (double)counters->rows_read * 1000 / (double)elapsed_ms : 0;
    out->share = -1;
    out->remaining_ms = -1;
    if (copy->share < 1) {
        out->share = copy->share;
        out->remaining_ms = progress_report_remaining_ms(copy, out->rows_per_second);
    }
}

static void progress_report_fill(struct progress_report *r, struct progress *out)
{
    struct capture_progress copy = {.rows_estimated = -1, .share = 1};
    if (r->view->reader->capture != NULL) {
        r->view->reader->capture->ops->progress(r->view->reader->capture, &copy);
    }
    *out = (struct progress){.pipeline = r->view->target.pipeline,
                             .in_flight = flow_in_flight(r->flow, INT64_MAX),
                             .batch_bytes = (int64_t)flow_batch_bytes(r->flow),
                             .noted = r->noted,
                             .stage = copy.share < 1 ? "copying" : "replaying"};
    if (r->view->following.on && copy.share >= 1) {
        out->stage = "following";
    } else if (source_reader_done(r->view->reader)) {
        out->stage = "settling";
    }
    progress_report_compute(out, r->view->counters, &copy,
                            (clock_monotonic_us(&r->view->clock) - r->view->started_us) / 1000);
}

/* Replaces the average rate by the rate since the last report if the work has no end. */
static void progress_report_fill_rate(const struct progress_report *r, struct progress *p,
                                      int64_t rows, int64_t since_us)
{
    int64_t took_us = clock_monotonic_us(&r->view->clock) - since_us;
    if (r->view->following.on && took_us > 0) {
        p->rows_per_second = (double)(r->view->counters->rows_read - rows) * 1e6 / (double)took_us;
    }
}

/* Fills the current state; the rate covers the last second. Lag, watermark holder and stall are
 * maintained elsewhere. */
static void progress_report_fill_work(struct progress_report *r, const struct progress *p)
{
    struct live_progress *w = &r->moment.work;
    w->told_us = clock_wall_us(&r->view->clock);
    w->rows = p->counters.rows_read;
    w->share = p->share;
    w->remaining_ms = p->remaining_ms;
    w->in_flight = p->in_flight;
    w->batch_bytes = p->batch_bytes;
    w->equal_us = r->view->following.equal_us;
    snprintf(w->stage, sizeof(w->stage), "%s", p->stage);
    snprintf(w->growth_stopped, sizeof(w->growth_stopped), "%s", growth_watch_why(r->growth_watch));
}

static int progress_report_write_now(struct progress_report *r, struct err *err)
{
    struct progress p;
    progress_report_fill(r, &p);
    progress_report_fill_rate(r, &p, r->written.rows, r->written.at_us);
    r->written.at_us = clock_monotonic_us(&r->view->clock);
    r->written.rows = r->view->counters->rows_read;
    r->written_following = r->view->following.equal_us != 0;
    r->lag_monitor->news = false;
    r->moment.work.rows_per_second = (int64_t)p.rows_per_second;
    progress_report_fill_work(r, &p);
    int rc = live_progress_write(r->view->state, &r->moment.work, err);
    r->noted = rc == 0;
    return rc;
}

static void progress_report_count_letters(struct progress_report *r)
{
    struct err ignored;
    struct status_snapshot_moment *m = &r->moment;
    uint64_t revision = deadletter_revision(r->view->state);
    if (m->dead_letters >= 0 && revision == r->counted_revision) {
        return;
    }
    r->counted_revision = revision;
    if (deadletter_count(r->view->state, &m->dead_letters, &ignored) < 0) {
        m->dead_letters = -1;
    }
}

static void progress_report_publish(struct progress_report *r)
{
    struct progress p;
    struct status_snapshot_moment *m = &r->moment;
    if (r->snapshot == NULL) {
        return;
    }
    progress_report_fill(r, &p);
    progress_report_fill_work(r, &p);
    progress_report_count_letters(r);
    m->counters = *r->view->counters;
    m->flying = (int64_t)r->view->requests.in_flight;
    m->unsettled = (int64_t)r->view->window->bytes;
    m->window_bytes = (int64_t)r->view->window->max_bytes;
    m->source_away = r->view->reader->retry_budget->away_since_us != 0;
    m->service_away = r->view->service_retry->away_since_us != 0;
    m->service_status = m->service_away ? r->view->service_retry->http_status : 0;
    snprintf(m->generation, sizeof(m->generation), "%s",
             r->view->target.index != NULL ? r->view->target.index : "");
    status_snapshot_publish(r->snapshot, m);
}

/* Each report is a commit, so an idle pipeline reports rarely. */
static int progress_report_write(struct progress_report *r, struct err *err)
{
    int64_t now = clock_monotonic_us(&r->view->clock);
    bool same = loop_view_rests(r->view) && r->written_following &&
                r->view->counters->rows_read == r->written.rows;
    bool begins =
        (r->view->following.equal_us != 0 && !r->written_following) || r->lag_monitor->news;
    if (!begins && now - r->written.at_us < (same ? WRITE_IDLE_US : WRITE_US)) {
        return 0;
    }
    return progress_report_write_now(r, err);
}

void progress_report_retry_budget(struct progress_report *r)
{
    struct err ignored;
    lag_monitor_on_turn(r->lag_monitor, &ignored);
    if (r->lag_monitor->news) {
        (void)!progress_report_write_now(r, &ignored);
    }
    progress_report_publish(r);
}

/* Logs documents that the data stream already had. Either the previous process crashed, or rows
 * were updated. */
static void progress_report_log_present(struct progress_report *r)
{
    int64_t more = r->view->counters->present - r->logged_present;
    if (more > 0) {
        r->logged_present = r->view->counters->present;
        log_event(LOG_WARN, "already_there", F_TEXT("pipeline", r->view->target.pipeline),
                  F_TEXT("index", r->view->target.index), F_INT("documents", more));
    }
}

void progress_report_end(struct progress_report *r)
{
    struct err ignored;
    progress_report_log_present(r);
    if (r->view->following.equal_us != 0) {
        (void)!progress_report_write_now(r, &ignored);
    }
    progress_report_publish(r);
}

static void progress_report_log_rate(const struct progress *p)
{
    struct log_field remaining = {0}; /* ends the fields if it is not known */
    if (p->remaining_ms >= 0) {
        remaining = F_INT("remaining_s", p->remaining_ms / 1000);
    }
    log_event(LOG_INFO, "progress", F_TEXT("pipeline", p->pipeline), F_TEXT("stage", p->stage),
              F_INT("read", p->counters.rows_read), F_INT("upserts", p->counters.upserts),
              F_INT("deletes", p->counters.deletes), F_INT("rejected", p->counters.rejected),
              F_INT("per_second", (int64_t)p->rows_per_second), F_INT("in_flight", p->in_flight),
              F_INT("batch_bytes", p->batch_bytes), remaining);
}

static void progress_report_show(struct progress_report *r)
{
    int64_t now = clock_monotonic_us(&r->view->clock);
    bool show = r->progress != NULL && now - r->shown_us >= SHOW_US;
    bool same = r->view->following.on && r->view->counters->rows_read == r->logged.rows;
    bool log = now - r->logged.at_us >= LOG_US && !same;
    if (!show && !log) {
        return;
    }
    struct progress progress;
    progress_report_fill(r, &progress);
    if (show) {
        r->shown_us = now;
        r->progress(r->progress_context, &progress);
    }
    if (log) {
        progress_report_fill_rate(r, &progress, r->logged.rows, r->logged.at_us);
        r->logged.at_us = now;
        r->logged.rows = r->view->counters->rows_read;
        progress_report_log_rate(&progress);
        progress_report_log_present(r);
    }
}

enum loop_answer progress_report_on_turn(void *self, struct err *why)
{
    struct progress_report *r = self;
    int rc = loop_view_stopping(r->view) ? 0 : progress_report_write(r, why);
    progress_report_publish(r);
    progress_report_show(r);
    return rc < 0 ? LOOP_END : LOOP_GO_ON;
}
