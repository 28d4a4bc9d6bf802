/* SPDX-License-Identifier: Apache-2.0 */
/* The change log does not grow with the changes that pass through it: $ROWFERRY_SOAK_S (5) of
 * 5,000 changes a second, on a private server whose autovacuum runs every second. */
#include <signal.h>
#include <stdio.h>

#include "cluster.h"
#include "crash.h"
#include "sql.h"
#include "suite.h"
#include "wait.h"

#define ROWS 5000
#define CHANGED 500 /* per turn */
#define TURN_MS 100
#define WAITING_MOST 50000 /* the reader lags: the log is large but not bloated */
#define PRUNED_MS 120000
#define SLACK_BYTES (8 << 20)

static struct cluster server;

static void server_start(void)
{
    cluster_start(&server, NULL);
    cluster_use(&server);
    PGconn *conn = sql_open(server.uri);
    sql_exec(conn, "alter system set autovacuum_naptime = '1s'");
    sql_exec(conn, "select pg_reload_conf()");
    PQfinish(conn);
}

static void server_stop(void)
{
    cluster_stop(&server);
}

/* Size of the log before and after half of the time. */
struct sizes {
    int64_t early;
    int64_t late;
};

static void measure(struct world *w, int64_t *most)
{
    int64_t bytes = sql_int(w->conn, "select pg_total_relation_size('rowferry.change')");
    *most = bytes > *most ? bytes : *most;
}

static bool reader_is_behind(struct world *w)
{
    return sql_int(w->conn, "select count(*) from (select from rowferry.change limit %d) e",
                   WAITING_MOST) == WAITING_MOST;
}

/* Returns the number of turns. */
static int64_t change(struct world *w, int64_t ms, int64_t *most)
{
    struct deadline end = deadline_after(ms);
    int64_t turns = 0;
    do {
        struct deadline turn = deadline_after(TURN_MS);
        if (turns % 10 == 0 && reader_is_behind(w)) {
            continue;
        }
        sql_exec(w->conn, "update articles set title = 'turn %lld' where source_id %% 10 = %lld",
                 (long long)turns, (long long)(turns % 10));
        measure(w, most);
        turns++;
        while (deadline_wait(&turn)) {
        }
    } while (deadline_wait(&end));
    return turns;
}

static void await_pruned(struct world *w)
{
    struct deadline pruned = deadline_after(PRUNED_MS);
    struct program_result result;
    do {
        ck_assert(deadline_wait(&pruned));
        world_sync(w, 0, &result);
        program_result_release(&result);
    } while (sql_int(w->conn, "select count(*) from rowferry.change") > 0);
}

START_TEST(the_change_log_stays_small)
{
    struct world w;
    struct program run;
    struct program_result result;
    struct sizes sizes = {0};
    int64_t ms = crash_setting("ROWFERRY_SOAK_S", 5) * 1000;
    world_start(&w, ROWS, NULL);
    world_install(&w);
    rowferry_start(&run, w.config, "run", NULL);
    program_await(&run, "event=following", WAIT_MS);
    int64_t turns = change(&w, ms / 2, &sizes.early);
    turns += change(&w, ms / 2, &sizes.late);
    program_signal(&run, SIGTERM);
    program_finish(&run, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    program_result_release(&result);
    printf("soak: %lld changes, %lld a second, log of %lld KiB at most, then of %lld KiB\n",
           (long long)turns * CHANGED, (long long)turns * CHANGED * 1000 / (long long)ms,
           (long long)sizes.early / 1024, (long long)sizes.late / 1024);
    ck_assert_int_le(sizes.late, sizes.early + sizes.early / 4 + SLACK_BYTES);
    await_pruned(&w);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("crash/soak");
    TCase *tcase = tcase_create("soak");
    tcase_set_timeout(tcase, 0);
    tcase_add_unchecked_fixture(tcase, server_start, server_stop);
    tcase_add_test(tcase, the_change_log_stays_small);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
