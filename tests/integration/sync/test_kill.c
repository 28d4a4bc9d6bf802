/* SPDX-License-Identifier: Apache-2.0 */
/* kill -9 at any moment: the next sync goes on and the index equals the table. */
#include <signal.h>

#include "http.h"
#include "sql.h"
#include "suite.h"
#include "wait.h"
#include "world.h"

#define ROWS 10000
#define PROPERTIES                                                                                 \
    "\"source_id\": {\"type\": \"keyword\"}, \"title\": {\"type\": \"text\"}, "                    \
    "\"price\": {\"type\": \"double\"}, \"tags\": {\"type\": \"keyword\"}, "                       \
    "\"extra\": {\"type\": \"object\", \"dynamic\": true}, "                                       \
    "\"published\": {\"type\": \"boolean\"}, \"updated_at\": {\"type\": \"date\"}"

static int64_t operations_taken(const struct world *w)
{
    struct json_object *stats =
        reply_json(200, "GET", w->service.url, "/_devsearch/stats", NULL, "ApiKey " WORLD_API_KEY);
    int64_t taken = json_object_get_int64(json_object_object_get(stats, "bulk_operations"));
    json_object_put(stats);
    return taken;
}

/* A table that is copied in several pages, and a service that takes small requests slowly. */
static void start(struct world *w)
{
    world_start(w, ROWS, NULL);
    sql_exec(w->conn, "alter table articles set (fillfactor = 10)");
    sql_exec(w->conn, "vacuum full articles");
    world_configure(w, PROPERTIES, "\"batch_operations\": 200");
    world_install(w);
    world_fault(w, "{\"delay_ms\":20}");
}

/* Kills a sync when the service has taken so many more operations. */
static void kill_after(const struct world *w, int64_t operations)
{
    struct program program;
    struct program_result result;
    struct deadline deadline = deadline_after(60000);
    int64_t until = operations_taken(w) + operations;
    rowferry_start(&program, w->config, "sync", NULL);
    while (operations_taken(w) < until && program_running(&program)) {
        ck_assert(deadline_wait(&deadline));
    }
    program_signal(&program, SIGKILL);
    program_finish(&program, 5000, &result);
    ck_assert_msg(result.exit_code == 128 + SIGKILL, "it ended before: %s", result.err);
    program_result_release(&result);
}

START_TEST(a_first_load_that_is_killed_goes_on_where_it_stood)
{
    struct world w;
    struct program_result result;
    start(&w);
    kill_after(&w, ROWS * 8 / 10);
    sql_exec(w.conn, "update articles set title = 'changed' where source_id %% 100 = 0;"
                     "delete from articles where source_id %% 1000 = 1");
    world_sync(&w, 0, &result);
    int64_t again = program_json_int(&result, "operations");
    program_result_release(&result);
    world_expect_equal(&w);
    ck_assert_msg(again < ROWS * 9 / 10, "%lld operations: it began from the beginning",
                  (long long)again);
    world_stop(&w);
}
END_TEST

START_TEST(killed_again_and_again_it_still_gets_there)
{
    static const int64_t moments[] = {1, 300, 4000, 1, 1500};
    struct world w;
    struct program_result result;
    start(&w);
    for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
        kill_after(&w, moments[i]);
        sql_exec(w.conn, "update articles set title = 'changed %d' where source_id %% 50 = %d",
                 (int)i, (int)i);
    }
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(a_later_sync_that_is_killed_loses_no_change)
{
    struct world w;
    struct program_result result;
    start(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    for (int i = 0; i < 3; i++) {
        sql_exec(w.conn,
                 "update articles set title = 'changed ' || %d where source_id %% 2 = 0;"
                 "delete from articles where source_id %% 1000 = %d",
                 i, 2 * i + 1);
        kill_after(&w, 1 + i * 1000);
    }
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("sync/kill", a_first_load_that_is_killed_goes_on_where_it_stood,
           killed_again_and_again_it_still_gets_there, a_later_sync_that_is_killed_loses_no_change)
