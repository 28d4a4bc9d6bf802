/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that deploy/ refers to exists: every metric, every pipeline variable, every
 * runbook. */
#include <ctype.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "metrics.h"
#include "rowferry/base/buf.h"
#include "rowferry/serve/sync_metrics.h"
#include "suite.h"
#include "views.h"

#define DEPLOY TEST_DOCS "/../deploy/"
#define TEXT_BYTES ((size_t)1 << 20)
#define SCHEMA_LEAST 39 /* of Grafana 11 */

static char *read_all(const char *path)
{
    struct buf text;
    char part[4096];
    size_t len;
    buf_init(&text, TEXT_BYTES);
    FILE *file = fopen(path, "re");
    ck_assert_msg(file != NULL, "%s", path);
    while ((len = fread(part, 1, sizeof(part), file)) > 0) {
        buf_push(&text, part, len);
    }
    fclose(file);
    return buf_detach(&text);
}

/* Returns the output of /metrics, and what `sync --metrics-file` writes. */
static char *metrics(void)
{
    struct buf out;
    struct process process = {1, 1, 1, 1};
    struct status_snapshot_view view = view_of("articles", "following");
    buf_init(&out, TEXT_BYTES);
    const struct sync_sample sample = {.pipeline = "articles", .succeeded_us = 1};
    metrics_push(&out, &view, 1, &process, 9000000);
    sync_metrics_push(&out, &sample, 1);
    return buf_detach(&out);
}

static bool is_metric(const char *name, size_t len, const char *served)
{
    static const char *const endings[] = {"", "_bucket", "_sum", "_count"};
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        char type[160];
        size_t ending = strlen(endings[i]);
        if (len <= ending || strncmp(name + len - ending, endings[i], ending) != 0) {
            continue;
        }
        snprintf(type, sizeof(type), "# TYPE %.*s %s", (int)(len - ending), name,
                 ending > 0 ? "histogram\n" : "");
        if (strstr(served, type) != NULL) {
            return true;
        }
    }
    return false;
}

/* Expects that every word with this prefix is a metric. Returns their number. */
static int expect_metrics(const char *text, const char *prefix, const char *served)
{
    int count = 0;
    for (const char *at = strstr(text, prefix); at != NULL; at = strstr(at + 1, prefix)) {
        size_t len = strlen(prefix);
        bool begins = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        while (isalnum((unsigned char)at[len]) || at[len] == '_') {
            len++;
        }
        if (begins) {
            ck_assert_msg(is_metric(at, len, served), "nobody serves %.*s", (int)len, at);
            count++;
        }
    }
    return count;
}

START_TEST(every_metric_of_rules_and_dashboard_is_served)
{
    char *served = metrics();
    char *rules = read_all(DEPLOY "prometheus/rowferry.rules.yml");
    char *dashboard = read_all(DEPLOY "grafana/rowferry.json");
    ck_assert_int_ge(expect_metrics(rules, "rowferry_", served), 9);
    ck_assert_int_ge(expect_metrics(rules, "process_", served), 1);
    ck_assert_int_ge(expect_metrics(dashboard, "rowferry_", served), 20);
    ck_assert_int_ge(expect_metrics(dashboard, "process_", served), 1);
    ck_assert(!is_metric("rowferry_weather", strlen("rowferry_weather"), served));
    free(dashboard);
    free(rules);
    free(served);
}
END_TEST

static struct json_object *member(struct json_object *object, const char *name)
{
    struct json_object *found = json_object_object_get(object, name);
    ck_assert_msg(found != NULL, "no \"%s\"", name);
    return found;
}

static void expect_panel(struct json_object *panel)
{
    struct json_object *targets = member(panel, "targets");
    ck_assert_uint_gt(strlen(json_object_get_string(member(panel, "title"))), 0);
    ck_assert_uint_gt(json_object_array_length(targets), 0);
    for (size_t i = 0; i < json_object_array_length(targets); i++) {
        struct json_object *target = json_object_array_get_idx(targets, i);
        const char *expr = json_object_get_string(member(target, "expr"));
        struct json_object *source = member(target, "datasource");
        ck_assert_str_eq(json_object_get_string(member(source, "uid")), "${datasource}");
        ck_assert_msg(strstr(expr, "rowferry_") != NULL, "%s", expr);
        ck_assert_msg(strstr(expr, "$pipeline") != NULL || strstr(expr, "process_") != NULL,
                      "not of the pipelines that are chosen: %s", expr);
    }
}

START_TEST(the_dashboard_is_for_the_data_source_and_pipelines_that_are_chosen)
{
    char *text = read_all(DEPLOY "grafana/rowferry.json");
    struct json_object *dashboard = json_tokener_parse(text);
    ck_assert_ptr_nonnull(dashboard);
    ck_assert_int_ge(json_object_get_int(member(dashboard, "schemaVersion")), SCHEMA_LEAST);
    struct json_object *variables = member(member(dashboard, "templating"), "list");
    static const char *const names[] = {"datasource", "pipeline"};
    ck_assert_uint_eq(json_object_array_length(variables), 2);
    for (size_t i = 0; i < 2; i++) {
        struct json_object *variable = json_object_array_get_idx(variables, i);
        ck_assert_str_eq(json_object_get_string(member(variable, "name")), names[i]);
    }
    struct json_object *panels = member(dashboard, "panels");
    ck_assert_uint_ge(json_object_array_length(panels), 12);
    for (size_t i = 0; i < json_object_array_length(panels); i++) {
        expect_panel(json_object_array_get_idx(panels, i));
    }
    json_object_put(dashboard);
    free(text);
}
END_TEST

/* Matches "runbook_url: file:.../alerts.md#rowferrylag" with "## RowferryLag". */
START_TEST(every_alert_has_its_runbook)
{
    static const char alert[] = "- alert: ";
    char *rules = read_all(DEPLOY "prometheus/rowferry.rules.yml");
    char *manual = read_all(TEST_DOCS "/alerts.md");
    int count = 0;
    for (const char *at = strstr(rules, alert); at != NULL; at = strstr(at + 1, alert)) {
        char heading[96];
        char link[160] = "runbook_url: file:///usr/share/doc/rowferry/alerts.md#";
        const char *name = at + strlen(alert);
        size_t len = strcspn(name, "\n");
        snprintf(heading, sizeof(heading), "\n## %.*s\n", (int)len, name);
        ck_assert_msg(strstr(manual, heading) != NULL, "docs/alerts.md has no%s", heading);
        size_t end = strlen(link);
        for (size_t i = 0; i < len; i++) {
            link[end + i] = (char)tolower((unsigned char)name[i]);
        }
        link[end + len] = '\n';
        link[end + len + 1] = '\0';
        const char *next = strstr(at + 1, alert);
        const char *found = strstr(at, link);
        ck_assert_msg(found != NULL && (next == NULL || found < next), "no %s", link);
        count++;
    }
    ck_assert_int_ge(count, 7);
    free(manual);
    free(rules);
}
END_TEST

SUITE_MAIN("serve/monitors", every_metric_of_rules_and_dashboard_is_served,
           the_dashboard_is_for_the_data_source_and_pipelines_that_are_chosen,
           every_alert_has_its_runbook)
