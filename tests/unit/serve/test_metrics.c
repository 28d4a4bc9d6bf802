/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics for Prometheus, and their list in the manual. */
#include "metrics.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "rowferry/serve/sync_metrics.h"
#include "suite.h"
#include "views.h"

#define NOW_US INT64_C(10000000)

static const struct process process = {
    .started_s = 1.5, .cpu_s = 0.25, .resident_bytes = 4096, .descriptors = 9};

static char *metrics_of(const struct status_snapshot_view *views, size_t count)
{
    struct buf out;
    buf_init(&out, 1 << 20);
    metrics_push(&out, views, count, &process, NOW_US);
    return buf_detach(&out);
}

static void expect_line(const char *text, const char *line)
{
    const char *at = strstr(text, line);
    ck_assert_msg(at != NULL && (at == text || at[-1] == '\n') && at[strlen(line)] == '\n',
                  "no line %s in\n%s", line, text);
}

START_TEST(a_pipeline_at_work_has_counters_lag_and_latency)
{
    struct status_snapshot_view v = view_of("articles", "following");
    v.moment.counters.upserts = 4981;
    v.moment.work.equal_us = NOW_US - 1500000;
    v.moment.work.lag_rows = 12;
    v.moment.dead_letters = 2;
    status_snapshot_latency_note(&v.moment.latency, 15000, 3);
    status_snapshot_latency_note(&v.moment.latency, 7200000000, 1);
    char *text = metrics_of(&v, 1);
    expect_line(text, "# TYPE rowferry_upserts_total counter");
    expect_line(text, "rowferry_upserts_total{pipeline=\"articles\"} 4981");
    expect_line(text, "rowferry_lag_seconds{pipeline=\"articles\"} 1.5");
    expect_line(text, "rowferry_lag_rows{pipeline=\"articles\"} 12");
    expect_line(text, "rowferry_dead_letters{pipeline=\"articles\"} 2");
    expect_line(text, "rowferry_ready{pipeline=\"articles\"} 1");
    expect_line(text, "rowferry_stalled{pipeline=\"articles\"} 0");
    expect_line(text, "rowferry_watermark_age_seconds{pipeline=\"articles\"} 0");
    expect_line(text, "rowferry_latency_seconds_bucket{pipeline=\"articles\",le=\"0.01\"} 0");
    expect_line(text, "rowferry_latency_seconds_bucket{pipeline=\"articles\",le=\"0.02\"} 3");
    expect_line(text, "rowferry_latency_seconds_bucket{pipeline=\"articles\",le=\"3600\"} 3");
    expect_line(text, "rowferry_latency_seconds_bucket{pipeline=\"articles\",le=\"+Inf\"} 4");
    expect_line(text, "rowferry_latency_seconds_count{pipeline=\"articles\"} 4");
    expect_line(text, "process_resident_memory_bytes 4096");
    free(text);
}
END_TEST

START_TEST(a_stall_names_its_cause_and_a_hold_its_backend)
{
    struct status_snapshot_view v = view_of("articles", "following");
    view_stall(&v, "held", "a transaction is open");
    v.moment.work.hold_pid = 4711;
    v.moment.work.hold_us = NOW_US - 60000000;
    char *text = metrics_of(&v, 1);
    expect_line(text, "rowferry_stalled{pipeline=\"articles\",cause=\"held\"} 1");
    expect_line(text, "rowferry_stalled_seconds{pipeline=\"articles\"} 5");
    expect_line(text, "rowferry_watermark_age_seconds{pipeline=\"articles\",pid=\"4711\"} 60");
    expect_line(text, "rowferry_ready{pipeline=\"articles\"} 0");
    free(text);
}
END_TEST

START_TEST(what_is_not_known_has_no_sample)
{
    struct status_snapshot_view v = view_of("articles", "starting");
    char *text = metrics_of(&v, 1);
    ck_assert_ptr_null(strstr(text, "rowferry_lag_rows{"));
    ck_assert_ptr_null(strstr(text, "rowferry_lag_seconds{"));
    ck_assert_ptr_null(strstr(text, "rowferry_dead_letters{"));
    ck_assert_ptr_null(strstr(text, "rowferry_last_success_timestamp_seconds{"));
    free(text);
    text = metrics_of(NULL, 0);
    expect_line(text, "rowferry_build_info{version=\"" ROWFERRY_VERSION "\"} 1");
    free(text);
}
END_TEST

static char *read_manual(void)
{
    FILE *file = fopen(TEST_DOCS "/observe.md", "re");
    ck_assert_ptr_nonnull(file);
    char *text = mem_zero(1, 1 << 20);
    ck_assert_uint_gt(fread(text, 1, (1 << 20) - 1, file), 0);
    fclose(file);
    return text;
}

/* Expects "| `name` | type |" in the manual for each "# TYPE name type". */
START_TEST(the_manual_tells_of_every_metric_and_of_no_other)
{
    struct status_snapshot_view v = view_of("articles", "following");
    char *text = metrics_of(&v, 1);
    char *manual = read_manual();
    size_t told = 0;
    size_t rows = 0;
    struct buf all;
    buf_init(&all, (size_t)1 << 20);
    buf_push_text(&all, text);
    free(text);
    sync_metrics_push(&all, NULL, 0); /* the heads alone */
    text = buf_detach(&all);
    for (const char *at = strstr(text, "# TYPE "); at != NULL; at = strstr(at + 1, "# TYPE ")) {
        char name[128];
        char type[32];
        char row[200];
        ck_assert_int_eq(sscanf(at, "# TYPE %127s %31s", name, type), 2);
        snprintf(row, sizeof(row), "| `%s` | %s |", name, type);
        ck_assert_msg(strstr(manual, row) != NULL, "docs/observe.md has no row %s", row);
        told++;
    }
    for (const char *at = strstr(manual, "\n| `"); at != NULL; at = strstr(at + 1, "\n| `")) {
        rows += strncmp(at + 4, "rowferry_", 9) == 0 || strncmp(at + 4, "process_", 8) == 0;
    }
    ck_assert_uint_eq(rows, told);
    free(manual);
    free(text);
}
END_TEST

SUITE_MAIN("serve/metrics", a_pipeline_at_work_has_counters_lag_and_latency,
           a_stall_names_its_cause_and_a_hold_its_backend, what_is_not_known_has_no_sample,
           the_manual_tells_of_every_metric_and_of_no_other)
