/* SPDX-License-Identifier: Apache-2.0 */
/* Never too many rejections: a wrong mapping stops the sync, a few odd rows do not. */
#include <stdio.h>
#include <string.h>

#include "http.h"
#include "sql.h"
#include "suite.h"
#include "world.h"

static void start(struct world *w, long rows, const char *odd)
{
    world_start(w, rows, NULL);
    world_configure(w,
                    "\"title\":{\"type\":\"long\"},\"price\":{\"type\":\"double\"},"
                    "\"tags\":{\"type\":\"keyword\"},\"extra\":{\"type\":\"object\","
                    "\"enabled\":false},\"published\":{\"type\":\"boolean\"},"
                    "\"updated_at\":{\"type\":\"date\"}",
                    "\"batch_operations\": 50");
    sql_exec(w->conn, "update articles set title = source_id");
    sql_exec(w->conn, "update articles set title = 'words' where %s", odd);
    world_install(w);
}

static int64_t run(struct world *w, int exit_code, const char *option, const char *member)
{
    struct program_result result;
    rowferry_run(&result, w->config, "sync", "--json", option, NULL);
    ck_assert_msg(result.exit_code == exit_code, "exit %d: %s", result.exit_code, result.err);
    if (exit_code == 1) {
        expect_text(result.err, "the guard stopped the pipeline: of the last ");
        expect_text(result.err, " were refused for one reason: mapper_parsing_exception of field "
                                "\"title\"");
        expect_text(result.err, "--allow-rejections articles");
    }
    int64_t value = program_json_int(&result, member);
    program_result_release(&result);
    return value;
}

static void status_says(struct world *w, const char *words, bool wanted)
{
    struct program_result result;
    rowferry_run(&result, w->config, "status", NULL);
    ck_assert_msg((strstr(result.out, words) != NULL) == wanted, "%s", result.out);
    program_result_release(&result);
}

START_TEST(a_mapping_that_refuses_a_tenth_of_a_first_load_stops_it)
{
    struct world w;
    start(&w, 5000, "source_id % 10 = 0");
    ck_assert_int_le(run(&w, 1, NULL, "dead_letters"), 100);
    ck_assert_int_le(run(&w, 1, NULL, "dead_letters"), 100);
    status_says(&w,
                " operations refused for one reason: mapper_parsing_exception of field "
                "\"title\"\n",
                true);
    status_says(&w, "  next          correct mapping or rows and run rowferry sync articles, or",
                true);
    sql_exec(w.conn, "update articles set title = source_id where title = 'words'");
    ck_assert_int_eq(run(&w, 0, NULL, "dead_letters"), 0);
    world_expect_equal(&w);
    status_says(&w, "operations refused for one reason", false);
    world_stop(&w);
}
END_TEST

START_TEST(a_wrong_mapping_of_a_large_table_is_noticed_early)
{
    struct world w;
    struct program_result result;
    start(&w, 50000, "true");
    rowferry_run(&result, w.config, "sync", "--json", NULL);
    ck_assert_int_eq(result.exit_code, 1);
    ck_assert_int_le(program_json_int(&result, "dead_letters"), 100);
    ck_assert_int_le(program_json_int(&result, "rejected"), 3000);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(changes_that_are_refused_stop_and_leave_the_index_as_it_was)
{
    struct world w;
    start(&w, 3000, "false");
    run(&w, 0, NULL, "upserts");
    sql_exec(w.conn, "update articles set title = 'words' where source_id <= 900");
    ck_assert_int_le(run(&w, 1, NULL, "dead_letters"), 100);
    ck_assert_int_le(run(&w, 1, NULL, "dead_letters"), 100);
    sql_exec(w.conn, "update articles set title = source_id where source_id <= 900");
    ck_assert_int_eq(run(&w, 0, NULL, "dead_letters"), 0);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(dead_letters_in_number_are_permitted_once_for_the_reason_that_was_named)
{
    struct world w;
    struct program_result result;
    start(&w, 2000, "source_id % 4 = 0");
    run(&w, 1, "--allow-rejections", "rejected"); /* nothing was reported before */
    ck_assert_int_eq(run(&w, 3, "--allow-rejections", "dead_letters"), 500);
    status_says(&w, "operations refused for one reason", false);
    rowferry_run(&result, w.config, "deadletter", "retry", "--json", NULL); /* a request */
    ck_assert_int_eq(result.exit_code, 3);
    ck_assert_int_eq(program_json_int(&result, "rejected"), 500);
    program_result_release(&result);
    sql_exec(w.conn, "update articles set title = 'others' where source_id %% 4 = 1");
    ck_assert_int_le(run(&w, 1, NULL, "dead_letters"), 600);
    sql_exec(w.conn, "update articles set title = source_id");
    ck_assert_int_eq(run(&w, 0, NULL, "dead_letters"), 0);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(two_hundred_odd_rows_of_a_hundred_thousand_are_dead_letters)
{
    struct world w;
    start(&w, 100000, "source_id <= 200");
    ck_assert_int_eq(run(&w, 3, NULL, "dead_letters"), 200);
    world_stop(&w);
}
END_TEST

START_TEST(a_service_that_refuses_every_request_stops)
{
    struct world w;
    struct program_result result;
    world_start(&w, 3000, NULL);
    world_install(&w);
    world_fault(&w, "{\"status\": 400, \"count\": 100000, \"path\": \"/_bulk\"}");
    rowferry_run(&result, w.config, "sync", "--json", NULL);
    ck_assert_msg(result.exit_code == 1, "exit %d: %s", result.exit_code, result.err);
    expect_text(result.err, "were refused for one reason");
    ck_assert_int_le(program_json_int(&result, "dead_letters"), 100);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("integration/rejections", a_mapping_that_refuses_a_tenth_of_a_first_load_stops_it,
           a_wrong_mapping_of_a_large_table_is_noticed_early,
           changes_that_are_refused_stop_and_leave_the_index_as_it_was,
           dead_letters_in_number_are_permitted_once_for_the_reason_that_was_named,
           two_hundred_odd_rows_of_a_hundred_thousand_are_dead_letters,
           a_service_that_refuses_every_request_stops)
