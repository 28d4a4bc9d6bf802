/* SPDX-License-Identifier: Apache-2.0 */
/* A database replaced by its copy, restored from a dump or renamed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "sql.h"
#include "suite.h"
#include "wait.h"
#include "world.h"

static struct cluster ours;
static struct cluster another;

/* Switches the world to another database. */
static void move_to(struct world *w, char *uri)
{
    PQfinish(w->conn);
    free(w->uri);
    w->uri = uri;
    w->conn = sql_open(uri);
    world_configure(w, WORLD_PROPERTIES, "\"retry_budget\": \"20s\"");
}

/* Copies without the role that owns the triggers' functions. Another server has it only after an
 * installation. */
static void dump_to(const char *from, const char *to)
{
    struct program program;
    struct program_result result;
    static const char script[] = "pg_dump \"$1\" | psql -qX \"$2\"";
    program_start(&program, (const char *const[]){"/bin/sh", "-ec", script, "dump", from, to, NULL},
                  NULL);
    program_finish(&program, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    program_result_release(&result);
}

/* Runs thousands of transactions, so the counter is ahead of the other server's. */
static void go_on(PGconn *conn, PGconn *behind)
{
    static const char next[] = "select pg_snapshot_xmax(pg_current_snapshot())::text::bigint";
    sql_exec(conn,
             "do $$ begin for i in 1..%lld loop perform pg_current_xact_id(); commit; end loop; "
             "end $$",
             (long long)(sql_int(behind, next) + 20000 - sql_int(conn, next)));
}

static void await_pruned(struct world *w)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    while (sql_int(w->conn, "select count(*) from rowferry.change") > 0) {
        ck_assert(deadline_wait(&deadline));
        rowferry_expect(0, w->config, "sync", NULL);
    }
}

static void change_and_sync(struct world *w, const char *title)
{
    struct program_result result;
    sql_exec(w->conn,
             "update articles set title = '%s' where source_id < 9;"
             "delete from articles where source_id = (select max(source_id) from articles)",
             title);
    world_sync(w, 0, &result);
    ck_assert_msg(strstr(result.err, "copied_again") == NULL, "%s", result.err);
    program_result_release(&result);
    world_expect_equal(w);
}

START_TEST(a_dump_restored_into_another_server_is_told_apart_and_a_rebuild_helps)
{
    struct world w;
    world_start(&w, 100, NULL);
    char *here = cluster_uri(&ours, w.uri);
    char *there = cluster_uri(&another, w.uri);
    PGconn *other = sql_open(another.uri);
    world_install(&w);
    go_on(w.conn, other);
    rowferry_expect(0, w.config, "sync", NULL);
    change_and_sync(&w, "read");
    sql_exec(w.conn, "update articles set title = 'unread' where source_id = 50");
    sql_exec(other, "create database %s template template0", strrchr(there, '/') + 1);
    PQfinish(other);
    dump_to(here, there);
    move_to(&w, there);
    world_sync_says(&w, 1, "rowferry reindex");
    world_install(&w);
    rowferry_expect(0, w.config, "reindex", NULL);
    world_expect_equal(&w);
    await_pruned(&w);
    change_and_sync(&w, "there");
    await_pruned(&w);
    move_to(&w, here);
    world_stop(&w);
}
END_TEST

/* The tables of both databases have the same oids and file nodes. */
START_TEST(a_database_replaced_by_a_renamed_copy_is_copied_again)
{
    struct world w;
    world_start(&w, 100, NULL);
    const char *name = strrchr(w.uri, '/') + 1;
    PGconn *server = sql_open(ours.uri);
    world_install(&w);
    rowferry_expect(0, w.config, "sync", NULL);
    PQfinish(w.conn);
    sql_exec(server, "create database %1$s_copy template %1$s", name);
    w.conn = sql_open(w.uri);
    change_and_sync(&w, "only there");
    PQfinish(w.conn);
    sql_exec(server, "alter database %1$s rename to %1$s_old", name);
    sql_exec(server, "alter database %1$s_copy rename to %1$s", name);
    w.conn = sql_open(w.uri);
    world_sync_says(&w, 0, "replaced by a copy");
    world_expect_equal(&w);
    change_and_sync(&w, "only here");
    sql_exec(server, "drop database %s_old", name);
    PQfinish(server);
    world_stop(&w);
}
END_TEST

static void start_servers(void)
{
    cluster_start(&ours, NULL);
    cluster_start(&another, NULL);
    cluster_use(&ours);
}

static void stop_servers(void)
{
    cluster_stop(&ours);
    cluster_stop(&another);
}

/* It reads no newer server. */
static bool pg_dump_is_new_enough(void)
{
    PGconn *conn = PQconnectdb(getenv("ROWFERRY_TEST_PG"));
    FILE *version = popen("pg_dump --version", "r");
    int major = 0;
    bool enough = version != NULL && fscanf(version, "pg_dump (PostgreSQL) %d", &major) == 1 &&
                  major >= PQserverVersion(conn) / 10000;
    if (version != NULL) {
        pclose(version);
    }
    PQfinish(conn);
    return enough;
}

int main(void)
{
    Suite *suite = suite_create("sync/replaced");
    TCase *tcase = tcase_create("replaced");
    tcase_set_timeout(tcase, SUITE_TEST_S);
    tcase_add_unchecked_fixture(tcase, start_servers, stop_servers);
    if (pg_dump_is_new_enough()) {
        tcase_add_test(tcase,
                       a_dump_restored_into_another_server_is_told_apart_and_a_rebuild_helps);
    }
    tcase_add_test(tcase, a_database_replaced_by_a_renamed_copy_is_copied_again);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
