/* SPDX-License-Identifier: Apache-2.0 */
/* PostgreSQL 12 lacks what the change log needs: each command that connects refuses it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "suite.h"
#include "world.h"

#define REFUSED                                                                                    \
    "the source is PostgreSQL 12, but 13 or newer is needed: older ones have no pg_snapshot, "     \
    "which shows which changes have been read"

static void refuses(int exit_code, const char *config, const char *first, const char *second)
{
    struct program_result result;
    rowferry_run(&result, config, first, second, NULL);
    ck_assert_msg(result.exit_code == exit_code, "%s: %d: %s", first, result.exit_code, result.err);
    expect_text(exit_code == 1 ? result.err : result.out, REFUSED);
    expect_text(exit_code == 1 ? result.err : result.out,
                exit_code == 1 ? "hint: " : "-> upgrade the server");
    program_result_release(&result);
}

START_TEST(postgresql_12_is_refused_with_the_reason_by_every_command_that_connects)
{
    static const char *const commands[][2] = {
        {"source", "install"}, {"source", "upgrade"}, {"source", "print"}, {"source", "uninstall"},
        {"sync", NULL},        {"verify", NULL},      {"reindex", NULL},   {"validate", NULL},
        {"document", "1"},     {"resync", "1"},
    };
    struct world w;
    struct program run;
    struct program_result result;
    world_start(&w, 1, NULL);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        refuses(1, w.config, commands[i][0], commands[i][1]);
    }
    refuses(4, w.config, "check", NULL);
    rowferry_run(&result, NULL, "init", "--yes", "--source", w.uri, "--table", "public.articles",
                 NULL);
    ck_assert_int_eq(result.exit_code, 1);
    expect_text(result.err, REFUSED);
    program_result_release(&result);
    rowferry_start(&run, w.config, "run", NULL);
    program_await(&run, REFUSED, RUN_MS);
    program_signal(&run, SIGTERM);
    program_finish(&run, RUN_MS, &result);
    ck_assert_int_eq(result.exit_code, 1);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        postgresql_12_is_refused_with_the_reason_by_every_command_that_connects};
    char line[512] = "";
    FILE *fetch = popen("timeout ${ROWFERRY_FETCH_S:-60} " TEST_SERVERS
                        "/postgres-fetch 12 2>&1 || echo not fetched",
                        "r");
    while (fetch != NULL && fgets(line, sizeof(line), fetch) != NULL) {
        line[strcspn(line, "\n")] = '\0';
    }
    if (fetch == NULL || pclose(fetch) != 0 || line[0] != '/') {
        printf("skip: PostgreSQL 12: %s\n", line);
        return 77;
    }
    setenv("POSTGRES_BIN", line, 1);
    return cluster_suite("cli/old_postgres", tests, 1);
}
