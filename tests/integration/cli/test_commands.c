/* SPDX-License-Identifier: Apache-2.0 */
/* Commands against real servers: output and exit codes. */
#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "sql.h"
#include "suite.h"
#include "wait.h"
#include "world.h"

static void installed_world(struct world *w, long rows)
{
    world_start(w, rows, NULL);
    world_install(w);
}

static void synced_world(struct world *w, long rows)
{
    struct program_result result;
    installed_world(w, rows);
    world_sync(w, 0, &result);
    program_result_release(&result);
}

/* Makes the source, the service or both unreachable in the configuration. */
static void unplug_for(struct world *w, bool source, bool service, const char *limits)
{
    char *uri = w->uri;
    char url[sizeof(w->service.url)];
    char away[64];
    snprintf(url, sizeof(url), "%s", w->service.url);
    snprintf(away, sizeof(away), "postgresql://nobody@127.0.0.1:%d/x", free_port());
    w->uri = source ? away : uri;
    if (service) {
        snprintf(w->service.url, sizeof(w->service.url), "http://127.0.0.1:%d", free_port());
    }
    world_configure(w, "\"title\":{\"type\":\"text\"}", limits);
    w->uri = uri;
    snprintf(w->service.url, sizeof(w->service.url), "%s", url);
}

static void unplug(struct world *w, bool source, bool service)
{
    unplug_for(w, source, service, "\"retry_budget\": \"1s\"");
}

/* --- check -------------------------------------------------------------------------------------
 */

