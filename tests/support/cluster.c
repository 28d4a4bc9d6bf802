/* SPDX-License-Identifier: Apache-2.0 */
/* A PostgreSQL server for one test, and its standby. */
#include "cluster.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "program.h"
#include "rowferry/base/text.h"
#include "server.h"
#include "sql.h"
#include "suite.h"
#include "wait.h"

/* `port`, and `option` with its value, are only used for a start. */
static void command(const struct cluster *c, const char *what, const char *port, const char *option,
                    const char *value)
{
    struct program program;
    struct program_result result;
    program_start(&program,
                  (const char *const[]){TEST_SERVERS "/postgres", what, "--dir", c->folder,
                                        port != NULL ? "--port" : NULL, port, option, value, NULL},
                  NULL);
    program_finish(&program, RUN_MS, &result);
    ck_assert_msg(result.exit_code == 0, "%s: %s", what, result.err);
    program_result_release(&result);
}

/* Returns the first line of a file in the server's folder. */
static char *first_line(const struct cluster *c, const char *name)
{
    char line[256];
    char *path = scratch_path(c->folder, name);
    FILE *file = fopen(path, "re");
    ck_assert_msg(file != NULL && fgets(line, sizeof(line), file) != NULL, "cannot read %s", path);
    line[strcspn(line, "\n")] = '\0';
    fclose(file);
    free(path);
    return text_copy(line);
}

static void start_with(struct cluster *c, const char *option, const char *value)
{
    *c = (struct cluster){.parent = scratch_new()};
    chmod(c->parent, 0755); /* the database server runs as another user */
    c->folder = scratch_path(c->parent, "postgres");
    ck_assert_int_ge(asprintf(&c->port, "%d", free_port()), 0);
    command(c, "start", c->port, option, value);
    c->uri = first_line(c, "uri");
}

void cluster_start(struct cluster *c, const char *standby_of)
{
    start_with(c, standby_of != NULL ? "--standby-of" : NULL, standby_of);
}

void cluster_start_on(struct cluster *c, const char *address)
{
    start_with(c, "--host", address);
}

void cluster_stop(struct cluster *c)
{
    command(c, "stop", NULL, NULL, NULL);
    free(c->folder);
    free(c->uri);
    free(c->port);
    scratch_remove(c->parent);
    *c = (struct cluster){0};
}

/* A zombie that nothing has reaped yet counts as gone. */
static bool is_gone(pid_t pid)
{
    char path[64];
    char line[256];
    bool waits = false;
    if (kill(pid, 0) != 0) {
        return true;
    }
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    while (file != NULL && !waits && fgets(line, sizeof(line), file) != NULL) {
        waits = strncmp(line, "State:", 6) == 0 && strchr(line, 'Z') != NULL;
    }
    if (file != NULL) {
        fclose(file);
    }
    return waits;
}

void cluster_kill(const struct cluster *c, int number)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    char *line = first_line(c, "data/postmaster.pid");
    pid_t pid = (pid_t)strtol(line, NULL, 10);
    ck_assert_int_eq(kill(pid, number), 0);
    while (!is_gone(pid)) {
        ck_assert(deadline_wait(&deadline));
    }
    free(line);
}

void cluster_again(const struct cluster *c)
{
    command(c, "start", c->port, NULL, NULL);
}

void cluster_move(struct cluster *c, const char *port)
{
    free(c->port);
    c->port = text_copy(port);
    cluster_again(c);
    free(c->uri);
    c->uri = first_line(c, "uri");
}

void cluster_promote(const struct cluster *c)
{
    command(c, "promote", NULL, NULL, NULL);
}

void cluster_await_replay(const struct cluster *primary, const struct cluster *standby)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    PGconn *from = sql_open(primary->uri);
    PGconn *to = sql_open(standby->uri);
    /* only commits are flushed at once; the writes of an open transaction may take seconds */
    sql_exec(from, "set synchronous_commit = on");
    sql_exec(from, "select pg_logical_emit_message(true, 'replay', 'awaited')");
    char *written = sql_text(from, "select pg_current_wal_flush_lsn()");
    while (sql_int(to, "select (pg_last_wal_replay_lsn() >= '%s')::integer", written) == 0) {
        ck_assert_msg(deadline_wait(&deadline), "the standby does not reach %s", written);
    }
    free(written);
    PQfinish(from);
    PQfinish(to);
}

void cluster_use(const struct cluster *c)
{
    setenv("ROWFERRY_TEST_PG", c->uri, 1);
}

char *cluster_uri(const struct cluster *c, const char *uri)
{
    char *whole = NULL;
    const char *server_end = strrchr(c->uri, '/');
    ck_assert_int_ge(
        asprintf(&whole, "%.*s%s", (int)(server_end - c->uri), c->uri, strrchr(uri, '/')), 0);
    return whole;
}

/* Autovacuum's transactions would disturb tests that count transactions. */
static void without_autovacuum(const struct cluster *c)
{
    PGconn *conn = sql_open(c->uri);
    sql_exec(conn, "alter system set autovacuum = off");
    sql_exec(conn, "select pg_reload_conf()");
    PQfinish(conn);
}

struct pair pair;

void pair_start(void)
{
    cluster_start(&pair.primary, NULL);
    without_autovacuum(&pair.primary);
    cluster_start(&pair.standby, pair.primary.uri);
    cluster_use(&pair.primary);
}

void pair_stop(void)
{
    cluster_stop(&pair.standby);
    cluster_stop(&pair.primary);
}

struct cluster own_cluster;

static void own_start(void)
{
    cluster_start(&own_cluster, NULL);
    without_autovacuum(&own_cluster);
    cluster_use(&own_cluster);
}

static void own_stop(void)
{
    cluster_stop(&own_cluster);
}

int cluster_suite(const char *name, const TTest *const *tests, size_t count)
{
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, SUITE_TEST_S);
    tcase_add_unchecked_fixture(tcase, own_start, own_stop);
    for (size_t i = 0; i < count; i++) {
        tcase_add_test(tcase, tests[i]);
    }
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}

int pair_suite(const char *name, const TTest *const *tests, size_t count)
{
    Suite *suite = suite_create(name);
    for (size_t i = 0; i < count; i++) {
        TCase *tcase = tcase_create(tests[i]->name);
        tcase_set_timeout(tcase, SUITE_TEST_S);
        tcase_add_unchecked_fixture(tcase, pair_start, pair_stop);
        tcase_add_test(tcase, tests[i]);
        suite_add_tcase(suite, tcase);
    }
    return suite_end(suite);
}
