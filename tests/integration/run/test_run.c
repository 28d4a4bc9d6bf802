/* SPDX-License-Identifier: Apache-2.0 */
/* run: changes arrive, signals end it properly, and pipelines are independent of each other's
 * failures. */
#include "runs.h"

START_TEST(it_builds_the_index_and_then_sends_what_changes)
{
    struct world w;
    struct program p;
    world_start(&w, 500, NULL);
    world_install(&w);
    start_run(&w, &p);
    world_expect_equal(&w);
    set_title(&w, 5, "changed");
    await_title(&w, 5, "changed");
    sql_exec(w.conn, "insert into articles (source_id, title) values (9001, 'new');"
                     "delete from articles where source_id = 7");
    await_title(&w, 9001, "new");
    set_title(&w, 5, "once more");
    await_title(&w, 5, "once more");
    world_await_settled(&w);
    world_expect_equal(&w);
    end_run(&p);
    world_stop(&w);
}
END_TEST

START_TEST(nothing_is_left_to_be_sent_after_an_interrupt)
{
    struct world w;
    struct program p;
    struct program_result result;
    world_start(&w, 3000, NULL);
    world_install(&w);
    start_run(&w, &p);
    sql_exec(w.conn, "update articles set title = 'all' where source_id <> 3000");
    set_title(&w, 3000, "last");
    world_await_settled(&w);
    stop_run(&p, SIGINT, 0, &result);
    expect_text(result.err, "event=stopping signal=INT");
    program_result_release(&result);
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "operations"), 0);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(what_is_in_flight_is_settled_before_it_leaves)
{
    struct world w;
    struct program p;
    struct program_result result;
    world_start(&w, 200, NULL);
    world_install(&w);
    start_run(&w, &p);
    world_hold(&w, "_bulk");
    set_title(&w, 5, "slow");
    world_await_held(&w);
    program_signal(&p, SIGTERM);
    program_await(&p, "event=stopping", WAIT_MS);
    world_unfault(&w);
    program_finish(&p, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "%d: %s", result.exit_code, result.err);
    program_result_release(&result);
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "operations"), 0);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(a_second_signal_ends_it_at_once)
{
    struct world w;
    struct program p;
    struct program_result result;
    world_start(&w, 200, NULL);
    world_install(&w);
    start_run(&w, &p);
    world_hold(&w, "_bulk");
    set_title(&w, 5, "slow");
    world_await_held(&w);
    program_signal(&p, SIGTERM);
    program_await(&p, "event=stopping", WAIT_MS);
    program_signal(&p, SIGTERM);
    program_finish(&p, 30000, &result); /* the request is delayed for longer */
    ck_assert_msg(result.exit_code == 128 + SIGTERM, "%d: %s", result.exit_code, result.err);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(a_second_holder_ends_with_5_and_names_the_first)
{
    struct world w;
    struct program p;
    struct program_result result;
    char holder[64];
    char listen[32];
    snprintf(listen, sizeof(listen), "127.0.0.1:%d", free_port());
    ck_assert_int_eq(setenv("ROWFERRY_LISTEN", listen, 1), 0);
    world_start(&w, 100, NULL);
    world_install(&w);
    start_run(&w, &p);
    snprintf(holder, sizeof(holder), "process %d (\"run\" since", (int)p.pid);
    static const char *const commands[] = {"sync", "run", "run"};
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(i < 2 ? 0 : unsetenv("ROWFERRY_LISTEN"), 0);
        rowferry_run(&result, w.config, commands[i], NULL);
        ck_assert_msg(result.exit_code == 5, "%s: %d", commands[i], result.exit_code);
        expect_text(result.err, holder);
        program_result_release(&result);
    }
    set_title(&w, 5, "unmoved");
    await_title(&w, 5, "unmoved");
    end_run(&p);
    world_stop(&w);
}
END_TEST

