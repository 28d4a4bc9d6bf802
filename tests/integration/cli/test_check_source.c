/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of check about a source, and their remedies. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lines.h"
#include "sql.h"
#include "suite.h"
#include "wait.h"

#define CURSOR "\"capture\": {\"mode\": \"cursor\", \"column\": \"updated_at\""
#define ALL(table) planted_try_all(table, sizeof(table) / sizeof((table)[0]))

START_TEST(rights_that_the_role_lacks_are_named_and_granted)
{
    static const struct planted faults[] = {
        {.line = "rights",
         .status = "FAIL",
         .words = "lacks SELECT on public.articles",
         .as_reader = true,
         .plant = "revoke select on articles from READER",
         .remedy = "grant select on public.articles to",
         .mend = MEND_SQL},
        {.line = "rights",
         .status = "FAIL",
         .words = "SELECT on all of public.articles",
         .as_reader = true,
         .plant = "revoke select on articles from READER; grant select (source_id, title) on "
                  "articles to READER",
         .remedy = "grant select on public.articles to",
         .mend = MEND_SQL},
        {.line = "rights",
         .status = "FAIL",
         .words = "usage of schema \"public\"",
         .as_reader = true,
         .plant = "revoke usage on schema public from public; revoke usage on schema public from "
                  "READER",
         .remedy = "grant usage on schema public to",
         .mend = MEND_SQL},
        {.line = "rights",
         .status = "FAIL",
         .words = "usage of schema \"rowferry\"",
         .as_reader = true,
         .plant = "revoke usage on schema rowferry from READER",
         .remedy = "grant usage on schema rowferry to",
         .mend = MEND_SQL},
        {.line = "rights",
         .status = "FAIL",
         .words = "INSERT on rowferry.consumer, SELECT on rowferry.change",
         .as_reader = true,
         .plant = "revoke insert on rowferry.consumer from READER; revoke select on "
                  "rowferry.change from READER",
         .remedy = "grant insert on rowferry.consumer to",
         .mend = MEND_SQL},
        {.line = "rights",
         .status = "FAIL",
         .words = "EXECUTE of rowferry.prune",
         .as_reader = true,
         .plant = "revoke execute on function rowferry.prune(integer, integer) from READER",
         .remedy = "grant execute on function rowferry.prune(integer,integer) to",
         .mend = MEND_SQL},
    };
    ALL(faults);
}
END_TEST

START_TEST(rights_that_nobody_needs_are_taken_away)
{
    static const struct planted faults[] = {
        {.line = "rights",
         .status = "WARN",
         .words = "INSERT, UPDATE public.articles",
         .as_reader = true,
         .plant = "grant insert, update on articles to READER",
         .remedy = "revoke insert, update on public.articles from",
         .mend = MEND_SQL},
        {.line = "rights",
         .status = "WARN",
         .words = "create roles, create databases",
         .as_reader = true,
         .plant = "alter role READER createrole createdb",
         .remedy = "alter role",
         .mend = MEND_SQL},
        {.line = "rights",
         .status = "WARN",
         .words = "do what pg_read_server_files may",
         .as_reader = true,
         .plant = "grant pg_read_server_files to READER",
         .remedy = "revoke pg_read_server_files from",
         .mend = MEND_SQL},
        {.line = "rights",
         .status = "WARN",
         .words = "stream the write-ahead log",
         .as_reader = true,
         .plant = "alter role READER replication",
         .remedy = "alter role",
         .mend = MEND_SQL},
    };
    ALL(faults);
}
END_TEST

START_TEST(a_key_that_identifies_no_row_is_found)
{
    static const struct planted faults[] = {
        {.line = "key",
         .status = "FAIL",
         .words = "no unique index covers it",
         .plant = "alter table articles drop constraint articles_pkey",
         .remedy = "create unique index concurrently on \"public\".\"articles\" (\"source_id\")",
         .mend = MEND_SQL},
        {.line = "key",
         .status = "WARN",
         .words = "may be NULL",
         .plant = "create unique index on articles (source_id); alter table articles drop "
                  "constraint articles_pkey, alter source_id drop not null",
         .remedy = "alter table \"public\".\"articles\" alter column \"source_id\" set not null",
         .mend = MEND_SQL},
    };
    ALL(faults);
}
END_TEST

