/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of metrics, and the functions that fill them. */
#include "metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "exposition.h"
#include "rowferry/serve/health.h"

#define PREFIX "rowferry_"

/* --- gauges of a pipeline --------------------------------------------------------------------- */

static double metrics_seconds_since(int64_t then_us, int64_t now_us)
{
    double s = (double)(now_us - then_us) / 1e6;
    return then_us == 0 ? NAN : s > 0 ? s : 0;
}

static double metrics_known(int64_t value)
{
    return value < 0 ? NAN : (double)value;
}

static double metrics_at_s(int64_t wall_us)
{
    return wall_us == 0 ? NAN : (double)wall_us / 1e6;
}

static double metrics_up(const struct status_snapshot_view *v, int64_t now_us)
{
    (void)now_us;
    return v->over ? 0 : 1;
}

static double metrics_ready(const struct status_snapshot_view *v, int64_t now_us)
{
    (void)now_us;
    return health_ready(v) ? 1 : 0;
}

static double metrics_stage_seconds(const struct status_snapshot_view *v, int64_t now_us)
{
    return metrics_seconds_since(v->since_us, now_us);
}

static double metrics_stalled_seconds(const struct status_snapshot_view *v, int64_t now_us)
{
    return v->moment.work.stall[0] != '\0' ? metrics_seconds_since(v->moment.work.stall_us, now_us)
                                           : 0;
}

static double metrics_source_up(const struct status_snapshot_view *v, int64_t now_us)
{
    (void)now_us;
    return v->moment.source_away ? 0 : 1;
}

static double metrics_service_up(const struct status_snapshot_view *v, int64_t now_us)
{
    (void)now_us;
    return v->moment.service_away ? 0 : 1;
}

static double metrics_lag_seconds(const struct status_snapshot_view *v, int64_t now_us)
{
    return metrics_seconds_since(v->moment.work.equal_us, now_us);
}

static double metrics_lag_rows(const struct status_snapshot_view *v, int64_t now_us)
{
    (void)now_us;
    return metrics_known(v->moment.work.lag_rows);
}

static double metrics_dead_letters(const struct status_snapshot_view *v, int64_t now_us)
{
    (void)now_us;
    return metrics_known(v->moment.dead_letters);
}

static double metrics_flying(const struct status_snapshot_view *v, int64_t now_us)
{
    (void)now_us;
    return (double)v->moment.flying;
}

static double metrics_in_flight_limit(const struct status_snapshot_view *v, int64_t now_us)
{
    (void)now_us;
    return (double)v->moment.work.in_flight;
}

static double metrics_batch_aim(const struct status_snapshot_view *v, int64_t now_us)
{
    (void)now_us;
    return (double)v->moment.work.batch_bytes;
}

static double metrics_unsettled(const struct status_snapshot_view *v, int64_t now_us)
{
    (void)now_us;
    return (double)v->moment.unsettled;
}

static double metrics_window_limit(const struct status_snapshot_view *v, int64_t now_us)
{
    (void)now_us;
    return (double)v->moment.window_bytes;
}

static double metrics_last_settled(const struct status_snapshot_view *v, int64_t now_us)
{
    (void)now_us;
    return metrics_at_s(v->moment.settled_us);
}

static double metrics_last_equal(const struct status_snapshot_view *v, int64_t now_us)
{
    (void)now_us;
    return metrics_at_s(v->moment.work.equal_us);
}

