/* SPDX-License-Identifier: Apache-2.0 */
/* PostgreSQL restarts during a sync: it waits, reconnects, and loses nothing. */
#include "crash.h"

#include <signal.h>
#include <string.h>

#include "cluster.h"
#include "sql.h"
#include "suite.h"
#include "wait.h"

#define ROWS 30000

/* A private cluster, because other tests share the one of $ROWFERRY_TEST_PG. */
static struct cluster cluster;

static void restart(int number)
{
    cluster_kill(&cluster, number);
    cluster_again(&cluster);
}

/* Commits synchronously, because a crash must keep answered commits or the index would be ahead. */
static void open_writer(struct world *w)
{
    PQfinish(w->conn);
    w->conn = sql_open(w->uri);
    sql_exec(w->conn, "set synchronous_commit = on");
}

/* Returns how often the restart was noticed: once. */
static int64_t ends_equal(struct world *w, struct program *program)
{
    struct program_result result;
    open_writer(w);
    crash_slow(w);
    program_finish(program, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "exit code %d: %s", result.exit_code, result.err);
    ck_assert_msg(strstr(result.err, "event=away") != NULL &&
                      strstr(result.err, "event=back") != NULL,
                  "it noticed nothing: %s", result.err);
    program_result_release(&result);
    world_expect_equal(w);
    return 1;
}

static void started(struct world *w, struct program *program, int64_t operations)
{
    int64_t before = crash_taken(w);
    crash_slow_until(w, operations);
    rowferry_start(program, w->config, "sync", NULL);
    crash_await_taken(w, before, operations, program);
}

/* Restarts in the middle of the initial load, then in the middle of a poll's changes. */
static void restarted(const char *name, int number)
{
    struct world w;
    struct program program;
    crash_world(&w, ROWS);
    open_writer(&w);
    started(&w, &program, ROWS / 3);
    restart(number);
    int64_t hits = ends_equal(&w, &program);
    sql_exec(w.conn, "update articles set title = 'again';"
                     "delete from articles where source_id %% 12 = 0");
    started(&w, &program, ROWS / 10);
    restart(number);
    hits += ends_equal(&w, &program);
    crash_tell_hits(name, hits, "times under a sync");
    world_stop(&w);
}

START_TEST(a_fast_restart_is_ridden_out)
{
    restarted("source restarted", SIGINT);
}
END_TEST

START_TEST(an_immediate_restart_is_ridden_out)
{
    restarted("source crashed", SIGQUIT);
}
END_TEST

static void start_server(void)
{
    cluster_start(&cluster, NULL);
    cluster_use(&cluster);
}

/* Runs also after a failed test. */
static void stop_server(void)
{
    cluster_stop(&cluster);
}

int main(void)
{
    Suite *suite = suite_create("crash/restart");
    TCase *tcase = tcase_create("restart");
    tcase_set_timeout(tcase, 0);
    tcase_add_unchecked_fixture(tcase, start_server, stop_server);
    tcase_add_test(tcase, a_fast_restart_is_ridden_out);
    tcase_add_test(tcase, an_immediate_restart_is_ridden_out);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