START_TEST(a_table_that_cannot_be_read_whole_is_found)
{
    static const struct planted faults[] = {
        {.line = "table",
         .status = "FAIL",
         .words = "row security hides rows",
         .as_reader = true,
         .plant = "alter table articles enable row level security",
         .remedy = "alter role",
         .mend = MEND_SQL_ONE},
        {.line = "reading",
         .status = "FAIL",
         .words = "from.where calls now",
         .setting = {.from = "\"where\": \"updated_at < now()\""},
         .remedy = "let a column say it",
         .mend = MEND_SETTING,
         .mended = {.from = "\"where\": \"published\""}},
        {.line = "reading",
         .status = "FAIL",
         .words = "column \"nope\" does not exist",
         .setting = {.from = "\"where\": \"nope > 3\""},
         .remedy = "correct from.where",
         .mend = MEND_SETTING,
         .mended = {.from = "\"where\": \"price > 3\""}},
        {.line = "reading",
         .status = "FAIL",
         .words = "author",
         .before = "create table author (id bigint primary key, name text)",
         .setting = {.from = "\"query\": \"select a.*, (select max(name) from public.author) as "
                             "author from public.articles a\""},
         .remedy = "depends_on",
         .mend = MEND_SETTING,
         .mended = {.from = "\"query\": \"select a.* from public.articles a\""}},
    };
    ALL(faults);
}
END_TEST

#define PARTS                                                                                      \
    "alter table articles rename to old; alter table old rename constraint articles_pkey to "      \
    "old_pkey; create table articles (like old including defaults, primary key (source_id)) "      \
    "partition by range (source_id); create table articles_1 partition of articles for values "    \
    "from (0) to (1000000); insert into articles select * from old; analyze articles"

START_TEST(a_change_log_that_sees_too_little_is_found)
{
    static const struct planted faults[] = {
        {.line = "change log",
         .status = "FAIL",
         .words = "not installed",
         .bare = true,
         .remedy = "rowferry source install",
         .mend = MEND_ROWFERRY},
        {.line = "change log",
         .status = "FAIL",
         .words = "is disabled",
         .plant = "alter table articles disable trigger all",
         .remedy = "rowferry source install",
         .mend = MEND_ROWFERRY},
        {.line = "change log",
         .status = "FAIL",
         .words = "in its member public.articles_1",
         .before = PARTS,
         .plant = "alter table articles_1 disable trigger all",
         .remedy = "rowferry source install",
         .mend = MEND_ROWFERRY},
        {.line = "publications",
         .status = "WARN",
         .words = "\"everything\": includes all tables",
         .plant = "create publication everything for all tables",
         .remedy = "drop publication \"everything\"",
         .mend = MEND_SQL_ONE},
        {.line = "consumers",
         .status = "WARN",
         .words = "keeps entries",
         .synced = true,
         .plant = "update rowferry.consumer set updated_at = now() - interval '2 days'; "
                  "update articles set title = 'new'",
         .remedy = "sync it",
         .mend = MEND_SETTING},
    };
    planted_try_all(faults, 4);
    struct planted stale = faults[4];
    stale.remedy = "sync";
    stale.mend = MEND_ROWFERRY;
    planted_try(&stale);
}
END_TEST

START_TEST(a_cursor_that_is_slow_or_blind_is_found)
{
    static const struct planted faults[] = {
        {.line = "cursor",
         .status = "WARN",
         .words = "no index begins with",
         .bare = true,
         .setting = {.from = CURSOR "}"},
         .remedy = "create index concurrently on \"public\".\"articles\" (\"updated_at\", "
                   "\"source_id\")",
         .mend = MEND_SQL},
        {.line = "cursor",
         .status = "WARN",
         .words = "is NULL are read by the first load",
         .bare = true,
         .plant = "alter table articles alter updated_at drop not null",
         .setting = {.from = CURSOR "}"},
         .remedy = "alter table \"public\".\"articles\" alter column \"updated_at\" set not null",
         .mend = MEND_SQL},
        {.line = "horizon",
         .status = "WARN",
         .words = "this role cannot see",
         .bare = true,
         .as_reader = true,
         .setting = {.from = CURSOR "}"},
         .remedy = "grant pg_read_all_stats to",
         .mend = MEND_SQL},
        {.line = "deletes",
         .status = "WARN",
         .words = "stay in the index",
         .bare = true,
         .setting = {.from = CURSOR "}"},
         .remedy = "set from.capture.deletes",
         .mend = MEND_SETTING,
         .mended = {.from = CURSOR ", \"deletes\": {\"reconcile\": \"1h\"}}"}},
    };
    ALL(faults);
}
END_TEST

