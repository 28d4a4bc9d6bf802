/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the pair of servers that other tests use. */
#include "cluster.h"

#include <signal.h>
#include <stdlib.h>

#include "server.h"
#include "sql.h"

START_TEST(a_standby_shows_what_the_primary_committed)
{
    char *uri = database_new();
    PGconn *primary = sql_open(uri);
    sql_exec(primary, "create table t (n integer); insert into t values (7)");
    cluster_await_replay(&pair.primary, &pair.standby);
    char *there = cluster_uri(&pair.standby, uri);
    PGconn *standby = sql_open(there);
    ck_assert_int_eq(sql_int(standby, "select n from t where pg_is_in_recovery()"), 7);
    PQfinish(standby);
    PQfinish(primary);
    free(there);
    database_drop(uri);
}
END_TEST

START_TEST(a_promoted_standby_takes_writes)
{
    cluster_promote(&pair.standby);
    PGconn *conn = sql_open(pair.standby.uri);
    sql_exec(conn, "create table t (n integer); insert into t values (8)");
    ck_assert_int_eq(sql_int(conn, "select n from t where not pg_is_in_recovery()"), 8);
    PQfinish(conn);
}
END_TEST

START_TEST(a_killed_server_comes_back_on_its_port)
{
    cluster_kill(&pair.primary, SIGQUIT);
    cluster_again(&pair.primary);
    PGconn *conn = sql_open(pair.primary.uri);
    ck_assert_int_eq(sql_int(conn, "select 1"), 1);
    PQfinish(conn);
    cluster_await_replay(&pair.primary, &pair.standby);
}
END_TEST

PAIR_MAIN("support/cluster", a_standby_shows_what_the_primary_committed,
          a_promoted_standby_takes_writes, a_killed_server_comes_back_on_its_port)