static const struct metric_gauge {
    const char *name;
    double (*value)(const struct status_snapshot_view *v, int64_t now_us); /* NaN: no sample */
    const char *help;
} gauges[] = {
    {PREFIX "up", metrics_up, "1 while somebody works on the pipeline, 0 once it has stopped"},
    {PREFIX "ready", metrics_ready,
     "1 while the pipeline does what it is there for, as /readyz says"},
    {PREFIX "stage_seconds", metrics_stage_seconds, "how long the present stage has lasted"},
    {PREFIX "stalled_seconds", metrics_stalled_seconds,
     "how long nothing has gone on although the source has changes, 0 where it does"},
    {PREFIX "source_up", metrics_source_up, "0 while the source is away"},
    {PREFIX "service_up", metrics_service_up, "0 while the service is away"},
    {PREFIX "lag_seconds", metrics_lag_seconds,
     "age of the moment as of which all that was committed is in the index"},
    {PREFIX "lag_rows", metrics_lag_rows, "changes that the source has and the index has not"},
    {PREFIX "dead_letters", metrics_dead_letters, "dead letters that are open"},
    {PREFIX "in_flight_requests", metrics_flying, "bulk requests without an answer"},
    {PREFIX "in_flight_limit", metrics_in_flight_limit,
     "bulk requests that may be in flight at present"},
    {PREFIX "batch_aim_bytes", metrics_batch_aim,
     "how large a bulk request aims at being at present"},
    {PREFIX "unsettled_bytes", metrics_unsettled,
     "bytes of operations that are read and not settled"},
    {PREFIX "unsettled_limit_bytes", metrics_window_limit,
     "at so many unsettled bytes reading stops"},
    {PREFIX "last_settled_timestamp_seconds", metrics_last_settled,
     "when the service did an operation last, in this process"},
    {PREFIX "last_success_timestamp_seconds", metrics_last_equal,
     "as of when all that was committed is in the index"},
};

double metrics_lag_s(const struct status_snapshot_view *v, int64_t now_us)
{
    double s = metrics_lag_seconds(v, now_us);
    return isnan(s) ? -1 : s;
}

static void metrics_push_gauge(struct buf *out, const struct metric_gauge *g,
                               const struct status_snapshot_view *views, size_t count,
                               int64_t now_us)
{
    exposition_head(out, g->name, "gauge", g->help);
    for (size_t i = 0; i < count; i++) {
        const struct label labels[] = {{"pipeline", views[i].name}, {0}};
        double value = g->value(&views[i], now_us);
        if (!isnan(value)) {
            exposition_real(out, g->name, "", labels, value);
        }
    }
}

/* --- metrics with more labels ----------------------------------------------------------------- */

static void metrics_push_info(struct buf *out, const struct status_snapshot_view *views,
                              size_t count)
{
    static const char name[] = PREFIX "pipeline_info";
    exposition_head(out, name, "gauge", "always 1: stage, alias and generation as labels");
    for (size_t i = 0; i < count; i++) {
        const struct status_snapshot_view *v = &views[i];
        const struct label labels[] = {{"pipeline", v->name},
                                       {"stage", v->stage},
                                       {"index", v->alias},
                                       {"generation", v->moment.generation},
                                       {0}};
        exposition_int(out, name, "", labels, 1);
    }
}

static void metrics_push_stalls(struct buf *out, const struct status_snapshot_view *views,
                                size_t count)
{
    static const char name[] = PREFIX "stalled";
    exposition_head(out, name, "gauge",
                    "1 where nothing goes on although the source has changes, with the cause");
    for (size_t i = 0; i < count; i++) {
        const char *cause = views[i].moment.work.stall;
        const struct label labels[] = {{"pipeline", views[i].name}, {"cause", cause}, {0}};
        exposition_int(out, name, "", labels, cause[0] != '\0');
    }
}

static void metrics_push_holds(struct buf *out, const struct status_snapshot_view *views,
                               size_t count, int64_t now_us)
{
    static const char name[] = PREFIX "watermark_age_seconds";
    exposition_head(out, name, "gauge",
                    "age of the oldest transaction that is open in the source, and the process of "
                    "its session; 0: there is none");
    for (size_t i = 0; i < count; i++) {
        const struct live_progress *w = &views[i].moment.work;
        char pid[24] = "";
        double age = w->hold_us != 0 ? metrics_seconds_since(w->hold_us, now_us) : 0;
        if (w->hold_pid != 0) {
            snprintf(pid, sizeof(pid), "%" PRId64, w->hold_pid);
        }
        const struct label labels[] = {{"pipeline", views[i].name}, {"pid", pid}, {0}};
        exposition_real(out, name, "", labels, age);
    }
}

