/* SPDX-License-Identifier: Apache-2.0 */
/* A reindex that is interrupted, killed or aborted. */
#include "generations.h"
#include "rebuilds.h"

START_TEST(the_live_index_is_kept_up_to_date_meanwhile)
{
    struct world w;
    struct program p;
    struct program_result result;
    synced_and_slow(&w);
    start_reindex(&w, &p);
    sql_exec(w.conn, "update articles set title = 'meanwhile' where source_id = 7; "
                     "delete from articles where source_id = 9");
    await_title(&w, 7, "meanwhile");
    expect_live(&w, "-1");
    service_is_fast(&w);
    finish(&p, 0, &result);
    expect_text(result.out, "articles: rebuilt as shop-articles-");
    expect_text(result.out, "checked 999 of 999");
    program_result_release(&result);
    expect_live(&w, "-2");
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

static void interrupt(struct world *w, int number, int exit_code)
{
    struct program p;
    struct program_result result;
    start_reindex(w, &p);
    program_signal(&p, number);
    finish(&p, exit_code, &result);
    if (number == SIGINT) {
        expect_text(result.out,
                    "articles: stopped; rowferry reindex articles continues it, --abort "
                    "removes it\n");
    }
    program_result_release(&result);
    service_is_fast(w);
    expect_status(w, "  rebuild       is at ");
}

START_TEST(what_was_interrupted_is_gone_on_with)
{
    struct world w;
    struct program_result result;
    synced_and_slow(&w);
    interrupt(&w, SIGINT, 0);
    sql_exec(w.conn, "update articles set title = 'after' where source_id < 20");
    reindex(&w, 0, &result, NULL, NULL);
    expect_text(result.err, "event=load_resumed pipeline=articles");
    program_result_release(&result);
    expect_live(&w, "-2");
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(a_sync_goes_on_with_one_that_was_killed)
{
    struct world w;
    struct program_result result;
    synced_and_slow(&w);
    interrupt(&w, SIGKILL, 137);
    sql_exec(w.conn, "update articles set title = 'after' where source_id < 20");
    rowferry_run(&result, w.config, "sync", NULL);
    ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
    expect_text(result.out, "articles: rebuilt as shop-articles-");
    program_result_release(&result);
    expect_live(&w, "-2");
    world_expect_equal(&w);
    expect_status(&w, "  former        shop-articles-");
    world_stop(&w);
}
END_TEST

START_TEST(a_run_goes_on_with_one_that_was_killed)
{
    struct world w;
    struct program p;
    struct program_result result;
    synced_and_slow(&w);
    interrupt(&w, SIGKILL, 137);
    rowferry_start(&p, w.config, "run", NULL);
    program_await(&p, "event=rebuilt pipeline=articles", WAIT_MS);
    sql_exec(w.conn, "update articles set title = 'after' where source_id = 20");
    await_title(&w, 20, "after");
    expect_live(&w, "-2");
    world_expect_equal(&w);
    program_signal(&p, SIGTERM);
    finish(&p, 0, &result);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(with_a_changed_field_type_each_index_is_written_as_it_is_built)
{
    struct world w;
    struct program p;
    struct program_result result;
    synced_and_slow(&w);
    world_configure(&w, OTHER_PROPERTIES, SLOW_LIMITS);
    interrupt(&w, SIGKILL, 137);
    service_is_slow(&w);
    start_reindex(&w, &p);
    sql_exec(w.conn, "update articles set title = 'meanwhile' where source_id = 20");
    await_title(&w, 20, "meanwhile");
    expect_live(&w, "-1");
    service_is_fast(&w);
    finish(&p, 0, &result);
    program_result_release(&result);
    expect_live(&w, "-2");
    struct json_object *mapping =
        reply_json(200, "GET", w.service.url, "/shop-articles/_mapping", NULL, AUTH);
    expect_text(json_object_to_json_string_ext(mapping, JSON_C_TO_STRING_PLAIN),
                "\"title\":{\"type\":\"keyword\"}");
    json_object_put(mapping);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(an_abort_removes_what_was_built)
{
    struct world w;
    struct program_result result;
    synced_and_slow(&w);
    interrupt(&w, SIGINT, 0); /* a bulk request in flight would recreate the index */
    char *next = generations_next(&w, "shop-articles");
    reindex(&w, 0, &result, "--abort", NULL);
    expect_text(result.out, "articles: aborted, ");
    expect_text(result.out, next);
    program_result_release(&result);
    ck_assert_int_eq(index_status(&w, next), 404);
    expect_live(&w, "-1");
    world_sync(&w, 0, &result);
    ck_assert(strstr(result.out, "rebuilt") == NULL);
    program_result_release(&result);
    world_expect_equal(&w);
    free(next);
    world_stop(&w);
}
END_TEST

START_TEST(status_tells_of_it_where_no_server_answers)
{
    struct world w;
    struct program_result result;
    synced_and_slow(&w);
    interrupt(&w, SIGKILL, 137);
    devsearch_stop(&w.service);
    expect_status(&w, "rowferry reindex articles continues it, --abort removes it");
    expect_status(&w, " reindex: was killed, or the machine failed\n");
    rowferry_run(&result, w.config, "status", "--json", NULL);
    ck_assert_int_eq(result.exit_code, 0);
    expect_text(result.out, "\"rebuild\":{\"kind\":\"reindex\",\"generation\":\"shop-articles-");
    program_result_release(&result);
    w.service = (struct devsearch){0};
    devsearch_start(&w.service, (const char *const[]){NULL});
    world_stop(&w);
}
END_TEST

SUITE_MAIN("reindex/interrupted", the_live_index_is_kept_up_to_date_meanwhile,
           what_was_interrupted_is_gone_on_with, a_sync_goes_on_with_one_that_was_killed,
           a_run_goes_on_with_one_that_was_killed,
           with_a_changed_field_type_each_index_is_written_as_it_is_built,
           an_abort_removes_what_was_built, status_tells_of_it_where_no_server_answers)
