/* SPDX-License-Identifier: Apache-2.0 */
/* Servers that refuse the functions which show their history, as services do ($ROWFERRY_TEST_WAL in
 * tests/integration/servers). All goes on, and none of our statements fails on the way. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "sql.h"
#include "suite.h"
#include "world.h"

static void start(const char *mode)
{
    setenv("ROWFERRY_TEST_WAL", mode, 1);
    cluster_start(&own_cluster, NULL);
    char *uri = strcmp(mode, "raises") != 0 ? uri_as(own_cluster.uri, "rowferry_owner") : NULL;
    setenv("ROWFERRY_TEST_PG", uri != NULL ? uri : own_cluster.uri, 1);
    free(uri);
}

static void start_raises(void)
{
    start("raises");
}

static void start_revoked(void)
{
    start("revoked");
}

static void start_unknown(void)
{
    start("unknown");
}

static void stop(void)
{
    cluster_stop(&own_cluster);
}

static void expect_sync(struct world *w, const char *event)
{
    struct program_result result;
    world_sync(w, 0, &result);
    expect_text(result.err, event);
    ck_assert_msg(strstr(result.err, "copied_again") == NULL, "%s", result.err);
    program_result_release(&result);
    world_expect_equal(w);
}

static void expect_run(struct world *w)
{
    struct program program;
    struct program_result result;
    rowferry_start(&program, w->config, "run", NULL);
    program_await(&program, "event=following", WAIT_MS);
    sql_exec(w->conn, "update articles set title = 'run' where source_id <= 10");
    world_await_equal(w, WAIT_MS);
    rowferry_expect(0, w->config, "reindex", NULL);
    sql_exec(w->conn, "delete from articles where source_id <= 3");
    world_await_equal(w, WAIT_MS);
    program_signal(&program, SIGTERM);
    program_finish(&program, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    program_result_release(&result);
}

static void expect_takeover(struct world *w)
{
    char *state = scratch_path(w->dir, "state.db");
    ck_assert_int_eq(remove(state), 0);
    free(state);
    sql_exec(w->conn, "update articles set title = 'lost' where source_id between 20 and 25");
    expect_sync(w, "event=mirror_taken_over");
}

static void expect_restart(struct world *w)
{
    PQfinish(w->conn);
    cluster_kill(&own_cluster, SIGINT);
    cluster_again(&own_cluster);
    w->conn = sql_open(w->uri);
    sql_exec(w->conn, "update articles set title = 'again' where source_id between 30 and 35");
    expect_sync(w, "event=sync_ended");
}

static void expect_no_failed_statement(void)
{
    char line[4096];
    char *path = scratch_path(own_cluster.folder, "log");
    FILE *file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        ck_assert_msg(strstr(line, "ERROR:") == NULL, "%s", line);
    }
    fclose(file);
    free(path);
}

/* The checks run in this order because each continues with the result of the one before. */
START_TEST(all_goes_on)
{
    struct world w;
    world_start(&w, 100, NULL);
    world_install(&w);
    rowferry_expect(0, w.config, "check", "--all", "--accept-admin", NULL);
    expect_sync(&w, "event=sync_ended");
    rowferry_expect(0, w.config, "source", "install", NULL);
    expect_run(&w);
    rowferry_expect(0, w.config, "reindex", NULL);
    rowferry_expect(0, w.config, "verify", NULL);
    expect_takeover(&w);
    expect_restart(&w);
    rowferry_expect(0, w.config, "source", "uninstall", NULL);
    world_stop(&w);
    expect_no_failed_statement();
}
END_TEST

static void add(Suite *suite, const char *name, SFun setup)
{
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, SUITE_TEST_S);
    tcase_add_unchecked_fixture(tcase, setup, stop);
    tcase_add_test(tcase, all_goes_on);
    suite_add_tcase(suite, tcase);
}

int main(void)
{
    Suite *suite = suite_create("source/without_wal");
    add(suite, "raises", start_raises);
    add(suite, "revoked", start_revoked);
    add(suite, "unknown", start_unknown);
    return suite_end(suite);
}
