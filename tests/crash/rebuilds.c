/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that must hold after a rebuild was killed. */
#include "rebuilds.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generations.h"
#include "sql.h"

#define GENERATIONS 2
#define REFRESH "7s"
#define REPLICAS "2"
#define SYNCS_TO_SETTLE 4 /* each lets the source drop one consumer */

void rebuilds_world(struct world *w, long rows)
{
    struct program_result result;
    crash_world(w, rows);
    w->to = "\"settings\": {\"index\": {\"refresh_interval\": \"" REFRESH
            "\", \"number_of_replicas\": " REPLICAS ", \"gc_deletes\": \"1s\"}}";
    crash_configure(w);
    world_sync(w, 0, &result);
    program_result_release(&result);
    rebuilds_run(w, NULL);
    sql_exec(w->conn, "create sequence fresh start 10000000");
}

void rebuilds_change(const struct world *w, int n)
{
    sql_exec(w->conn,
             "update articles set title = 'change %d' where source_id %% 40 = %d;"
             "delete from articles where source_id %% 300 = %d;"
             "update articles set source_id = nextval('fresh') where source_id %% 300 = %d;"
             "insert into articles (source_id, title) "
             "select nextval('fresh'), 'new' from generate_series(1, 4)",
             n, n % 40, n % 300, (n + 150) % 300);
}

void rebuilds_run(const struct world *w, const char *word)
{
    rowferry_expect(0, w->config, "reindex", word, NULL);
}

bool rebuilds_underway(const struct world *w)
{
    sqlite3 *state;
    sqlite3_stmt *row;
    char *path = scratch_path(w->dir, "state.db");
    ck_assert_int_eq(sqlite3_open_v2(path, &state, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_busy_timeout(state, WAIT_MS), SQLITE_OK);
    static const char sql[] =
        "select (select count(*) from rebuild), (select count(*) from pipeline)";
    ck_assert_int_eq(sqlite3_prepare_v2(state, sql, -1, &row, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(row), SQLITE_ROW);
    int wishes = sqlite3_column_int(row, 0);
    int pipelines = sqlite3_column_int(row, 1);
    ck_assert_msg(pipelines == 1 + wishes, "%d pipelines, %d rebuilds", pipelines, wishes);
    sqlite3_finalize(row);
    ck_assert_int_eq(sqlite3_close(state), SQLITE_OK);
    free(path);
    return wishes > 0;
}

/* Expects the consumers of the live generation and of the one that was live or built before. */
static void expect_consumers(struct world *w)
{
    struct program_result result;
    struct generations g;
    int64_t count = 0;
    for (int i = 0; i < SYNCS_TO_SETTLE; i++) {
        world_sync(w, 0, &result);
        program_result_release(&result);
    }
    char *live = generations_live(w, "shop-articles");
    generations_list(w, "shop-articles", &g);
    for (size_t i = 0; i < g.count; i++) {
        int64_t has = sql_int(w->conn,
                              "select count(*) from rowferry.consumer where name like "
                              "'articles/%s/%%'",
                              g.names[i]);
        ck_assert_msg(has == 1 || (has == 0 && strcmp(g.names[i], live) != 0),
                      "%lld consumers of \"%s\"", (long long)has, g.names[i]);
        count += has;
    }
    char *all = sql_text(w->conn, "select string_agg(name, ', ') from rowferry.consumer");
    int64_t others = sql_int(w->conn, "select count(*) from rowferry.consumer") - count;
    ck_assert_msg(others <= GENERATIONS - count, "consumers %s; live is %s", all, live);
    generations_release(&g);
    free(live);
    free(all);
}

void rebuilds_recover(struct world *w, const char *killed, int n)
{
    static const char *const words[] = {"again", "sync", "--abort", "sync, --abort"};
    const char *next = words[n % 4];
    printf("  then %s\n", next);
    fflush(stdout);
    if (strncmp(next, "sync", 4) == 0) {
        struct program_result result;
        world_sync(w, 0, &result);
        program_result_release(&result);
        world_expect_equal(w);
        next = strcmp(next, "sync") == 0 ? "again" : "--abort";
    }
    if (strcmp(next, "--abort") == 0) {
        rebuilds_run(w, "--abort");
    } else if (rebuilds_underway(w)) {
        rebuilds_run(w, killed != NULL && strcmp(killed, "--abort") == 0 ? NULL : killed);
    }
    struct program_result result;
    ck_assert(!rebuilds_underway(w));
    world_sync(w, 0, &result);
    program_result_release(&result);
    world_expect_equal(w);
    generations_expect(w, GENERATIONS, REFRESH, REPLICAS);
    expect_consumers(w);
}
