/* SPDX-License-Identifier: Apache-2.0 */
/* The first sync of a table: everything arrives, also what changes meanwhile. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "http.h"
#include "sql.h"
#include "suite.h"
#include "wait.h"
#include "world.h"

START_TEST(first_sync_builds_the_index_and_the_second_sends_nothing)
{
    struct world w;
    struct program_result result;
    world_start(&w, 3000, NULL);
    world_install(&w);
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "operations"), 3000);
    program_result_release(&result);
    world_expect_equal(&w);
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "operations"), 0);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(an_empty_table_becomes_an_empty_index)
{
    struct world w;
    struct program_result result;
    world_start(&w, 0, NULL);
    world_install(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    sql_exec(w.conn, "insert into articles (source_id, title) values (1, 'first')");
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "operations"), 1);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

/* 1,000 updates, 200 deletes and 100 inserts while a load of 20,000 rows is on its way. */
START_TEST(changes_during_the_first_load_arrive)
{
    struct world w;
    struct program program;
    struct program_result result;
    world_start(&w, 20000, NULL);
    world_install(&w);
    world_fault(&w, "{\"delay_ms\":200,\"count\":30}");
    rowferry_start(&program, w.config, "sync", "--json", NULL);
    program_await(&program, "event=sync_started", 30000);
    for (int i = 0; i < 100; i++) {
        sql_exec(w.conn,
                 "update articles set title = 'changed ' || %d where source_id %% 2000 = %d", i, i);
        sql_exec(w.conn, "delete from articles where source_id in (%d, %d)", 5000 + i, 15000 + i);
        sql_exec(w.conn, "insert into articles (source_id, title) values (%d, 'new')", 30000 + i);
    }
    ck_assert_msg(program_running(&program), "the load ended before the changes");
    program_finish(&program, 60000, &result);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    program_result_release(&result);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

static int64_t operations_taken(const struct world *w)
{
    struct json_object *stats =
        reply_json(200, "GET", w->service.url, "/_devsearch/stats", NULL, "ApiKey " WORLD_API_KEY);
    int64_t taken = json_object_get_int64(json_object_object_get(stats, "bulk_operations"));
    json_object_put(stats);
    return taken;
}

START_TEST(an_interrupted_first_load_says_where_it_goes_on)
{
    struct world w;
    struct program program;
    struct program_result result;
    struct deadline deadline = deadline_after(60000);
    world_start(&w, 10000, NULL);
    sql_exec(w.conn, "alter table articles set (fillfactor = 10)");
    sql_exec(w.conn, "vacuum full analyze articles");
    world_configure(&w, "\"title\":{\"type\":\"text\"}",
                    "\"batch_operations\": 200, \"in_flight\": 2");
    world_install(&w);
    world_fault(&w, "{\"delay_ms\":150}");
    rowferry_start(&program, w.config, "sync", NULL);
    while (operations_taken(&w) < 8800) { /* more than the first page of the copy holds */
        ck_assert(deadline_wait(&deadline));
    }
    program_signal(&program, SIGINT);
    program_finish(&program, 10000, &result);
    ck_assert_msg(strstr(result.out, "articles: stopped after ") != NULL, "%s", result.out);
    ck_assert_ptr_null(strstr(result.err, "event=load_resumed"));
    program_result_release(&result);
    world_sync(&w, 0, &result);
    const char *said = strstr(result.err, "event=load_resumed pipeline=articles share=0.");
    ck_assert_msg(said != NULL, "%s", result.err);
    long left = strtol(strstr(said, "rows_left=") + strlen("rows_left="), NULL, 10);
    ck_assert_msg(left > 1000 && left < 9000, "%ld rows left", left);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

/* Nobody sees an index before it is complete. */
START_TEST(the_alias_appears_when_everything_is_there)
{
    struct world w;
    struct program program;
    struct program_result result;
    struct reply reply;
    world_start(&w, 20000, NULL);
    world_install(&w);
    world_fault(&w, "{\"delay_ms\":200,\"count\":20}");
    rowferry_start(&program, w.config, "sync", NULL);
    program_await(&program, "event=sync_started", 30000);
    reply_get(&reply, "GET", w.service.url, "/shop-articles/_count", NULL, "ApiKey " WORLD_API_KEY);
    ck_assert_int_eq(reply.status, 404);
    reply_release(&reply);
    program_finish(&program, 60000, &result);
    ck_assert_int_eq(result.exit_code, 0);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(a_second_sync_at_the_same_time_says_who_holds_it)
{
    struct world w;
    struct program program;
    struct program_result result;
    world_start(&w, 5000, NULL);
    world_install(&w);
    world_fault(&w, "{\"delay_ms\":500,\"count\":10}");
    rowferry_start(&program, w.config, "sync", NULL);
    program_await(&program, "event=sync_started", 30000);
    struct program_result second;
    world_sync(&w, 5, &second);
    char pid[32];
    snprintf(pid, sizeof(pid), "%d", (int)program.pid);
    ck_assert_msg(strstr(second.err, pid) != NULL, "%s", second.err);
    program_result_release(&second);
    program_finish(&program, 60000, &result);
    ck_assert_int_eq(result.exit_code, 0);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("integration/first_load", first_sync_builds_the_index_and_the_second_sends_nothing,
           an_empty_table_becomes_an_empty_index, changes_during_the_first_load_arrive,
           an_interrupted_first_load_says_where_it_goes_on,
           the_alias_appears_when_everything_is_there,
           a_second_sync_at_the_same_time_says_who_holds_it)
