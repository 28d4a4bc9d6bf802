/* SPDX-License-Identifier: Apache-2.0 */
/* A server that loses commits that were not durable, and uses their transaction numbers again. */
#include <signal.h>
#include <string.h>

#include "cluster.h"
#include "crash.h"
#include "sql.h"
#include "suite.h"
#include "wait.h"

static struct cluster cluster;
static pid_t wal_writer;

/* Commits are asynchronous and the WAL writer is stopped, so nothing is flushed except by
 * synchronous commits. */
static void world_of_late_commits(struct world *w)
{
    struct program_result result;
    world_start(w, 100, NULL);
    world_install(w);
    world_sync(w, 0, &result);
    program_result_release(&result);
    wal_writer = (pid_t)sql_int(
        w->conn, "select pid from pg_stat_activity where backend_type = 'walwriter'");
    ck_assert_int_eq(kill(wal_writer, SIGSTOP), 0);
}

/* Immediate shutdown: the server terminates all other processes by force. */
static void crash(struct world *w)
{
    PQfinish(w->conn);
    cluster_kill(&cluster, SIGQUIT);
    cluster_again(&cluster);
    w->conn = sql_open(w->uri);
}

/* Kills one server process: all others are terminated, and the same postmaster recovers. */
static void crash_within(struct world *w)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    char *started = sql_text(w->conn, "select pg_postmaster_start_time()");
    ck_assert_int_eq(kill(wal_writer, SIGKILL), 0);
    PQclear(PQexec(w->conn, "select pg_sleep(3600)")); /* until the connection is closed */
    PQfinish(w->conn);
    while (PQping(w->uri) != PQPING_OK) {
        ck_assert(deadline_wait(&deadline));
    }
    w->conn = sql_open(w->uri);
    char *now = sql_text(w->conn, "select pg_postmaster_start_time()");
    ck_assert_str_eq(now, started);
    free(started);
    free(now);
}

static void updates(struct world *w, const char *title, int count)
{
    for (int i = 1; i <= count; i++) {
        sql_exec(w->conn, "update articles set title = '%s' where source_id = %d", title, i);
    }
}

/* The state file records changes that neither the checkpoint backup nor the server's disk has. */
static void crashed_ahead_of_the_mirror(struct world *w, void (*how)(struct world *w))
{
    world_of_late_commits(w);
    updates(w, "lost", 5);
    crash_at(w, "checkpoint_after_commit=kill");
    how(w);
    ck_assert_int_lt(sql_int(w->conn, "select count(*) from articles where title = 'lost'"), 5);
}

static void expect_read_again(void (*how)(struct world *w))
{
    struct world w;
    struct program_result result;
    crashed_ahead_of_the_mirror(&w, how);
    updates(&w, "kept", 10);
    world_sync(&w, 0, &result);
    ck_assert_ptr_null(strstr(result.err, "event=copied_again"));
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}

START_TEST(transaction_numbers_used_again_after_a_crash_are_read_again)
{
    expect_read_again(crash);
}
END_TEST

START_TEST(transaction_numbers_used_again_after_a_crash_of_one_backend_are_read_again)
{
    expect_read_again(crash_within);
}
END_TEST

START_TEST(what_a_crash_took_back_does_not_stay_in_the_index)
{
    struct world w;
    struct program_result result;
    crashed_ahead_of_the_mirror(&w, crash);
    world_sync(&w, 0, &result);
    ck_assert_ptr_nonnull(strstr(result.err, "event=copied_again"));
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

static void start_server(void)
{
    cluster_start(&cluster, NULL);
    cluster_use(&cluster);
}

static void stop_server(void)
{
    cluster_stop(&cluster);
}

int main(void)
{
    Suite *suite = suite_create("crash/xids");
    TCase *tcase = tcase_create("xids");
    tcase_set_timeout(tcase, 0);
    tcase_add_unchecked_fixture(tcase, start_server, stop_server);
    tcase_add_test(tcase, transaction_numbers_used_again_after_a_crash_are_read_again);
    tcase_add_test(tcase,
                   transaction_numbers_used_again_after_a_crash_of_one_backend_are_read_again);
    tcase_add_test(tcase, what_a_crash_took_back_does_not_stay_in_the_index);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
