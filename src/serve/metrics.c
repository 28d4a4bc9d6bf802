/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of metrics, and the functions that fill them. */
#include "metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "exposition.h"
#include "rowferry/serve/health.h"

#define PREFIX "rowferry_"

/* --- gauges of a pipeline --------------------------------------------------------------------- */

static double metrics_seconds_since(int64_t then_us, int64_t now_us)
{
    double s = (double)(now_us - then_us) / 1e6;
    return then_us == 0 ? NAN : s > 0 ? s : 0;
}

static double metrics_at_s(int64_t wall_us)
{
    return wall_us == 0 ? NAN : (double)wall_us / 1e6;
}

static const struct metric_gauge {
    const char *name;
    enum {
        NUMBER,  /* int64_t; negative: no sample */
        AGE,     /* seconds since an int64_t, wall clock; 0: no sample */
        MOMENT,  /* an int64_t, wall clock, as seconds; 0: no sample */
        NOT,     /* 1 if the bool is false */
        READY,   /* of the whole view */
        STALLED, /* seconds of the view's stall */
    } kind;
    size_t offset; /* of the member in the view */
    const char *help;
} gauges[] = {
#define VIEW(member) offsetof(struct status_snapshot_view, member)
    {PREFIX "up", NOT, VIEW(over), "1 while the pipeline is worked on, 0 once it has stopped"},
    {PREFIX "ready", READY, 0, "1 while /readyz reports no problem"},
    {PREFIX "stage_seconds", AGE, VIEW(since_us), "seconds since the current stage began"},
    {PREFIX "stalled_seconds", STALLED, 0,
     "seconds without progress while changes are pending; 0 if there is progress"},
    {PREFIX "source_up", NOT, VIEW(moment.source_away), "0 while the source is unreachable"},
    {PREFIX "service_up", NOT, VIEW(moment.service_away), "0 while the service is unreachable"},
    {PREFIX "lag_seconds", AGE, VIEW(moment.work.equal_us),
     "age of the moment as of which all committed changes are in the index"},
    {PREFIX "lag_rows", NUMBER, VIEW(moment.work.lag_rows),
     "changes that the source has and the index lacks"},
    {PREFIX "dead_letters", NUMBER, VIEW(moment.dead_letters), "open dead letters"},
    {PREFIX "in_flight_requests", NUMBER, VIEW(moment.flying), "bulk requests without an answer"},
    {PREFIX "in_flight_limit", NUMBER, VIEW(moment.work.in_flight),
     "permitted number of bulk requests in flight, adaptive"},
    {PREFIX "batch_target_bytes", NUMBER, VIEW(moment.work.batch_bytes),
     "target size of a bulk request, adaptive"},
    {PREFIX "unsettled_bytes", NUMBER, VIEW(moment.unsettled),
     "bytes of operations that were read and are not settled"},
    {PREFIX "unsettled_limit_bytes", NUMBER, VIEW(moment.window_bytes),
     "permitted unsettled bytes; reading pauses above it"},
    {PREFIX "last_settled_timestamp_seconds", MOMENT, VIEW(moment.settled_us),
     "when the service last carried out an operation of this process"},
    {PREFIX "last_success_timestamp_seconds", MOMENT, VIEW(moment.work.equal_us),
     "moment as of which all committed changes are in the index"},
#undef VIEW
};

static double metrics_value(const struct metric_gauge *g, const struct status_snapshot_view *v,
                            int64_t now_us)
{
    const char *member = (const char *)v + g->offset;
    const struct live_progress *w = &v->moment.work;
    int64_t number;
    switch (g->kind) {
    case NOT:
        return *(const bool *)member ? 0 : 1;
    case READY:
        return health_ready(v) ? 1 : 0;
    case STALLED:
        return w->stall[0] != '\0' ? metrics_seconds_since(w->stall_us, now_us) : 0;
    default:
        memcpy(&number, member, sizeof(number));
        return g->kind == AGE      ? metrics_seconds_since(number, now_us)
               : g->kind == MOMENT ? metrics_at_s(number)
               : number < 0        ? NAN
                                   : (double)number;
    }
}

static void metrics_push_gauge(struct buf *out, const struct metric_gauge *g,
                               const struct status_snapshot_view *views, size_t count,
                               int64_t now_us)
{
    exposition_head(out, g->name, "gauge", g->help);
    for (size_t i = 0; i < count; i++) {
        const struct label labels[] = {{"pipeline", views[i].name}, {0}};
        double value = metrics_value(g, &views[i], now_us);
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
    exposition_head(
        out, name, "gauge",
        "1 if there is no progress although changes are pending, with the cause as a label");
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
                    "age of the oldest open transaction in the source, with the process id of its "
                    "session as a label; 0: none");
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
    exposition_head(out, name, "histogram",
                    "seconds from the commit of a change to its acknowledgement by the service");
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
    exposition_head(out, "process_start_time_seconds", "gauge", "start time of the process");
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
