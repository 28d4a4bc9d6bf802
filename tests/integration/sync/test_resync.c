/* SPDX-License-Identifier: Apache-2.0 */
/* resync: selects rows by a condition or by key. */
#include <signal.h>
#include <string.h>

#include "http.h"
#include "sql.h"
#include "suite.h"
#include "world.h"

#define ROWS 3000

/* Makes the index equal to the table, except row 7, whose title is not a number. */
static void start(struct world *w, long rows)
{
    struct program_result result;
    world_start(w, rows, NULL);
    world_configure(w, "\"title\":{\"type\":\"long\"}",
                    "\"batch_operations\": 50, \"in_flight\": 4");
    sql_exec(w->conn, "update articles set title = source_id");
    sql_exec(w->conn, "update articles set title = 'words' where source_id = 7");
    world_install(w);
    world_sync(w, 3, &result);
    program_result_release(&result);
}

START_TEST(rows_of_a_condition_are_sent_again)
{
    struct world w;
    struct program_result result;
    start(&w, 2600);
    rowferry_run(&result, w.config, "resync", "--where", "source_id > 100 -- the newer ones", NULL);
    ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
    expect_text(result.out, "articles: 2,500 operations (2,500 upserts, 0 deletes), 0 rejected");
    program_result_release(&result);
    rowferry_run(&result, w.config, "resync", "--where", "title = 'nobody'", NULL);
    ck_assert_int_eq(result.exit_code, 0);
    expect_text(result.out, "articles: nothing to do");
    program_result_release(&result);
    rowferry_run(&result, w.config, "resync", "--where", "source_id >", NULL);
    ck_assert_int_eq(result.exit_code, 1);
    expect_text(result.err, "option \"--where\": ");
    expect_text(result.err, "syntax error");
    program_result_release(&result);
    sql_exec(w.conn, "create function meddle() returns boolean language sql as "
                     "'delete from public.articles; select true'");
    rowferry_run(&result, w.config, "resync", "--where", "public.meddle()", NULL);
    ck_assert_int_eq(result.exit_code, 1);
    expect_text(result.err, "read-only transaction");
    program_result_release(&result);
    rowferry_expect(2, w.config, "resync", NULL);
    rowferry_expect(2, w.config, "resync", "--where", "true", "7", NULL);
    world_stop(&w);
}
END_TEST

START_TEST(a_key_that_is_written_in_another_way_deletes_nothing)
{
    struct world w;
    struct program_result result;
    start(&w, 20);
    static const char *const ids[] = {" 5", "05", "+5"};
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        rowferry_run(&result, w.config, "resync", ids[i], NULL);
        ck_assert_int_eq(result.exit_code, 1);
        expect_text(result.err, "is not how the key \"5\" is written");
        ck_assert_str_eq(result.out, "");
        program_result_release(&result);
    }
    rowferry_run(&result, w.config, "resync", "five", NULL);
    ck_assert_int_eq(result.exit_code, 1);
    expect_text(result.err, "can have the key \"five\"");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(a_condition_is_asked_of_a_living_holder_too)
{
    struct world w;
    struct program holder, asker;
    struct program_result result;
    start(&w, ROWS);
    sql_exec(w.conn, "update articles set title = source_id + 1 where source_id <> 7");
    world_hold(&w, "_bulk");
    rowferry_start(&holder, w.config, "sync", NULL);
    world_await_held(&w);
    rowferry_start(&asker, w.config, "resync", "--json", "--where", "source_id between 8 and 1207",
                   NULL);
    program_await(&asker, "request_filed", WAIT_MS);
    world_unfault(&w);
    program_finish(&asker, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
    ck_assert_int_eq(program_json_int(&result, "upserts"), 1200);
    program_result_release(&result);
    program_finish(&holder, WAIT_MS, &result);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

/* The condition's rows are requested in parts, so a large resync delays nothing for long. */
START_TEST(a_resync_that_is_killed_leaves_one_part_at_most_to_the_next_holder)
{
    struct world w;
    struct program holder, asker;
    struct program_result result;
    world_start(&w, 11500, NULL);
    world_install(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    sql_exec(w.conn, "update articles set title = 'new' where source_id <= 3000");
    world_hold(&w, "_bulk");
    rowferry_start(&holder, w.config, "sync", NULL);
    world_await_held(&w);
    rowferry_start(&asker, w.config, "resync", "--where", "true", NULL);
    program_await(&asker, "request_filed", WAIT_MS);
    program_signal(&asker, SIGKILL);
    program_finish(&asker, WAIT_MS, &result);
    expect_text(result.err, "keys=10000 ");
    program_result_release(&result);
    world_unfault(&w);
    program_finish(&holder, WAIT_MS, &result);
    program_result_release(&result);
    rowferry_run(&result, w.config, "sync", NULL);
    ck_assert_int_eq(result.exit_code, 0);
    program_result_release(&result);
    rowferry_run(&result, w.config, "sync", NULL);
    expect_text(result.out, "articles: nothing to do");
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("sync/resync", rows_of_a_condition_are_sent_again,
           a_key_that_is_written_in_another_way_deletes_nothing,
           a_condition_is_asked_of_a_living_holder_too,
           a_resync_that_is_killed_leaves_one_part_at_most_to_the_next_holder)