/* Breaks the URI in its host, port and database, then restores it. */
START_TEST(a_source_that_does_not_answer_is_told)
{
    static const struct {
        const char *uri, *words, *remedy;
    } ways[] = {
        {"postgresql://rowferry@db.rowferry.invalid/shop", "could not translate host name",
         "correct the host in source.uri"},
        {"postgresql://rowferry@127.0.0.1:%d/shop", "refused", "start the server"},
        {NULL, "does not exist", "correct the database in source.uri"},
    };
    struct world w;
    struct lines l;
    world_start(&w, 5, NULL);
    world_install(&w);
    int port = free_port();
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        char uri[512];
        char member[640];
        if (ways[i].uri != NULL) {
            snprintf(uri, sizeof(uri), ways[i].uri, port);
        } else {
            snprintf(uri, sizeof(uri), "%sless", w.uri);
        }
        snprintf(member, sizeof(member), "\"uri\": \"%s\"", uri);
        w.source = member;
        world_configure(&w, WORLD_PROPERTIES, "");
        lines_look(&l, w.config, "--accept-admin", NULL);
        const char *remedy = lines_expect(&l, "source", "FAIL", ways[i].words);
        ck_assert_msg(strstr(remedy, ways[i].remedy) != NULL, "%s", remedy);
        lines_expect(&l, "table", "SKIP", "needs the source");
        ck_assert_int_eq(l.exit_code, 4);
        lines_release(&l);
    }
    w.source = NULL;
    world_configure(&w, WORLD_PROPERTIES, "");
    lines_look(&l, w.config, "--accept-admin", NULL);
    lines_expect(&l, "source", "PASS", "");
    ck_assert_int_eq(l.exit_code, 0);
    lines_release(&l);
    world_stop(&w);
}
END_TEST

/* Both transactions age at the same time, so there is only one wait. */
START_TEST(transactions_that_are_open_for_long_are_found)
{
    struct world w;
    struct lines l;
    char pid[32];
    world_start(&w, 50, NULL);
    world_install(&w);
    PGconn *idle = sql_open(w.uri);
    sql_exec(idle, "begin; update articles set title = 'open' where source_id = 1");
    sql_exec(w.conn, "begin; update articles set title = 'prepared' where source_id = 2; "
                     "prepare transaction 'left behind'");
    struct deadline deadline = deadline_after(WAIT_MS);
    while (sql_int(w.conn, "select count(*) from pg_prepared_xacts where prepared < "
                           "clock_timestamp() - interval '11 s' and database = "
                           "current_database()") == 0) {
        ck_assert(deadline_wait(&deadline));
    }
    snprintf(pid, sizeof(pid), "process %d ", PQbackendPID(idle));
    lines_look(&l, w.config, "--accept-admin", NULL);
    ck_assert_ptr_nonnull(
        strstr(lines_expect(&l, "transactions", "WARN", pid), "select pg_terminate_backend("));
    sql_exec(w.conn, "%s", strstr(lines_expect(&l, "transactions", "WARN", pid), "select"));
    sql_exec(w.conn, "%s",
             strstr(lines_expect(&l, "transactions", "WARN", "'left behind'"), "rollback"));
    lines_release(&l);
    for (bool gone = false; !gone;) { /* a terminated session disappears after a while */
        lines_look(&l, w.config, "--accept-admin", NULL);
        gone = lines_find(&l, "transactions", "PASS", "none is open for long") != NULL;
        lines_release(&l);
        ck_assert(gone || deadline_wait(&deadline));
    }
    PQfinish(idle);
    world_stop(&w);
}
END_TEST

START_TEST(a_superuser_is_refused_unless_it_is_meant)
{
    struct world w;
    struct lines l;
    char sql[128];
    char reader[32];
    char member[1024];
    world_start(&w, 50, NULL);
    world_install(&w);
    w.strict = true;
    world_configure(&w, WORLD_PROPERTIES, "");
    lines_look(&l, w.config, NULL, NULL);
    ck_assert_int_eq(l.exit_code, 4);
    const char *remedy = lines_expect(&l, "role", "FAIL", "is a superuser");
    ck_assert_ptr_nonnull(strstr(remedy, "create role rowferry login"));
    ck_assert_ptr_nonnull(strstr(remedy, "rowferry source install articles --reader rowferry"));
    lines_expect(&l, "table", "SKIP", "needs a role that is no superuser");
    lines_release(&l);
    lines_look(&l, w.config, "--accept-admin", NULL);
    ck_assert_int_eq(l.exit_code, 0);
    lines_expect(&l, "role", "WARN", "is a superuser");
    lines_release(&l);
    /* a unique name, because roles belong to the server */
    snprintf(reader, sizeof(reader), "rowferry_%d", (int)getpid());
    snprintf(sql, sizeof(sql), "create role %s login password 'x'", reader);
    sql_exec(w.conn, "%s", sql);
    rowferry_expect(0, w.config, "source", "install", "--reader", reader, NULL);
    char *uri = uri_as(w.uri, reader);
    char *secret = scratch_write(w.dir, "secret", "x");
    snprintf(member, sizeof(member), "\"uri\": \"%s\", \"password\": {\"file\": \"%s\"}", uri,
             secret);
    w.source = member;
    world_configure(&w, WORLD_PROPERTIES, "");
    lines_look(&l, w.config, NULL, NULL);
    ck_assert_int_eq(l.exit_code, 0);
    lines_expect(&l, "role", "PASS", "");
    lines_expect(&l, "rights", "PASS", "");
    lines_release(&l);
    sql_exec(w.conn, "drop owned by %s; drop role %s", reader, reader);
    free(uri);
    free(secret);
    world_stop(&w);
}
END_TEST

