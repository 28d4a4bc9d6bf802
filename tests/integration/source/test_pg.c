/* SPDX-License-Identifier: Apache-2.0 */
/* Connection and catalogue: failures are distinguished, and tables are described. */
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pg/pg_private.h"
#include "rowferry/source/pg/consumer_lock.h"
#include "rowferry/source/pg/pg.h"
#include "walk.h"

#define SILENT_MS 6000 /* longer than a machine delays a process */

static int try_open(const char *uri, const char *password, struct err *err)
{
    struct pg *pg = NULL;
    struct source_options options = {
        .uri = uri, .password = password, .connect_timeout_ms = 5000, .lock_timeout_ms = 1000};
    int rc = pg_open(&pg, &options, err);
    pg_close(pg);
    return rc;
}

START_TEST(nobody_listening_is_temporary)
{
    struct err err = {0};
    char uri[64];
    snprintf(uri, sizeof(uri), "postgresql://someone@127.0.0.1:%d/postgres", free_port());
    ck_assert_int_eq(try_open(uri, "geheim-7", &err), ERR_TRANSIENT);
    ck_assert_ptr_nonnull(strstr(err.message, "could not connect to the source"));
    ck_assert_ptr_null(strchr(err.message, '\n'));
    ck_assert_ptr_null(strstr(err.message, "geheim-7"));
}
END_TEST