START_TEST(check_passes_over_all_that_a_sync_needs_and_changes_nothing)
{
    struct world w;
    struct program_result result;
    installed_world(&w, 10);
    rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
    ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
    expect_text(result.out, "PASS  articles: change log");
    expect_text(result.out, "PASS  articles: key");
    expect_text(result.out, "is free");
    expect_text(result.out, " 0 failed");
    program_result_release(&result);
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "upserts"), 10);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(check_shows_every_line_although_both_servers_are_away)
{
    struct world w;
    struct program_result result;
    world_start(&w, 10, NULL);
    unplug(&w, true, true);
    rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
    ck_assert_int_eq(result.exit_code, 4);
    expect_text(result.out, "PASS  configuration");
    expect_text(result.out, "FAIL  service");
    expect_text(result.out, "FAIL  source");
    expect_text(result.out, "SKIP  articles: mapping");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(check_as_json_is_an_object_per_line_with_a_remedy)
{
    struct world w;
    struct program_result result;
    world_start(&w, 10, NULL);
    rowferry_run(&result, w.config, "check", "--accept-admin", "--json", NULL);
    ck_assert_int_eq(result.exit_code, 4);
    expect_text(result.out, "{\"pipeline\":null,\"lines\":[{\"line\":\"configuration\",");
    expect_text(result.out, "],\"exit_code\":0}\n{\"pipeline\":\"articles\",\"lines\":[{");
    expect_text(result.out, "{\"line\":\"change log\",\"status\":\"FAIL\",\"text\":\"");
    expect_text(result.out, "\"remedy\":\"run: rowferry source install articles\"}");
    expect_text(result.out, "],\"exit_code\":4}\n");
    program_result_release(&result);
    rowferry_run(&result, w.config, "check", "--accept-admin", "--json", "--only", "skip", NULL);
    expect_text(result.out, "{\"pipeline\":null,\"lines\":[],\"exit_code\":0}\n"
                            "{\"pipeline\":\"articles\",\"lines\":[{\"line\":");
    expect_text(result.out, "],\"exit_code\":4}\n");
    ck_assert_ptr_null(strstr(result.out, "\"FAIL\""));
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

/* --- sync --------------------------------------------------------------------------------------
 */

START_TEST(sync_tells_people_what_it_did)
{
    struct world w;
    struct program_result result;
    installed_world(&w, 1200);
    rowferry_run(&result, w.config, "sync", NULL);
    ck_assert_int_eq(result.exit_code, 0);
    expect_text(result.out, "articles: 1,200 documents built into shop-articles-");
    program_result_release(&result);
    sql_exec(w.conn, "update articles set title = 'x' where source_id <= 3");
    sql_exec(w.conn, "delete from articles where source_id = 4");
    rowferry_run(&result, w.config, "--no-progress", "sync", "--refresh", "articles", NULL);
    expect_text(result.out, "articles: 4 operations (3 upserts, 1 delete), 0 rejected, ");
    program_result_release(&result);
    rowferry_run(&result, w.config, "sync", NULL);
    expect_text(result.out, "articles: nothing to do, ");
    ck_assert_ptr_null(strchr(result.out, '\033'));
    ck_assert_ptr_null(strchr(result.err, '\r'));
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

static void expect_away(struct world *w, bool source, bool service)
{
    struct program_result result;
    unplug(w, source, service);
    rowferry_run(&result, w->config, "sync", "--json", NULL);
    ck_assert_msg(result.exit_code == 6, "ended with %d: %s", result.exit_code, result.err);
    ck_assert_int_eq(program_json_int(&result, "exit_code"), 6);
    expect_text(result.out, "\"error\":\"gave up after ");
    expect_text(result.err, "rowferry: pipeline \"articles\": gave up after ");
    program_result_release(&result);
}

START_TEST(a_server_that_is_away_ends_with_6_and_a_json_object)
{
    struct world w;
    installed_world(&w, 10);
    expect_away(&w, true, false);
    expect_away(&w, false, true);
    world_stop(&w);
}
END_TEST

START_TEST(a_second_sync_is_told_who_holds_the_pipeline)
{
    struct world w;
    struct program first;
    struct program_result result;
    char holder[64];
    installed_world(&w, 10);
    unplug_for(&w, false, true, "\"retry_budget\": \"10m\"");
    rowferry_start(&first, w.config, "sync", NULL);
    program_await(&first, "event=away", WAIT_MS);
    rowferry_run(&result, w.config, "sync", NULL);
    ck_assert_msg(result.exit_code == 5, "ended with %d: %s", result.exit_code, result.err);
    snprintf(holder, sizeof(holder), "is held by process %d (\"sync\" since ", (int)first.pid);
    expect_text(result.err, holder);
    program_result_release(&result);
    program_signal(&first, SIGTERM);
    program_finish(&first, WAIT_MS, &result);
    ck_assert_int_eq(result.exit_code, 6);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(an_interrupted_sync_ends_well_and_the_next_one_goes_on)
{
    struct world w;
    struct program first;
    struct program_result result;
    installed_world(&w, 8000);
    world_configure(&w, WORLD_PROPERTIES, SMALL_WINDOW);
    world_hold_all(&w, "_bulk");
    rowferry_start(&first, w.config, "sync", NULL);
    world_await_held(&w);
    program_signal(&first, SIGINT);
    world_unfault(&w);
    program_finish(&first, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "ended with %d: %s", result.exit_code, result.err);
    expect_text(result.out, "the next sync continues from there");
    program_result_release(&result);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

/* --- status, deadletter ------------------------------------------------------------------------
 */

START_TEST(status_counts_what_waits_and_works_with_both_servers_away)
{
    struct world w;
    struct program_result result;
    synced_world(&w, 10);
    sql_exec(w.conn, "update articles set title = 'x' where source_id <= 3");
    rowferry_run(&result, w.config, "status", NULL);
    expect_text(result.out, "  state         behind\n");
    expect_text(result.out, "3 entries in the change log");
    expect_text(result.out, "  next          rowferry sync articles\n");
    expect_text(result.out, "live\n");
    expect_text(result.out, "sync: 10 upserts, ");
    program_result_release(&result);
    unplug(&w, true, true);
    rowferry_run(&result, w.config, "status", NULL);
    ck_assert_int_eq(result.exit_code, 0);
    expect_text(result.out, "unknown: source away");
    expect_text(result.out, "not known: could not connect to ");
    expect_text(result.out, "  next          rowferry check articles\n");
    program_result_release(&result);
    rowferry_run(&result, w.config, "status", "--json", NULL);
    ck_assert_int_eq(program_json_int(&result, "operations"), 10);
    expect_text(result.out, "\"pending\":null");
    expect_text(result.out, "\"state\":\"unknown\",\"equal_as_of\":\"2");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(a_recommended_command_repeats_the_file)
{
    struct world w;
    struct program_result result;
    char step[512];
    synced_world(&w, 10);
    sql_exec(w.conn, "update articles set title = 'x'");
    rowferry_run(&result, NULL, "-c", w.config, "status", NULL);
    snprintf(step, sizeof(step), "  next          rowferry -c %s sync articles\n", w.config);
    expect_text(result.out, step);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(status_says_equal_where_nothing_waits)
{
    struct world w;
    struct program_result result;
    installed_world(&w, 5);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    rowferry_run(&result, w.config, "status", NULL);
    expect_text(result.out, "  state         equal\n");
    expect_text(result.out, "  lag           0 entries in the change log\n");
    ck_assert_ptr_null(strstr(result.out, "  next "));
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(status_says_when_the_index_was_reconciled)
{
    struct world w;
    struct program_result result;
    synced_world(&w, 5);
    rowferry_run(&result, w.config, "status", "--json", NULL);
    struct json_object *line = json_tokener_parse(result.out);
    char first[32];
    snprintf(first, sizeof(first), "%s",
             json_object_get_string(json_object_object_get(line, "reconciled_at")));
    json_object_put(line);
    program_result_release(&result);
    sql_exec(w.conn, "truncate articles");
    world_sync(&w, 1, &result);
    program_result_release(&result);
    rowferry_run(&result, w.config, "sync", "--allow-deletes", NULL);
    ck_assert_int_eq(result.exit_code, 0);
    program_result_release(&result);
    rowferry_run(&result, w.config, "status", "--json", NULL);
    line = json_tokener_parse(result.out);
    const char *last = json_object_get_string(json_object_object_get(line, "reconciled_at"));
    ck_assert_msg(strcmp(first, last) < 0, "%s, then %s", first, last);
    json_object_put(line);
    program_result_release(&result);
    rowferry_run(&result, w.config, "status", NULL);
    expect_text(result.out, "  reconciled    2");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(status_names_the_reason_of_a_run_that_failed)
{
    struct world w;
    struct program_result result;
    synced_world(&w, 5);
    sql_exec(w.conn, "alter table articles rename title to heading");
    rowferry_run(&result, w.config, "sync", NULL);
    ck_assert_int_ne(result.exit_code, 0);
    program_result_release(&result);
    rowferry_run(&result, w.config, "status", NULL);
    ck_assert_int_eq(result.exit_code, 0);
    expect_text(result.out, "  state         the last run failed with ");
    expect_text(result.out, "articles");
    expect_text(result.out, "  next          rowferry check articles && rowferry sync articles\n");
    program_result_release(&result);
    rowferry_run(&result, w.config, "status", "--json", NULL);
    expect_text(result.out, "\"cause\":\"table ");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(status_watched_without_a_terminal_is_lines_of_json_until_it_is_interrupted)
{
    struct world w;
    struct program watching;
    struct program_result result;
    synced_world(&w, 5);
    rowferry_run(&result, w.config, "status", "--watch", NULL);
    ck_assert_int_eq(result.exit_code, 2);
    expect_text(result.err, "option \"--watch\" needs a terminal");
    program_result_release(&result);
    rowferry_start(&watching, w.config, "status", "--watch", "--json", NULL);
    program_await(&watching, "\n{\"pipeline\":", WAIT_MS);
    program_signal(&watching, SIGTERM);
    program_finish(&watching, WAIT_MS, &result);
    ck_assert_int_eq(result.exit_code, 0);
    expect_text(result.out, "\"state\":\"equal\"");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(status_shows_the_limits_of_a_holder_while_it_works)
{
    struct world w;
    struct program holder;
    struct program_result result;
    installed_world(&w, 8000);
    world_configure(&w, "\"title\":{\"type\":\"text\"}",
                    "\"batch_operations\": 100, \"in_flight\": 1");
    world_fault(&w, "{\"delay_ms\":1000,\"count\":100000}");
    rowferry_start(&holder, w.config, "sync", NULL);
    program_await(&holder, "event=sync_started", WAIT_MS);
    struct deadline deadline = deadline_after(WAIT_MS);
    bool working = false;
    while (!working) {
        ck_assert_msg(deadline_wait(&deadline), "nothing was told");
        rowferry_run(&result, w.config, "status", "--json", NULL);
        ck_assert_int_eq(result.exit_code, 0);
        working = strstr(result.out, "\"working\":{\"at\":\"2") != NULL;
        if (working) {
            expect_text(result.out, "\"growth_stopped\":null},\"runs\":[");
            expect_text(result.out, "\"in_flight\":1,\"batch_bytes\":");
        }
        program_result_release(&result);
    }
    rowferry_run(&result, w.config, "status", NULL);
    expect_text(result.out, "\n  limits        ");
    expect_text(result.out, "1 request in flight, batches of ");
    program_result_release(&result);
    program_signal(&holder, SIGTERM);
    program_finish(&holder, WAIT_MS, &result);
    program_result_release(&result);
    rowferry_run(&result, w.config, "status", "--json", NULL);
    expect_text(result.out, "\"holder\":null,\"standby\":null,\"working\":null");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(open_dead_letters_end_with_3_unless_they_are_said_to_be_well)
{
    struct world w;
    struct program_result result;
    world_start(&w, 10, NULL);
    world_configure(&w, "\"title\":{\"type\":\"long\"}", "");
    sql_exec(w.conn, "update articles set title = source_id");
    sql_exec(w.conn, "update articles set title = 'words' where source_id = 7");
    world_install(&w);
    rowferry_run(&result, w.config, "sync", NULL);
    ck_assert_int_eq(result.exit_code, 3);
    expect_text(result.out,
                "articles: 1 dead letter open; see: rowferry deadletter list articles\n");
    program_result_release(&result);
    rowferry_expect(0, w.config, "sync", "--dead-letters-ok", NULL);
    rowferry_run(&result, w.config, "deadletter", "list", NULL);
    ck_assert_int_eq(result.exit_code, 0);
    expect_text(result.out, "articles: upsert of \"7\", first ");
    expect_text(result.out, ", 1 attempt, status 400\n    mapper_parsing_exception: ");
    program_result_release(&result);
    rowferry_run(&result, w.config, "deadletter", "list", "--json", NULL);
    ck_assert_int_eq(program_json_int(&result, "status"), 400);
    expect_text(result.out, "\"key\":\"7\",\"operation\":\"upsert\"");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

/* --- document, source --------------------------------------------------------------------------
 */

START_TEST(document_shows_what_would_be_sent_and_leaves_no_trace)
{
    struct world w;
    struct program_result result;
    installed_world(&w, 10);
    rowferry_run(&result, w.config, "document", "7", NULL);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    expect_text(result.out, "{\"index\":{\"_id\":\"7\",\"version\":");
    expect_text(result.out, "\"version_type\":\"external\"}}\n{\"source_id\":\"7\",");
    program_result_release(&result);
    rowferry_run(&result, w.config, "document", "--pretty", "7", NULL);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    expect_text(result.out, "{\n  \"index\": {\n    \"_id\": \"7\",\n    \"version\": ");
    expect_text(result.out, "\n  }\n}\n{\n  \"source_id\": \"7\",\n");
    program_result_release(&result);
    rowferry_run(&result, w.config, "document", "7", "99", NULL);
    ck_assert_int_eq(result.exit_code, 1);
    expect_text(result.out, "\"_id\":\"7\"");
    expect_text(result.err, "no row with key \"99\"");
    program_result_release(&result);
    ck_assert_int_eq(sql_int(w.conn, "select count(*) from rowferry.consumer"), 0);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("integration/cli/commands", check_passes_over_all_that_a_sync_needs_and_changes_nothing,
           check_shows_every_line_although_both_servers_are_away,
           check_as_json_is_an_object_per_line_with_a_remedy, sync_tells_people_what_it_did,
           a_server_that_is_away_ends_with_6_and_a_json_object,
           a_second_sync_is_told_who_holds_the_pipeline,
           an_interrupted_sync_ends_well_and_the_next_one_goes_on,
           status_counts_what_waits_and_works_with_both_servers_away,
           a_recommended_command_repeats_the_file, status_says_equal_where_nothing_waits,
           status_says_when_the_index_was_reconciled, status_names_the_reason_of_a_run_that_failed,
           status_watched_without_a_terminal_is_lines_of_json_until_it_is_interrupted,
           status_shows_the_limits_of_a_holder_while_it_works,
           open_dead_letters_end_with_3_unless_they_are_said_to_be_well,
           document_shows_what_would_be_sent_and_leaves_no_trace)
