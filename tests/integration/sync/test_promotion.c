/* SPDX-License-Identifier: Apache-2.0 */
/* A pipeline that reads from a standby, and one whose primary was lost. */
#include "cluster.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "sql.h"
#include "wait.h"
#include "world.h"

static char *source_of(const char *uri, const char *primary)
{
    char *members = NULL;
    ck_assert_int_ge(primary != NULL
                         ? asprintf(&members, "\"uri\": \"%s\", \"primary\": \"%s\"", uri, primary)
                         : asprintf(&members, "\"uri\": \"%s\"", uri),
                     0);
    return members;
}

static void reads_from(struct world *w, const char *uri, const char *primary)
{
    char *members = source_of(uri, primary);
    w->source = members;
    world_where(w, "true");
    free(members);
    w->source = NULL;
}

static void world_end(struct world *w, PGconn *other)
{
    PQfinish(other);
    devsearch_stop(&w->service);
    PQfinish(w->conn);
    scratch_remove(w->dir);
    free(w->config);
    free(w->uri);
}

START_TEST(a_sync_of_a_standby_ends_equal)
{
    struct world w;
    struct program_result result;
    world_start(&w, 200, NULL);
    char *there = cluster_uri(&pair.standby, w.uri);
    reads_from(&w, there, w.uri);
    cluster_await_replay(&pair.primary, &pair.standby);
    rowferry_expect(0, w.config, "source", "install", NULL);
    cluster_await_replay(&pair.primary, &pair.standby);
    rowferry_expect(0, w.config, "check", "--all", "--accept-admin", NULL);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    sql_exec(w.conn, "update articles set title = 'again' where source_id < 9;"
                     "delete from articles where source_id > 190");
    cluster_await_replay(&pair.primary, &pair.standby);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    free(there);
    world_end(&w, NULL);
}
END_TEST

START_TEST(a_standby_that_lacks_the_change_log_yet_is_waited_for)
{
    struct world w;
    struct program_result result;
    world_start(&w, 50, NULL);
    char *there = cluster_uri(&pair.standby, w.uri);
    cluster_await_replay(&pair.primary, &pair.standby);
    PGconn *standby = sql_open(there);
    sql_exec(standby, "select pg_wal_replay_pause()");
    char *members = source_of(there, w.uri);
    w.source = members;
    world_configure(&w, WORLD_PROPERTIES, "\"retry_budget\": \"1s\"");
    rowferry_expect(0, w.config, "source", "install", NULL);
    world_sync_says(&w, 6, "the standby has not replayed \"source install\" yet");
    sql_exec(standby, "select pg_wal_replay_resume()");
    cluster_await_replay(&pair.primary, &pair.standby);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    w.source = NULL;
    free(members);
    free(there);
    world_end(&w, standby);
}
END_TEST

static void stop_streaming(PGconn *standby)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    sql_exec(standby, "alter system set primary_conninfo = ''");
    sql_exec(standby, "select pg_reload_conf()");
    while (sql_int(standby, "select count(*) from pg_stat_wal_receiver") > 0) {
        ck_assert(deadline_wait(&deadline));
    }
}

/* The index has rows that the new primary never received, and lacks rows that returned with the
 * loss. */
START_TEST(the_index_follows_a_standby_that_was_promoted_without_the_last_changes)
{
    struct world w;
    struct program_result result;
    world_start(&w, 200, NULL);
    char *there = cluster_uri(&pair.standby, w.uri);
    reads_from(&w, w.uri, NULL);
    world_install(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    cluster_await_replay(&pair.primary, &pair.standby);
    PGconn *standby = sql_open(there);
    stop_streaming(standby);
    sql_exec(w.conn, "update articles set title = 'lost' where source_id = 1;"
                     "delete from articles where source_id = 2;"
                     "insert into articles (source_id, title) values (1000, 'lost')");
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    PQfinish(w.conn);
    cluster_kill(&pair.primary, SIGQUIT);
    cluster_promote(&pair.standby);
    w.conn = sql_open(there);
    reads_from(&w, there, NULL);
    world_sync(&w, 0, &result);
    ck_assert_ptr_nonnull(strstr(result.err, "event=copied_again"));
    ck_assert_ptr_nonnull(strstr(result.err, "timeline 2"));
    program_result_release(&result);
    world_expect_equal(&w);
    world_sync(&w, 0, &result);
    ck_assert_ptr_null(strstr(result.err, "event=copied_again"));
    program_result_release(&result);
    free(there);
    world_end(&w, standby);
}
END_TEST

/* Returns one URI for both servers; libpq selects the primary. */
static char *either_uri(const struct world *w)
{
    char *uri = NULL;
    const char *at = strchr(strstr(w->uri, "//") + 2, '@');
    const char *from = at != NULL ? at + 1 : strstr(w->uri, "//") + 2;
    const char *end = strchr(from, '/');
    ck_assert_int_ge(asprintf(&uri, "%.*s,127.0.0.1:%s%s?target_session_attrs=read-write",
                              (int)(end - w->uri), w->uri, pair.standby.port, end),
                     0);
    return uri;
}

static void await_equal(struct world *w)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    char *query = compare_table("articles", "source_id");
    struct comparison c;
    do {
        ck_assert(deadline_wait(&deadline));
        compare(&c, w->conn, query, w->service.url, "shop-articles", "ApiKey " WORLD_API_KEY);
        free(c.first);
    } while (c.differences > 0);
    free(query);
}

static void expect_once(const char *log, const char *event)
{
    const char *first = strstr(log, event);
    ck_assert_msg(first != NULL && strstr(first + 1, event) == NULL, "not once \"%s\": %s", event,
                  log);
}

