/* SPDX-License-Identifier: Apache-2.0 */
/* What scheduled jobs and scripts rely on: metrics, silence, colours, several pipelines at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generations.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/file.h"
#include "sql.h"
#include "suite.h"
#include "world.h"

/* Returns the value of a metric in the file. Fails if it has no sample. */
static double metric(const char *path, const char *name)
{
    struct buf text;
    char line[128];
    buf_init(&text, (size_t)1 << 16);
    ck_assert_ptr_null(file_read(path, 1000, &text, NULL));
    snprintf(line, sizeof(line), "\n%s{pipeline=\"articles\"} ", name);
    const char *at = strstr(buf_text(&text), line);
    ck_assert_msg(at != NULL, "no %s in %s", name, buf_text(&text));
    double value = strtod(at + strlen(line), NULL);
    buf_release(&text);
    return value;
}

START_TEST(a_sync_leaves_metrics_and_a_failed_one_keeps_the_time_of_the_last_success)
{
    struct world w;
    struct program_result result;
    world_start(&w, 20, NULL);
    world_install(&w);
    char *path = scratch_path(w.dir, "sync.prom");
    rowferry_expect(0, w.config, "sync", "--metrics-file", path, NULL);
    ck_assert(metric(path, "rowferry_sync_exit_code") < 0.5);
    ck_assert(metric(path, "rowferry_sync_upserts") > 19.5);
    double first_s = metric(path, "rowferry_sync_timestamp_seconds");
    ck_assert(metric(path, "rowferry_sync_last_success_timestamp_seconds") >= first_s);
    sql_exec(w.conn, "alter table articles rename column title to heading");
    rowferry_run(&result, w.config, "sync", "--metrics-file", path, NULL);
    ck_assert_int_eq(result.exit_code, 1);
    program_result_release(&result);
    ck_assert(metric(path, "rowferry_sync_exit_code") > 0.5);
    ck_assert(metric(path, "rowferry_sync_timestamp_seconds") > first_s);
    ck_assert(metric(path, "rowferry_sync_last_success_timestamp_seconds") <= first_s);
    free(path);
    world_stop(&w);
}
END_TEST

/* Two pipelines whose field refuses every title. */
static void refusing_world(struct world *w)
{
    char *text = NULL;
    world_start(w, 3, NULL);
    world_install(w);
    ck_assert_int_gt(
        asprintf(&text,
                 "{\"accept_admin\": true, \"source\": {\"uri\": \"%s\"}, \"service\": {\"url\": "
                 "\"%s\", \"auth\": "
                 "{\"api_key\": {\"file\": \"%s/key\"}}}, \"state\": {\"path\": \"%s/state.db\"},"
                 "\"pipelines\": [{\"name\": \"first\", \"from\": {\"table\": "
                 "\"public.articles\"}, \"to\": {\"index\": \"shop-first\", \"mappings\": "
                 "{\"properties\": {\"title\": {\"type\": \"date\"}}}}}, {\"name\": \"second\", "
                 "\"from\": {\"table\": \"public.articles\"}, \"to\": {\"index\": "
                 "\"shop-second\", \"mappings\": {\"properties\": {\"title\": {\"type\": "
                 "\"date\"}}}}}]}",
                 w->uri, w->service.url, w->dir, w->dir),
        0);
    free(w->config);
    w->config = scratch_write(w->dir, "two.json", text);
    free(text);
    rowferry_expect(3, w->config, "sync", NULL);
}

START_TEST(dead_letters_of_all_pipelines_are_retried_and_discarded_at_once)
{
    struct world w;
    struct program_result result;
    refusing_world(&w);
    rowferry_expect(2, w.config, "deadletter", "discard", "--all", NULL); /* not without --yes */
    sql_exec(w.conn, "update articles set title = '2026-01-01' where source_id = 1");
    rowferry_run(&result, w.config, "deadletter", "retry", NULL);
    ck_assert_msg(result.exit_code == 3, "%d %s", result.exit_code, result.err);
    expect_text(result.out, "first: ");
    expect_text(result.out, "second: ");
    program_result_release(&result);
    rowferry_expect(0, w.config, "deadletter", "discard", "--all", "--yes", NULL);
    rowferry_run(&result, w.config, "deadletter", "list", NULL);
    ck_assert_ptr_null(strstr(result.out, "title"));
    program_result_release(&result);
    rowferry_run(&result, w.config, "deadletter", "retry", NULL);
    expect_text(result.out, "first: no dead letters");
    expect_text(result.out, "second: no dead letters");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(a_quiet_sync_speaks_only_of_what_is_wrong)
{
    struct world w;
    struct program_result result;
    world_start(&w, 60, NULL);
    world_install(&w);
    rowferry_expect(0, w.config, "validate", NULL); /* else the initial load is worth a warning */
    rowferry_run(&result, w.config, "sync", "--quiet", NULL);
    ck_assert_int_eq(result.exit_code, 0);
    ck_assert_str_eq(result.out, "");
    ck_assert_str_eq(result.err, "");
    program_result_release(&result);
    sql_exec(w.conn, "alter table articles rename column title to heading");
    rowferry_run(&result, w.config, "sync", "-q", NULL);
    ck_assert_int_eq(result.exit_code, 1);
    expect_text(result.out, "articles: failed");
    expect_text(result.err, "title");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(colours_can_be_forced)
{
    struct world w;
    struct program_result result;
    world_start(&w, 5, NULL);
    ck_assert_int_eq(setenv("CLICOLOR_FORCE", "1", 1), 0);
    rowferry_run(&result, w.config, "status", NULL);
    expect_text(result.out, "\033[1marticles\033[0m");
    program_result_release(&result);
    ck_assert_int_eq(setenv("CLICOLOR_FORCE", "0", 1), 0);
    rowferry_run(&result, w.config, "status", NULL);
    ck_assert_ptr_null(strchr(result.out, '\033'));
    program_result_release(&result);
    ck_assert_int_eq(unsetenv("CLICOLOR_FORCE"), 0);
    world_stop(&w);
}
END_TEST

START_TEST(status_says_that_the_index_is_lost)
{
    struct world w;
    struct program_result result;
    world_start(&w, 5, NULL);
    world_install(&w);
    rowferry_expect(0, w.config, "sync", NULL);
    rowferry_run(&result, w.config, "status", NULL);
    expect_text(result.out, ", now");
    program_result_release(&result);
    char *live = generations_live(&w, "shop-articles");
    generations_do(&w, "DELETE", NULL, "/%s", live);
    rowferry_run(&result, w.config, "status", NULL);
    ck_assert_int_eq(result.exit_code, 0);
    expect_text(result.out,
                "state         the live index is lost: \"shop-articles\" no longer exists");
    expect_text(result.out, "  next          rowferry check articles\n");
    ck_assert_ptr_null(strstr(result.out, ", now"));
    program_result_release(&result);
    free(live);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("cli/jobs", a_sync_leaves_metrics_and_a_failed_one_keeps_the_time_of_the_last_success,
           dead_letters_of_all_pipelines_are_retried_and_discarded_at_once,
           a_quiet_sync_speaks_only_of_what_is_wrong, colours_can_be_forced,
           status_says_that_the_index_is_lost)
