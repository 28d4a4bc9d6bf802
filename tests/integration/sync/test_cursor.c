/* SPDX-License-Identifier: Apache-2.0 */
/* Sync with a cursor column: nothing is installed, and late commits and soft deletes arrive. */
#include <string.h>

#include "http.h"
#include "sql.h"
#include "suite.h"
#include "world.h"

#define FOLLOW "\"capture\": {\"mode\": \"cursor\", \"column\": \"updated_at\"}"

static void following_world(struct world *w, long rows, const char *from)
{
    struct program_result result;
    world_start(w, rows, NULL);
    world_from(w, from);
    world_sync(w, 0, &result);
    ck_assert_int_eq(sql_int(w->conn, "select count(*) from pg_namespace where nspname = "
                                      "'rowferry'"),
                     0);
    program_result_release(&result);
}

static void sync_and_expect_equal(struct world *w)
{
    struct program_result result;
    world_sync(w, 0, &result);
    program_result_release(&result);
    world_expect_equal(w);
}

START_TEST(a_table_is_followed_without_anything_in_the_database)
{
    struct world w;
    struct program_result result;
    following_world(&w, 12000, FOLLOW);
    world_expect_equal(&w);
    sql_exec(w.conn, "update articles set title = 'new', updated_at = now() where source_id <= 50");
    sql_exec(w.conn, "insert into articles (source_id, title, updated_at) "
                     "select i, 'new', now() from generate_series(50001, 50010) i");
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "upserts"), 60);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(a_transaction_that_commits_after_two_syncs_is_not_lost)
{
    struct world w;
    following_world(&w, 100, FOLLOW);
    PGconn *late = sql_open(w.uri);
    sql_exec(late, "begin");
    sql_exec(late, "update articles set title = 'late', updated_at = now() where source_id = 7");
    for (int i = 0; i < 2; i++) {
        struct program_result result;
        sql_exec(w.conn,
                 "update articles set title = 'early %d', updated_at = now() "
                 "where source_id = 8",
                 i);
        world_sync(&w, 0, &result);
        program_result_release(&result);
    }
    sql_exec(late, "commit");
    PQfinish(late);
    sync_and_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(a_row_that_is_deleted_softly_leaves_the_index)
{
    struct world w;
    struct program_result result;
    struct reply reply;
    following_world(&w, 100, "\"where\": \"published\", " FOLLOW);
    sql_exec(w.conn, "update articles set published = false, updated_at = now() "
                     "where source_id in (2, 4)");
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "deletes"), 2);
    program_result_release(&result);
    reply_get(&reply, "POST", w.service.url, "/shop-articles/_refresh", NULL,
              "ApiKey " WORLD_API_KEY);
    reply_release(&reply);
    reply_get(&reply, "GET", w.service.url, "/shop-articles/_count", NULL, "ApiKey " WORLD_API_KEY);
    expect_text(reply.body, "\"count\":48");
    reply_release(&reply);
    world_stop(&w);
}
END_TEST

START_TEST(check_says_what_the_promise_rests_on)
{
    struct world w;
    struct program_result result;
    world_start(&w, 10, NULL);
    world_from(&w, FOLLOW);
    rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
    ck_assert_msg(result.exit_code == 0, "%s", result.out);
    expect_text(result.out, "no index begins with \"updated_at\"");
    expect_text(result.out, "no change is missed");
    expect_text(result.out, "rows that are deleted in the table stay in the index");
    program_result_release(&result);
    sql_exec(w.conn, "alter table articles alter updated_at type timestamp; "
                     "alter table articles alter updated_at drop not null; "
                     "create index on articles (updated_at)");
    rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
    expect_text(result.out, "commits later than from.capture.overlap");
    expect_text(result.out, "is NULL are read by the first load and never again");
    ck_assert_ptr_null(strstr(result.out, "no index begins"));
    program_result_release(&result);
    world_from(&w, "\"capture\": {\"mode\": \"cursor\", \"column\": \"update_at\"}");
    rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
    ck_assert_int_ne(result.exit_code, 0);
    expect_text(result.out, "no column \"update_at\"");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(there_is_nothing_to_install)
{
    struct world w;
    struct program_result result;
    world_start(&w, 10, NULL);
    world_from(&w, FOLLOW);
    rowferry_run(&result, w.config, "source", "install", NULL);
    ck_assert_int_eq(result.exit_code, 0);
    expect_text(result.out, "nothing to install");
    program_result_release(&result);
    ck_assert_int_eq(sql_int(w.conn, "select count(*) from pg_trigger"), 0);
    world_stop(&w);
}
END_TEST

START_TEST(another_capture_is_refused_until_the_index_is_built_anew)
{
    struct world w;
    struct program_result result;
    following_world(&w, 10, "\"where\": \"true\", " FOLLOW);
    world_from(&w, "\"where\": \"true\"");
    world_install(&w);
    world_sync(&w, 1, &result);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(a_table_that_took_the_name_of_the_former_one_is_another)
{
    struct world w;
    struct program_result result;
    following_world(&w, 10, FOLLOW);
    sql_exec(w.conn,
             "alter table articles rename to was; create table articles (like was including "
             "all); insert into articles select * from was where source_id > 3");
    world_sync(&w, 1, &result);
    expect_text(result.err, "was re-created since the load of the index began");
    expect_text(result.err, "rowferry reindex");
    program_result_release(&result);
    rowferry_expect(0, w.config, "reindex", NULL);
    sync_and_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(a_lost_state_file_builds_the_index_anew)
{
    struct world w;
    char path[4096];
    following_world(&w, 10, FOLLOW);
    snprintf(path, sizeof(path), "%s/state.db", w.dir);
    ck_assert_int_eq(remove(path), 0);
    sql_exec(w.conn, "update articles set title = 'new', updated_at = now()");
    sync_and_expect_equal(&w);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("sync/cursor", a_table_is_followed_without_anything_in_the_database,
           a_transaction_that_commits_after_two_syncs_is_not_lost,
           a_row_that_is_deleted_softly_leaves_the_index, check_says_what_the_promise_rests_on,
           there_is_nothing_to_install, another_capture_is_refused_until_the_index_is_built_anew,
           a_table_that_took_the_name_of_the_former_one_is_another,
           a_lost_state_file_builds_the_index_anew)
