/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the test tools: a tool that cannot fail would prove nothing. */
#include "compare.h"
#include "http.h"
#include "server.h"
#include "sql.h"
#include "suite.h"

#include <signal.h>
#include <string.h>

START_TEST(a_program_shows_both_streams_and_its_exit_code)
{
    const char *const argv[] = {"/bin/sh", "-c", "echo out $GIVEN; echo err >&2; exit 7", NULL};
    const char *const env[] = {"GIVEN=it", NULL};
    struct program p;
    struct program_result result;
    program_start(&p, argv, env);
    program_finish(&p, WAIT_MS, &result);
    ck_assert_int_eq(result.exit_code, 7);
    ck_assert_str_eq(result.out, "out it\n");
    ck_assert_str_eq(result.err, "err\n");
    program_result_release(&result);
}
END_TEST

START_TEST(a_program_is_awaited_and_ended_by_a_signal)
{
    const char *const argv[] = {"/bin/sh", "-c", "echo ready >&2; exec sleep 60", NULL};
    struct program p;
    struct program_result result;
    program_start(&p, argv, NULL);
    program_await(&p, "ready", WAIT_MS);
    ck_assert(program_running(&p));
    program_signal(&p, SIGTERM);
    program_finish(&p, WAIT_MS, &result);
    ck_assert_int_eq(result.exit_code, 128 + SIGTERM);
    program_result_release(&result);
}
END_TEST

START_TEST(every_test_has_a_database_of_its_own)
{
    char *one = database_new();
    char *two = database_new();
    PGconn *conn = sql_open(one);
    sql_exec(conn, "create table t as select 42 as n");
    ck_assert_int_eq(sql_int(conn, "select n from t"), 42);
    ck_assert_ptr_null(sql_text(conn, "select n from t where n = %d", 1));
    PQfinish(conn);
    conn = sql_open(two);
    ck_assert_int_eq(sql_int(conn, "select count(*) from pg_tables where tablename = 't'"), 0);
    PQfinish(conn);
    database_drop(one);
    database_drop(two);
}
END_TEST

START_TEST(another_user_needs_its_password)
{
    char *uri = database_new();
    PGconn *conn = sql_open(uri);
    sql_exec(conn, "drop role if exists someone; create role someone login password 'right'");
    char *theirs = uri_as(uri, "someone");
    PGconn *refused = PQconnectdb(theirs);
    ck_assert_int_eq(PQstatus(refused), CONNECTION_BAD);
    PQfinish(refused);
    sql_exec(conn, "drop role someone");
    PQfinish(conn);
    free(theirs);
    database_drop(uri);
}
END_TEST

static const char mapping[] = "{\"mappings\":{\"properties\":{\"source_id\":{\"type\":\"keyword\"},"
                              "\"n\":{\"type\":\"double\"},\"at\":{\"type\":\"date\"}}}}";

static void put(const struct devsearch *service, const char *path, const char *body)
{
    json_object_put(reply_json(201, "PUT", service->url, path, body, NULL));
}

START_TEST(the_oracle_sees_a_row_that_is_missing_other_or_too_many)
{
    struct devsearch service;
    devsearch_start(&service, NULL);
    char *uri = database_new();
    PGconn *conn = sql_open(uri);
    sql_exec(conn,
             "create table t (source_id text primary key, n numeric, at timestamptz);"
             "insert into t values ('a', 1.10, '2024-01-02 03:04:05.6+00'), ('b', null, null)");
    json_object_put(reply_json(200, "PUT", service.url, "/t", mapping, NULL));
    put(&service, "/t/_doc/a",
        "{\"n\":1.10,\"source_id\":\"a\",\"at\":\"2024-01-02T03:04:05.600000Z\"}");
    put(&service, "/t/_doc/b", "{\"source_id\":\"b\"}");
    char *query = compare_table("t", "source_id");
    expect_equal(2, conn, query, service.url, "t", NULL);

    sql_exec(conn, "update t set n = 1.1; insert into t values ('c')");
    put(&service, "/t/_doc/d", "{\"source_id\":\"d\"}");
    struct comparison c;
    compare(&c, conn, query, service.url, "t", NULL);
    ck_assert_int_eq(c.rows, 3);
    ck_assert_int_eq(c.documents, 3);
    ck_assert_int_eq(c.differences, 4);
    ck_assert_ptr_nonnull(strstr(c.first, "1.10"));
    free(c.first);
    free(query);
    PQfinish(conn);
    database_drop(uri);
    devsearch_stop(&service);
}
END_TEST

SUITE_MAIN("support", a_program_shows_both_streams_and_its_exit_code,
           a_program_is_awaited_and_ended_by_a_signal, every_test_has_a_database_of_its_own,
           another_user_needs_its_password, the_oracle_sees_a_row_that_is_missing_other_or_too_many)