START_TEST(requests_are_carried_out)
{
    struct world w;
    struct program p;
    struct program_result result;
    world_start(&w, 100, NULL);
    world_configure(&w, "\"title\":{\"type\":\"long\"}", "");
    sql_exec(w.conn, "update articles set title = source_id;"
                     "update articles set title = 'words' where source_id in (7, 8)");
    world_install(&w);
    start_run(&w, &p);
    rowferry_run(&result, w.config, "resync", "1", "2", NULL);
    ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
    expect_text(result.out, "2 operations (2 upserts, 0 deletes)");
    program_result_release(&result);
    rowferry_run(&result, w.config, "deadletter", "discard", "--yes", "8", NULL);
    ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
    program_result_release(&result);
    rowferry_run(&result, w.config, "deadletter", "retry", NULL);
    expect_text(result.out, "1 rejected");
    program_result_release(&result);
    stop_run(&p, SIGTERM, 0, &result);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

/* Configures pipelines "articles" and "others" on two tables. */
static void configure_two(struct world *w)
{
    char *text = NULL;
    ck_assert_int_gt(
        asprintf(&text,
                 "{\"accept_admin\": true, \"source\": {\"uri\": \"%s\"}, \"service\": {\"url\": "
                 "\"%s\", \"auth\": "
                 "{\"api_key\": {\"file\": \"%s/key\"}}}, \"state\": {\"path\": \"%s/state.db\"},\n"
                 "\"pipelines\": [{\"name\": \"articles\", \"from\": {\"table\": "
                 "\"public.articles\"}, \"to\": {\"index\": \"shop-articles\", \"mappings\": "
                 "{\"properties\": {%s}}}},\n"
                 "{\"name\": \"others\", \"from\": {\"table\": \"public.others\"}, \"to\": "
                 "{\"index\": \"shop-others\", \"mappings\": {\"properties\": {\"title\": "
                 "{\"type\": \"text\"}}}}}]}",
                 w->uri, w->service.url, w->dir, w->dir, RUNS_PROPERTIES),
        0);
    free(w->config);
    w->config = scratch_write(w->dir, "two.json", text);
    free(text);
}

static void start_two(struct world *w)
{
    world_start(w, 100, NULL);
    sql_exec(w->conn, "create table others (id bigint primary key, title text);"
                      "insert into others values (1, 'one')");
    configure_two(w);
    world_install(w);
}

START_TEST(a_fault_of_one_pipeline_leaves_the_others_alone)
{
    struct world w;
    struct program p;
    struct program_result result;
    start_two(&w);
    rowferry_start(&p, w.config, "run", NULL);
    await_title_in(&w, "shop-others", 1, "one", WAIT_MS);
    await_title(&w, 5, "title 5");
    sql_exec(w.conn, "alter table others drop column title");
    sql_exec(w.conn, "insert into others values (2)");
    program_await(&p, "event=stopped pipeline=others", WAIT_MS);
    set_title(&w, 5, "alive");
    await_title(&w, 5, "alive");
    await_status(&w, "others", "stopped"); /* logged first, then recorded */
    await_status(&w, "articles", "following");
    stop_run(&p, SIGTERM, 1, &result);
    expect_text(result.err, "title");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(a_stopped_pipeline_is_tried_again_on_request)
{
    struct world w;
    struct program p;
    struct program_result result;
    start_two(&w);
    sql_exec(w.conn, "alter table others rename to gone");
    rowferry_start(&p, w.config, "run", "others", NULL);
    program_await(&p, "event=stopped pipeline=others", WAIT_MS);
    await_status(&w, "others", "stopped");
    rowferry_run(&result, w.config, "sync", "others", NULL);
    ck_assert_msg(result.exit_code == 1, "%d: %s", result.exit_code, result.err);
    expect_text(result.err, "others");
    program_result_release(&result);
    sql_exec(w.conn, "alter table gone rename to others");
    rowferry_run(&result, w.config, "resume", "others", NULL);
    ck_assert_msg(result.exit_code == 0, "%d: %s", result.exit_code, result.err);
    expect_text(result.out, "others: is tried again now");
    program_result_release(&result);
    await_title_in(&w, "shop-others", 1, "one", WAIT_MS);
    program_await(&p, "event=goes_on pipeline=others", WAIT_MS);
    rowferry_run(&result, w.config, "resume", "others", NULL);
    expect_text(result.out, "others: was not paused");
    program_result_release(&result);
    stop_run(&p, SIGTERM, 0, &result);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(status_says_as_of_when_it_was_equal_also_after_the_run)
{
    struct world w;
    struct program p;
    struct program_result result;
    world_start(&w, 100, NULL);
    world_install(&w);
    start_run(&w, &p);
    set_title(&w, 5, "sent");
    await_title(&w, 5, "sent");
    world_hold(&w, "_bulk");
    set_title(&w, 5, "not yet");
    await_status(&w, "articles",
                 " at most"); /* the time is recorded after the sent changes are settled */
    program_signal(&p, SIGKILL);
    program_finish(&p, WAIT_MS, &result);
    program_result_release(&result);
    rowferry_run(&result, w.config, "status", "articles", NULL);
    expect_text(result.out, "state         behind");
    ck_assert_msg(strstr(result.out, "equal as of   not known") == NULL, "%s", result.out);
    expect_text(result.out, " at most");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

/* Only the request can wake it: by itself it checks the state file twice a minute, so eight
 * requests in sequence would take more than three minutes. */
START_TEST(a_run_that_rests_hears_requests_at_once)
{
    struct world w;
    struct program p;
    struct program_result result;
    world_start(&w, 100, NULL);
    world_configure(&w, RUNS_PROPERTIES, "\"poll_max\": \"1m\"");
    world_install(&w);
    start_run(&w, &p);
    await_status(&w, "articles", "following");
    struct deadline deadline = deadline_after(150000);
    for (int i = 0; i < 8; i++) {
        rowferry_run(&result, w.config, "resync", "1", NULL);
        ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
        program_result_release(&result);
    }
    ck_assert_msg(deadline_wait(&deadline), "eight requests took more than 150 s");
    end_run(&p);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("run", it_builds_the_index_and_then_sends_what_changes,
           nothing_is_left_to_be_sent_after_an_interrupt,
           what_is_in_flight_is_settled_before_it_leaves, a_second_signal_ends_it_at_once,
           a_second_holder_ends_with_5_and_names_the_first, requests_are_carried_out,
           a_fault_of_one_pipeline_leaves_the_others_alone,
           a_stopped_pipeline_is_tried_again_on_request,
           status_says_as_of_when_it_was_equal_also_after_the_run,
           a_run_that_rests_hears_requests_at_once)
