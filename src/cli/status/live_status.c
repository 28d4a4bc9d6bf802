/* SPDX-License-Identifier: Apache-2.0 */
/* Merges state file and status snapshot. */
#include "status/live_status.h"

#include <inttypes.h>
#include <string.h>

#include "rowferry/base/clock.h"
#include "rowferry/document/json/record.h"
#include "rowferry/engine/observe/stall.h"
#include "rowferry/serve/health.h"
#include "status/holder_progress.h"
#include "status/status.h"

static void live_status_push_hold(struct buf *out, const struct live_progress *w, int64_t now_us)
{
    if (w->hold_us == 0) {
        record_text(out, "hold", NULL);
        return;
    }
    record_name(out, "hold");
    record_open(out);
    record_known(out, "pid", w->hold_pid != 0 ? w->hold_pid : -1);
    record_time(out, "since", w->hold_us);
    record_seconds(out, "seconds", now_us > w->hold_us ? (now_us - w->hold_us) / 1000 : 0);
    record_close(out);
}

static void live_status_push_counters(struct buf *out, const struct counters *c)
{
    record_name(out, "counters");
    record_open(out);
#define COUNTER(name, words) record_int(out, #name, c->name);
    COUNTERS(COUNTER)
#undef COUNTER
    record_close(out);
}

/* Appends the bounds in seconds, a count for each, and a last count for all above. */
static void live_status_push_latency(struct buf *out, const struct latency *l)
{
    record_name(out, "latency");
    buf_push_literal(out, "{\"bounds\":[");
    for (size_t i = 0; i < LATENCY_BOUNDS; i++) {
        buf_printf(out, "%s%g", i > 0 ? "," : "", (double)latency_bounds_us[i] / 1e6);
    }
    buf_push_literal(out, "],\"counts\":[");
    for (size_t i = 0; i <= LATENCY_BOUNDS; i++) {
        buf_printf(out, "%s%" PRIu64, i > 0 ? "," : "", l->counts[i]);
    }
    buf_push_literal(out, "]}");
}

void live_status_push_board(struct buf *out, const struct status_snapshot_view *view,
                            int64_t now_us)
{
    const struct status_snapshot_moment *m = &view->moment;
    record_text(out, "stage", view->stage);
    record_time(out, "since", view->since_us);
    record_text(out, "source", view->source[0] != '\0' ? view->source : NULL);
    record_text(out, "service", view->service[0] != '\0' ? view->service : NULL);
    record_bool(out, "ready", health_ready(view));
    record_bool(out, "stopped", view->over);
    record_text(out, "error", view->message[0] != '\0' ? view->message : NULL);
    record_bool(out, "source_away", m->source_away);
    record_bool(out, "service_away", m->service_away);
    record_int(out, "service_status", m->service_status);
    record_known(out, "lag_rows", m->work.lag_rows);
    live_status_push_hold(out, &m->work, now_us);
    status_push_json_stall(out, &m->work);
    record_int(out, "in_flight", m->flying);
    record_int(out, "in_flight_limit", m->work.in_flight);
    record_int(out, "batch_target_bytes", m->work.batch_bytes);
    record_int(out, "unsettled_bytes", m->unsettled);
    record_int(out, "unsettled_limit_bytes", m->window_bytes);
    record_time(out, "settled_at", m->settled_us);
    live_status_push_counters(out, &m->counters);
    live_status_push_latency(out, &m->latency);
}

/* Takes from the status snapshot what is newer than the state file. */
static void live_status_take_board(struct status *s, const struct status_snapshot_view *view)
{
    const struct status_snapshot_moment *m = &view->moment;
    if (strcmp(view->stage, LIVE_PROGRESS_STANDING_BY) == 0) {
        return; /* another process works on the pipeline */
    }
    s->pending = m->work.lag_rows;
    if (s->holder.hold != STATUS_UNHELD) {
        bool works = m->work.stage[0] != '\0' || m->work.stall[0] != '\0';
        s->holder.hold = works ? STATUS_WORKING : STATUS_HELD;
    }
    if (m->work.equal_us >= s->holder.work.equal_us) {
        s->holder.work = m->work;
    }
    if (strcmp(s->holder.work.stall, stall_name(STALL_STOPPED)) == 0) {
        s->holder.work.equal_us = 0; /* what stopped it may be older than the last poll */
    }
    if (m->dead_letters >= 0) {
        s->dead_letters = m->dead_letters;
    }
}

void live_status_push_json(struct buf *out, const struct config *config,
                           const struct pipeline_config *pipeline,
                           const struct status_snapshot_view *view)
{
    struct err err;
    struct clock clock = clock_system();
    struct status s = {.pipeline = pipeline, .examined = true, .why_unknown = "it does not count"};
    int rc = status_look(&s, config->state_path, &err);
    live_status_take_board(&s, view);
    s.now_us = clock_wall_us(&clock);
    record_open(out);
    if (rc == 0) {
        status_push_json(out, &s);
    } else {
        record_text(out, "pipeline", pipeline->name);
        record_text(out, "alias", pipeline->to.index);
    }
    record_text(out, "state_file", rc < 0 ? err.message : NULL);
    record_name(out, "live");
    record_open(out);
    live_status_push_board(out, view, s.now_us);
    record_close(out);
    record_close(out);
    status_release(&s);
}
