/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PostgreSQL is upgraded from version 15 to 18 with pg_upgrade, under a run that is killed and
 * started again. The upgraded server has another system identifier: the process is refused by name,
 * writes nothing, and the command that it names leads to equality.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cluster.h"
#include "crash.h"
#include "sql.h"
#include "wait.h"

#define ROWS 300
#define KILLS 8
#define OTHER "another database"

static char bins[2][512]; /* of both versions */

/* Outside of a test, where nothing can be asserted. Returns the exit code. */
static int find_bins(void)
{
    FILE *out = popen(TEST_SERVERS "/postgres-upgrade bins", "r");
    if (out == NULL) {
        return EXIT_FAILURE;
    }
    int found = fscanf(out, "%511s %511s", bins[0], bins[1]);
    int status = pclose(out);
    return WIFEXITED(status) && (status != 0 || found == 2) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

static void start_run(const struct world *w, struct program *run)
{
    rowferry_start(run, w->config, "run", NULL);
}

/* The run is killed at random moments until the upgrade ends. */
static void upgrade(struct world *w, struct program *run)
{
    struct program program;
    struct program_result result;
    PQfinish(w->conn);
    cluster_kill(&own_cluster, SIGINT);
    program_start(&program,
                  (const char *const[]){TEST_SERVERS "/postgres-upgrade", own_cluster.folder, NULL},
                  NULL);
    while (program_running(&program)) {
        struct deadline pause = deadline_after(crash_dice(2000));
        while (deadline_wait(&pause)) {
        }
        crash_kill_program(run);
        start_run(w, run);
    }
    program_finish(&program, RUN_MS, &result);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    program_result_release(&result);
    setenv("POSTGRES_BIN", bins[1], 1);
    cluster_again(&own_cluster);
    w->conn = sql_open(w->uri);
}

static void change(struct world *w, const char *title)
{
    sql_exec(w->conn,
             "update articles set title = '%s' where source_id %% 7 = 1;"
             "delete from articles where source_id = (select max(source_id) from articles)",
             title);
}

START_TEST(an_upgraded_server_is_refused_by_name_and_a_rebuild_helps)
{
    struct world w;
    struct program run;
    struct program_result result;
    world_start(&w, ROWS, NULL);
    world_install(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    start_run(&w, &run);
    change(&w, "before");
    crash_await_equal(&w, &run);
    upgrade(&w, &run);
    ck_assert_int_ge(PQserverVersion(w.conn), 180000);
    int64_t taken = crash_taken(&w);
    change(&w, "after");
    program_await(&run, OTHER, WAIT_MS);
    program_signal(&run, SIGTERM);
    program_finish(&run, WAIT_MS, &result);
    program_result_release(&result);
    world_sync_says(&w, 1, OTHER);
    world_sync_says(&w, 1, "pg_upgrade");
    ck_assert_int_eq(crash_taken(&w), taken);
    for (int i = 0; i < KILLS; i++) {
        struct program rebuild;
        struct deadline pause = deadline_after(crash_dice(400));
        rowferry_start(&rebuild, w.config, "reindex", NULL);
        while (deadline_wait(&pause)) {
        }
        program_signal(&rebuild, SIGKILL);
        program_finish(&rebuild, WAIT_MS, &result);
        program_result_release(&result);
    }
    rowferry_expect(0, w.config, "reindex", NULL);
    world_expect_equal(&w);
    change(&w, "later");
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    rowferry_expect(0, w.config, "verify", NULL);
    world_stop(&w);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {an_upgraded_server_is_refused_by_name_and_a_rebuild_helps};
    int rc = find_bins();
    if (rc != 0) {
        return rc;
    }
    setenv("POSTGRES_BIN", bins[0], 1);
    return cluster_suite("crash/moves_upgrade", tests, 1);
}