static void metrics_push_histogram(struct buf *out, const char *name,
                                   const struct status_snapshot_view *v)
{
    const struct latency *l = &v->moment.latency;
    const struct label labels[] = {{"pipeline", v->name}, {0}};
    uint64_t sum = 0;
    for (size_t i = 0; i <= LATENCY_BOUNDS; i++) {
        char bound[32] = "+Inf";
        if (i < LATENCY_BOUNDS) {
            snprintf(bound, sizeof(bound), "%g", (double)latency_bounds_us[i] / 1e6);
        }
        const struct label bucket[] = {{"pipeline", v->name}, {"le", bound}, {0}};
        sum += l->counts[i];
        exposition_int(out, name, "_bucket", bucket, (int64_t)sum);
    }
    exposition_real(out, name, "_sum", labels, (double)l->sum_us / 1e6);
    exposition_int(out, name, "_count", labels, (int64_t)sum);
}

static void metrics_push_latency(struct buf *out, const struct status_snapshot_view *views,
                                 size_t count)
{
    static const char name[] = PREFIX "latency_seconds";
    exposition_head(out, name, "histogram", "time of an operation from commit to acknowledged");
    for (size_t i = 0; i < count; i++) {
        metrics_push_histogram(out, name, &views[i]);
    }
}

/* --- counters --------------------------------------------------------------------------------- */

static void metrics_push_counters(struct buf *out, const struct status_snapshot_view *views,
                                  size_t count)
{
#define COUNTER(member, words)                                                                     \
    exposition_head(out, PREFIX #member "_total", "counter", words);                               \
    for (size_t i = 0; i < count; i++) {                                                           \
        const struct label labels[] = {{"pipeline", views[i].name}, {0}};                          \
        exposition_int(out, PREFIX #member "_total", "", labels, views[i].moment.counters.member); \
    }
    COUNTERS(COUNTER)
#undef COUNTER
}

/* --- the process ------------------------------------------------------------------------------ */

static void metrics_push_process(struct buf *out, const struct process *p)
{
    static const struct label none[] = {{0}};
    static const struct label version[] = {{"version", ROWFERRY_VERSION}, {0}};
    exposition_head(out, PREFIX "build_info", "gauge", "always 1: the version as a label");
    exposition_int(out, PREFIX "build_info", "", version, 1);
    exposition_head(out, "process_start_time_seconds", "gauge", "when the process began");
    exposition_real(out, "process_start_time_seconds", "", none, p->started_s);
    exposition_head(out, "process_cpu_seconds_total", "counter", "user and system CPU time");
    exposition_real(out, "process_cpu_seconds_total", "", none, p->cpu_s);
    if (p->resident_bytes >= 0) {
        exposition_head(out, "process_resident_memory_bytes", "gauge", "resident memory");
        exposition_int(out, "process_resident_memory_bytes", "", none, p->resident_bytes);
    }
    if (p->descriptors >= 0) {
        exposition_head(out, "process_open_fds", "gauge", "open descriptors");
        exposition_int(out, "process_open_fds", "", none, p->descriptors);
    }
}

void metrics_push(struct buf *out, const struct status_snapshot_view *views, size_t count,
                  const struct process *process, int64_t now_us)
{
    metrics_push_info(out, views, count);
    for (size_t i = 0; i < sizeof(gauges) / sizeof(gauges[0]); i++) {
        metrics_push_gauge(out, &gauges[i], views, count, now_us);
    }
    metrics_push_stalls(out, views, count);
    metrics_push_holds(out, views, count, now_us);
    metrics_push_latency(out, views, count);
    metrics_push_counters(out, views, count);
    metrics_push_process(out, process);
}