START_TEST(a_database_that_takes_any_bytes_is_told)
{
    struct world w;
    struct lines l;
    char name[64];
    world_start(&w, 5, NULL);
    snprintf(name, sizeof(name), "ascii_%d", (int)getpid());
    char *uri = w.uri;
    for (int utf8 = 0; utf8 < 2; utf8++) {
        char *place = strdup(uri);
        sql_exec(w.conn, "create database %s encoding '%s' locale 'C' template template0", name,
                 utf8 != 0 ? "UTF8" : "SQL_ASCII");
        w.uri = malloc(strlen(place) + sizeof(name));
        sprintf(w.uri, "%.*s%s", (int)(strrchr(place, '/') + 1 - place), place, name);
        world_configure(&w, WORLD_PROPERTIES, "");
        lines_look(&l, w.config, "--accept-admin", NULL);
        if (utf8 == 0) {
            ck_assert_ptr_nonnull(strstr(lines_expect(&l, "encoding", "WARN", "SQL_ASCII"),
                                         "encoding 'UTF8' template template0"));
        } else {
            lines_expect(&l, "encoding", "PASS", "UTF8");
        }
        lines_release(&l);
        sql_exec(w.conn, "drop database %s with (force)", name);
        free(w.uri);
        free(place);
    }
    w.uri = uri;
    world_stop(&w);
}
END_TEST

/* Returns the number of transactions of a check whose query depends on this number of tables. */
static int64_t transactions_of_check(struct world *w, size_t tables)
{
    char from[16384];
    struct lines l;
    int n = snprintf(from, sizeof(from),
                     "\"query\": \"select a.* from public.articles a\", \"depends_on\": [");
    for (size_t i = 0; i < tables; i++) {
        n += snprintf(from + n, sizeof(from) - (size_t)n,
                      "%s{\"table\": \"d%zu\", \"key\": [\"article\"], \"keys\": "
                      "\"select unnest($1)\"}",
                      i > 0 ? "," : "", i);
    }
    snprintf(from + n, sizeof(from) - (size_t)n, "]");
    world_from(w, from);
    world_install(w);
    const char *count = "select xact_commit + xact_rollback from pg_stat_database where datname = "
                        "current_database()";
    struct deadline d = deadline_after(WAIT_MS);
    while (sql_int(w->conn, "select count(*) from pg_stat_activity where datname = "
                            "current_database() and pid <> pg_backend_pid()") > 0) {
        ck_assert(deadline_wait(&d));
    }
    int64_t before = sql_int(w->conn, "%s", count);
    lines_look(&l, w->config, "--accept-admin", NULL);
    lines_expect(&l, "reading", "PASS", "");
    lines_expect(&l, "change log", "PASS", "");
    lines_release(&l);
    while (sql_int(w->conn, "select count(*) from pg_stat_activity where datname = "
                            "current_database() and pid <> pg_backend_pid()") > 0) {
        ck_assert(deadline_wait(&d));
    }
    return sql_int(w->conn, "%s", count) - before;
}

/* Regression: each table was looked up six times, and 300 of them took a minute. */
START_TEST(a_check_of_many_dependencies_looks_each_up_once_a_connection)
{
    enum { MORE = 20 };
    struct world w;
    world_start(&w, 5, NULL);
    sql_exec(w.conn,
             "do $$ begin for i in 0..%d loop execute format('create table d%%s (id bigint "
             "primary key, article bigint)', i); end loop; end $$",
             MORE);
    int64_t one = transactions_of_check(&w, 1);
    int64_t each = (transactions_of_check(&w, 1 + MORE) - one) / MORE;
    ck_assert_msg(each > 0 && each < 20, "%lld statements for each table", (long long)each);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("integration/check_source", rights_that_the_role_lacks_are_named_and_granted,
           rights_that_nobody_needs_are_taken_away, a_key_that_identifies_no_row_is_found,
           a_table_that_cannot_be_read_whole_is_found, a_change_log_that_sees_too_little_is_found,
           a_cursor_that_is_slow_or_blind_is_found, transactions_that_are_open_for_long_are_found,
           a_source_that_does_not_answer_is_told, a_superuser_is_refused_unless_it_is_meant,
           a_database_that_takes_any_bytes_is_told,
           a_check_of_many_dependencies_looks_each_up_once_a_connection)