/* Accepts connections without an answer, like a host on which only the kernel works. */
static int silent_listener(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(listen(fd, 16), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

/* Returns true if a client sent a request since the last call; a connection alone does not
 * count. */
static bool was_asked(int fd)
{
    struct pollfd coming = {.fd = fd, .events = POLLIN};
    bool asked = false;
    while (poll(&coming, 1, 0) > 0) {
        char byte;
        int conn = accept(fd, NULL, NULL);
        ck_assert_int_ge(conn, 0);
        asked = recv(conn, &byte, 1, MSG_DONTWAIT) > 0 || asked;
        close(conn);
    }
    return asked;
}

START_TEST(of_several_hosts_one_that_never_answers_does_not_hide_the_others)
{
    char several[512];
    struct err err = {0};
    struct pg *pg = NULL;
    struct pg *like = NULL;
    int port;
    int fd = silent_listener(&port);
    char *uri = database_new();
    const char *at = strchr(uri, '@');
    ck_assert_ptr_nonnull(at);
    snprintf(several, sizeof(several), "%.*s127.0.0.1:%d,127.0.0.1:%d,%s", (int)(at + 1 - uri), uri,
             port, free_port(), at + 1);
    const struct source_options options = {
        .uri = several, .connect_timeout_ms = SILENT_MS, .lock_timeout_ms = 1000};
    must(pg_open(&pg, &options, &err), &err);
    ck_assert(was_asked(fd));
    must(pg_open_like(&like, pg, &err), &err);
    must(pg_query(like, NULL, NULL, "select 1", NULL, 0, &err), &err);
    must(pg_connect(pg, &err), &err);
    ck_assert_msg(!was_asked(fd), "a later connection waited for the silent host again");
    pg_close(like);
    pg_close(pg);
    database_drop(uri);
    close(fd);
}
END_TEST

START_TEST(where_no_host_answers_the_time_says_so)
{
    char several[512];
    struct err err = {0};
    struct pg *pg = NULL;
    int port;
    int fd = silent_listener(&port);
    snprintf(several, sizeof(several), "postgresql://x@127.0.0.1:%d,127.0.0.1:%d/x", port, port);
    const struct source_options options = {.uri = several, .connect_timeout_ms = 200};
    ck_assert_int_eq(pg_open(&pg, &options, &err), ERR_TRANSIENT);
    ck_assert_ptr_nonnull(strstr(err.message, "no answer within 200 ms"));
    close(fd);
}
END_TEST

START_TEST(a_wrong_password_a_missing_role_and_a_missing_database_are_refusals)
{
    struct err err = {0};
    char *uri = database_new();
    PGconn *db = sql_open(uri);
    char *role = sql_text(db, "select 'rowferry_' || current_database()");
    sql_exec(db, "create role \"%s\" login password 'right'", role);
    char *as_role = uri_as(uri, role);
    ck_assert_int_eq(try_open(as_role, "wrong-secret", &err), ERR_REJECTED);
    ck_assert_str_eq(err.sqlstate, "28P01");
    ck_assert_ptr_null(strstr(err.message, "wrong-secret"));
    ck_assert_int_eq(try_open(as_role, "right", &err), 0);
    char *nobody = uri_as(uri, "no_such_role_here");
    ck_assert_int_eq(try_open(nobody, "x", &err), ERR_REJECTED);
    struct buf missing;
    buf_init(&missing, 4096);
    buf_push_text(&missing, uri);
    buf_push_text(&missing, "_missing");
    ck_assert_int_eq(try_open(buf_text(&missing), NULL, &err), ERR_REJECTED);
    ck_assert_str_eq(err.sqlstate, "3D000");
    sql_exec(db, "drop role \"%s\"", role);
    buf_release(&missing);
    free(nobody);
    free(as_role);
    free(role);
    PQfinish(db);
    database_drop(uri);
}
END_TEST

START_TEST(a_rows_value_in_an_error_is_for_people_and_not_for_the_log)
{
    char *uri = database_new();
    struct err err = {0};
    struct pg *pg = walk_connect(uri);
    ck_assert_int_eq(pg_query(pg, NULL, NULL, "select v::int > 0 from (values ('salary 7')) t (v)",
                              NULL, 0, &err),
                     ERR_REJECTED);
    ck_assert_str_eq(err.sqlstate, "22P02");
    ck_assert_str_eq(err.message, "the source cannot use a value: invalid_text_representation");
    ck_assert_ptr_nonnull(strstr(err.detail, "salary 7"));
    pg_close(pg);
    database_drop(uri);
}
END_TEST

START_TEST(a_session_ends_when_we_are_gone_and_not_before)
{
    char *uri = database_new();
    struct err err = {0};
    struct pg_result *r = NULL;
    PGconn *db = sql_open(uri);
    sql_exec(db, "do $$ declare n text; begin for n in select name from pg_settings where name in "
                 "('idle_session_timeout', 'transaction_timeout') loop execute format('alter "
                 "database %%I set %%I = 3600000', current_database(), n); end loop; end $$");
    struct pg *pg = walk_connect(uri);
    must(pg_query(pg, &r, "one: text",
                  "select string_agg(name || '=' || setting, ' ' order by name) from pg_settings"
                  " where name in ('idle_session_timeout', 'transaction_timeout') and setting <> "
                  "'0' or name in ('tcp_keepalives_idle', 'tcp_user_timeout')",
                  NULL, 0, &err),
         &err);
    ck_assert_str_eq(pg_text(r, 0, 0), "tcp_keepalives_idle=30 tcp_user_timeout=60000");
    pg_result_release(r);
    pg_close(pg);
    PQfinish(db);
    database_drop(uri);
}
END_TEST

START_TEST(text_means_the_same_whatever_the_database_was_set_to)
{
    char *uri = database_new();
    struct err err = {0};
    struct pg_result *r = NULL;
    PGconn *db = sql_open(uri);
    sql_exec(db, "do $$ begin execute format('alter database %%I set datestyle = german', "
                 "current_database()); execute format('alter database %%I set timezone = "
                 "''Asia/Tokyo''', current_database()); execute format('alter database %%I set "
                 "bytea_output = escape', current_database()); end $$");
    struct pg *pg = walk_connect(uri);
    const char *const params[] = {"0.1", NULL};
    must(pg_query(pg, &r, "one: text, text, text, text?",
                  "select timestamptz 'epoch', 'a'::bytea, $1::float8 + 0.2, $2::text", params, 2,
                  &err),
         &err);
    ck_assert_uint_eq(pg_rows(r), 1);
    ck_assert_str_eq(pg_text(r, 0, 0), "1970-01-01 00:00:00+00");
    ck_assert_str_eq(pg_text(r, 0, 1), "\\x61");
    ck_assert_str_eq(pg_text(r, 0, 2), "0.30000000000000004");
    ck_assert_ptr_null(pg_text(r, 0, 3));
    pg_result_release(r);
    pg_close(pg);
    PQfinish(db);
    database_drop(uri);
}
END_TEST

START_TEST(transactions_are_what_they_are_called_whatever_the_database_was_set_to)
{
    char *uri = database_new();
    struct err err = {0};
    struct pg_result *r = NULL;
    PGconn *db = sql_open(uri);
    sql_exec(db, "do $$ begin execute format('alter database %%I set default_transaction_read_only "
                 "= on', current_database()); execute format('alter database %%I set "
                 "default_transaction_isolation = serializable', current_database()); end $$");
    struct pg *pg = walk_connect(uri);
    must(pg_script(pg, "create table public.written ()", &err), &err);
    must(pg_query(pg, &r, "one: text", "select current_setting('transaction_isolation')", NULL, 0,
                  &err),
         &err);
    ck_assert_str_eq(pg_text(r, 0, 0), "read committed");
    pg_result_release(r);
    pg_close(pg);
    PQfinish(db);
    database_drop(uri);
}
END_TEST

/* Our quoting is safe in UTF-8 only. */
START_TEST(a_session_with_another_client_encoding_is_given_up)
{
    char *uri = database_new();
    struct err err = {0};
    struct pg_result *r = NULL;
    struct pg *pg = walk_connect(uri);
    int rc = pg_query(pg, &r, "one: text", "select set_config('client_encoding', 'SJIS', false)",
                      NULL, 0, &err);
    ck_assert_int_lt(rc, 0);
    ck_assert_ptr_nonnull(strstr(err.message, "client_encoding"));
    ck_assert_ptr_null(r);
    ck_assert_int_lt(pg_query(pg, &r, "one: text", "select 'a'", NULL, 0, &err), 0);
    pg_close(pg);
    database_drop(uri);
}
END_TEST

START_TEST(the_server_is_identified)
{
    char *uri = database_new();
    struct err err = {0};
    struct pg_identity id;
    struct pg *pg = walk_connect(uri);
    must(pg_identify(pg, &id, &err), &err);
    ck_assert_uint_gt(strlen(id.system), 10);
    ck_assert_int_ge(id.timeline, 1);
    ck_assert_int_ge(id.server_version, 130000);
    ck_assert(id.superuser && !id.in_recovery);
    ck_assert_uint_gt(strlen(id.database), 0);
    pg_close(pg);
    database_drop(uri);
}
END_TEST

START_TEST(a_table_is_described)
{
    char *uri = database_new();
    struct err err = {0};
    struct table *t = NULL;
    PGconn *db = sql_open(uri);
    sql_exec(db, "create schema \"Shop\"; create domain code as varchar(20); create domain codes "
                 "as code[]; create type mood as enum ('good');"
                 "create table \"Shop\".\"Item\" (b int, a code, gone int, names text[], c codes, "
                 "m mood, r int4range, primary key (a, b));"
                 "alter table \"Shop\".\"Item\" drop column gone");
    struct pg *pg = walk_connect(uri);
    must(catalog_table(pg, &t, "Shop.Item", NULL, 0, &err), &err);
    ck_assert_str_eq(t->quoted, "\"Shop\".\"Item\"");
    ck_assert_uint_eq(t->columns.count, 6);
    ck_assert_str_eq(row_columns_find(&t->columns, "a")->type, "varchar");
    ck_assert_str_eq(row_columns_find(&t->columns, "names")->parts[0].type, "text");
    ck_assert_str_eq(row_columns_find(&t->columns, "c")->parts[0].type, "varchar");
    ck_assert_str_eq(row_columns_find(&t->columns, "r")->parts[0].type, "int4");
    ck_assert_int_eq(row_columns_find(&t->columns, "m")->category, 'e');
    ck_assert_int_eq(row_columns_find(&t->columns, "r")->category, 'r');
    ck_assert_uint_eq(t->key_count, 2);
    ck_assert_str_eq(t->key[0], "a");
    ck_assert(t->key_unique && t->key_not_null);
    char *fingerprint = text_copy(t->fingerprint);
    catalog_table_free(t);
    sql_exec(db, "alter table \"Shop\".\"Item\" alter column names type varchar[]");
    must(catalog_table(pg, &t, "Shop.Item", NULL, 0, &err), &err);
    ck_assert_str_ne(t->fingerprint, fingerprint);
    catalog_table_free(t);
    free(fingerprint);
    pg_close(pg);
    PQfinish(db);
    database_drop(uri);
}
END_TEST

/* Checks the types of nested parts, following the first part at each level. */
static void expect_line(const struct column *c, const char *const *types)
{
    for (; *types != NULL; types++) {
        ck_assert_str_eq(c->type, *types);
        if (types[1] != NULL) {
            ck_assert_uint_gt(c->part_count, 0);
            c = &c->parts[0];
        }
    }
    ck_assert_uint_eq(c->part_count, 0);
}

START_TEST(what_a_column_is_made_of_is_described_eight_levels_down)
{
    char *uri = database_new();
    struct err err = {0};
    struct table *t = NULL;
    PGconn *db = sql_open(uri);
    sql_exec(db, "create type place as (city text, gone int, zip char(5));"
                 "alter type place drop attribute gone;"
                 "create domain home as place; create domain homes as home[];"
                 "create domain estates as homes[];"
                 "create type d1 as (f int); create type d2 as (f d1); create type d3 as (f d2);"
                 "create type d4 as (f d3); create type d5 as (f d4); create type d6 as (f d5);"
                 "create type d7 as (f d6); create type d8 as (f d7); create type d9 as (f d8);"
                 "create table t (id int primary key, e estates, m tstzrange, d d9)");
    if (server_has(140000)) {
        sql_exec(db, "alter table t drop m, add m tstzmultirange");
    }
    struct pg *pg = walk_connect(uri);
    must(catalog_table(pg, &t, "t", NULL, 0, &err), &err);
    const struct column *e = row_columns_find(&t->columns, "e");
    expect_line(e, (const char *[]){"_homes", "_home", "place", "text", NULL});
    ck_assert_str_eq(e->declared, "public.estates");
    const struct column *place = &e->parts[0].parts[0];
    ck_assert_uint_eq(place->part_count, 2);
    ck_assert_str_eq(place->parts[1].name, "zip");
    ck_assert_str_eq(place->parts[1].declared, "character(5)");
    expect_line(row_columns_find(&t->columns, "m"),
                (const char *[]){"tstzmultirange", "tstzrange", "timestamptz", NULL} +
                    (server_has(140000) ? 0 : 1));
    const struct column *deepest = row_columns_find(&t->columns, "d");
    for (int i = 0; i < 8; i++) {
        ck_assert_int_eq(deepest->category, 'c');
        deepest = &deepest->parts[0];
    }
    ck_assert_str_eq(deepest->type, "d1");
    ck_assert_int_eq(deepest->category, 'b');
    ck_assert_uint_eq(deepest->part_count, 0);
    catalog_table_free(t);
    pg_close(pg);
    PQfinish(db);
    database_drop(uri);
}
END_TEST

START_TEST(a_table_or_column_that_does_not_exist_is_answered_with_the_nearest)
{
    static const char *const wrong[] = {"idd"};
    static const char *const body[] = {"body"};
    char *uri = database_new();
    struct err err = {0};
    struct table *t = NULL;
    PGconn *db = sql_open(uri);
    sql_exec(db, "create table articles (id int not null, body text)");
    struct pg *pg = walk_connect(uri);
    ck_assert_int_eq(catalog_table(pg, &t, "public.artciles", NULL, 0, &err), ERR_REJECTED);
    ck_assert_ptr_nonnull(strstr(err.hint, "public.articles"));
    ck_assert_int_eq(catalog_table(pg, &t, "articles", wrong, 1, &err), ERR_REJECTED);
    ck_assert_ptr_nonnull(strstr(err.hint, "\"id\""));
    ck_assert_int_eq(catalog_table(pg, &t, "articles", NULL, 0, &err), ERR_REJECTED);
    ck_assert_ptr_nonnull(strstr(err.message, "has no primary key"));
    must(catalog_table(pg, &t, "articles", body, 1, &err), &err);
    ck_assert(!t->key_unique && !t->key_not_null);
    catalog_table_free(t);
    pg_close(pg);
    PQfinish(db);
    database_drop(uri);
}
END_TEST

START_TEST(a_second_holder_is_told_who_the_first_is)
{
    char *uri = database_new();
    struct err err = {0};
    struct pg *first = walk_connect(uri);
    struct pg *second = walk_connect(uri);
    must(consumer_lock_hold(first, "articles/one", &err), &err);
    must(consumer_lock_hold(second, "articles/two", &err), &err);
    ck_assert_int_eq(consumer_lock_hold(second, "articles/one", &err), ERR_HELD);
    ck_assert_ptr_nonnull(strstr(err.message, "rowferry test"));
    pg_close(first);
    struct pg *third = walk_connect(uri);
    ck_assert_int_eq(consumer_lock_hold(third, "articles/two", &err), ERR_HELD);
    pg_close(second);
    pg_close(third);
    database_drop(uri);
}
END_TEST

/* A client is killed within a statement: the server notices it only at the end of the statement. */
START_TEST(the_end_of_a_session_whose_client_is_gone_is_waited_for)
{
    char *uri = database_new();
    struct err err = {0};
    struct pg *killed = walk_connect(uri);
    struct pg *next = walk_connect(uri);
    must(consumer_lock_hold(killed, "articles/one", &err), &err);
    ck_assert_int_eq(PQsendQuery(killed->conn, "select pg_sleep(0.2)"), 1);
    ck_assert_int_eq(PQflush(killed->conn), 0);
    ck_assert_int_eq(shutdown(PQsocket(killed->conn), SHUT_RDWR), 0);
    must(consumer_lock_hold(next, "articles/one", &err), &err);
    pg_close(killed);
    pg_close(next);
    database_drop(uri);
}
END_TEST

/* An address that does not name this machine but reaches it: its route is unknown. */
START_TEST(another_host_without_tls_is_refused_and_says_what_to_set)
{
    char other[512];
    struct err err = {0};
    char *uri = database_new();
    const char *at = strchr(uri, '@');
    const char *port = strrchr(at, ':');
    ck_assert(port != NULL);
    snprintf(other, sizeof(other), "%.*s0.0.0.0%s", (int)(at + 1 - uri), uri, port);
    ck_assert_int_eq(try_open(other, NULL, &err), ERR_REJECTED);
    ck_assert_msg(strstr(err.message, "server does not support SSL") != NULL, "%s", err.message);
    ck_assert_msg(strstr(err.hint, "sslmode=disable") != NULL, "%s", err.hint);
    strncat(other, "?sslmode=prefer", sizeof(other) - strlen(other) - 1);
    must(try_open(other, NULL, &err), &err);
    other[strlen(other) - strlen("?sslmode=prefer")] = '\0';
    ck_assert_int_eq(setenv("PGSSLMODE", "disable", 1), 0);
    must(try_open(other, NULL, &err), &err);
    database_drop(uri);
}
END_TEST

SUITE_MAIN("source/pg", another_host_without_tls_is_refused_and_says_what_to_set,
           a_rows_value_in_an_error_is_for_people_and_not_for_the_log,
           nobody_listening_is_temporary,
           of_several_hosts_one_that_never_answers_does_not_hide_the_others,
           where_no_host_answers_the_time_says_so,
           a_wrong_password_a_missing_role_and_a_missing_database_are_refusals,
           a_session_ends_when_we_are_gone_and_not_before,
           text_means_the_same_whatever_the_database_was_set_to,
           transactions_are_what_they_are_called_whatever_the_database_was_set_to,
           a_session_with_another_client_encoding_is_given_up, the_server_is_identified,
           a_table_is_described, what_a_column_is_made_of_is_described_eight_levels_down,
           a_table_or_column_that_does_not_exist_is_answered_with_the_nearest,
           a_second_holder_is_told_who_the_first_is,
           the_end_of_a_session_whose_client_is_gone_is_waited_for)