START_TEST(a_run_that_loses_its_primary_goes_on_with_the_promoted_standby)
{
    struct world w;
    struct program run;
    struct program_result result;
    world_start(&w, 200, NULL);
    char *there = cluster_uri(&pair.standby, w.uri);
    char *either = either_uri(&w);
    reads_from(&w, either, NULL);
    world_install(&w);
    rowferry_start(&run, w.config, "run", NULL);
    program_await(&run, "event=following", WAIT_MS);
    cluster_await_replay(&pair.primary, &pair.standby);
    PGconn *standby = sql_open(there);
    stop_streaming(standby);
    sql_exec(w.conn, "update articles set title = 'lost' where source_id = 1;"
                     "insert into articles (source_id, title) values (1000, 'lost')");
    await_equal(&w);
    PQfinish(w.conn);
    cluster_kill(&pair.primary, SIGQUIT);
    cluster_promote(&pair.standby);
    w.conn = sql_open(there);
    program_await(&run, "event=copied_again", WAIT_MS);
    await_equal(&w);
    sql_exec(w.conn, "update articles set title = 'later' where source_id = 3");
    await_equal(&w);
    program_signal(&run, SIGTERM);
    program_finish(&run, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    expect_once(result.err, "event=away ");
    expect_once(result.err, "event=back ");
    expect_once(result.err, "event=copied_again ");
    program_result_release(&result);
    free(either);
    free(there);
    world_end(&w, standby);
}
END_TEST

/* Lets the standby copy a failover slot of the primary (PostgreSQL 17), which needs a physical
 * slot, feedback and logical decoding. */
static void share_slots(void)
{
    PGconn *primary = sql_open(pair.primary.uri);
    PGconn *standby = sql_open(pair.standby.uri);
    sql_exec(primary, "select pg_create_physical_replication_slot('streams')");
    sql_exec(primary, "alter system set wal_level = logical");
    sql_exec(standby, "alter system set wal_level = logical");
    sql_exec(standby, "alter system set hot_standby_feedback = on");
    sql_exec(standby, "alter system set primary_slot_name = 'streams'");
    PQfinish(primary);
    PQfinish(standby);
    cluster_kill(&pair.primary, SIGINT);
    cluster_again(&pair.primary);
    cluster_kill(&pair.standby, SIGINT);
    cluster_again(&pair.standby);
}

/* The slot has to be ahead of the standby's oldest transaction, so none is begun meanwhile. */
static void await_shared_slot(const struct world *w, PGconn *standby)
{
    static const char shared[] =
        "select count(*) from pg_replication_slots where synced and not temporary";
    struct deadline deadline = deadline_after(WAIT_MS);
    while (sql_int(standby, shared) == 0) {
        for (int i = 0; i < 3; i++) { /* it takes what an earlier record permits */
            sql_exec(w->conn, "select pg_log_standby_snapshot()");
            sql_exec(w->conn, "select pg_replication_slot_advance('app', pg_current_wal_lsn())");
        }
        char *at = sql_text(w->conn, "select confirmed_flush_lsn from pg_replication_slots "
                                     "where slot_name = 'app'");
        while (sql_int(standby, "select (pg_last_wal_replay_lsn() >= '%s')::int", at) == 0) {
            ck_assert(deadline_wait(&deadline));
        }
        free(at);
        sql_exec(standby, "select pg_sync_replication_slots()");
        ck_assert(deadline_wait(&deadline));
    }
}

START_TEST(a_failover_slot_of_an_application_and_the_change_log_leave_each_other_alone)
{
    struct world w;
    PGconn *primary = sql_open(pair.primary.uri);
    bool can = PQserverVersion(primary) >= 170000;
    PQfinish(primary);
    if (!can) {
        return;
    }
    share_slots();
    world_start(&w, 200, NULL);
    char *there = cluster_uri(&pair.standby, w.uri);
    sql_exec(w.conn, "create publication p for table articles");
    sql_exec(w.conn,
             "select pg_create_logical_replication_slot('app', 'pgoutput', failover => true)");
    cluster_await_replay(&pair.primary, &pair.standby);
    PGconn *standby = sql_open(there);
    reads_from(&w, there, w.uri);
    world_install(&w);
    cluster_await_replay(&pair.primary, &pair.standby);
    rowferry_expect(0, w.config, "sync", NULL);
    await_shared_slot(&w, standby);
    sql_exec(w.conn, "update articles set title = 'before' where source_id < 9");
    cluster_await_replay(&pair.primary, &pair.standby);
    rowferry_expect(0, w.config, "sync", NULL);
    world_expect_equal(&w);
    PQfinish(w.conn);
    cluster_kill(&pair.primary, SIGQUIT);
    cluster_promote(&pair.standby);
    w.conn = sql_open(there);
    reads_from(&w, there, NULL);
    sql_exec(w.conn, "update articles set title = 'after' where source_id < 5");
    rowferry_expect(0, w.config, "sync", NULL);
    world_expect_equal(&w);
    ck_assert_int_ge(sql_int(w.conn, "select count(*) from pg_logical_slot_get_binary_changes("
                                     "'app', null, null, 'proto_version', '1', "
                                     "'publication_names', 'p')"),
                     12);
    ck_assert_int_eq(sql_int(w.conn, "select count(*) from pg_replication_slots"), 1);
    free(there);
    world_end(&w, standby);
}
END_TEST

PAIR_MAIN("sync/promotion", a_sync_of_a_standby_ends_equal,
          a_standby_that_lacks_the_change_log_yet_is_waited_for,
          the_index_follows_a_standby_that_was_promoted_without_the_last_changes,
          a_run_that_loses_its_primary_goes_on_with_the_promoted_standby,
          a_failover_slot_of_an_application_and_the_change_log_leave_each_other_alone)
