/* SPDX-License-Identifier: Apache-2.0 */
/* Documents from several tables, from the configuration to the index. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "http.h"
#include "rowferry/base/buf.h"
#include "sql.h"
#include "suite.h"
#include "world.h"

#define TABLES                                                                                     \
    "create table author (id int primary key, name text);"                                         \
    "create table post (id bigint primary key, title text, author_id int not null);"               \
    "create table comment (id int primary key, post_id bigint not null, body text);"               \
    "create index on post (author_id); create index on comment (post_id);"                         \
    "insert into author select i, 'author ' || i from generate_series(1, 20) i;"                   \
    "insert into post select i, 'post ' || i, 1 + i %% 20 from generate_series(1, 2000) i;"        \
    "insert into comment select i, 1 + i %% 1500, 'comment ' || i from generate_series(1, "        \
    "4000) i;"                                                                                     \
    "analyze"

#define QUERY_OF(people)                                                                           \
    "select p.id, p.title, a.name as author, jsonb_agg(jsonb_build_object('id', c.id, 'body', "    \
    "c.body) order by c.id) filter (where c.id is not null) as comments from public.post p "       \
    "join public." people " a on a.id = p.author_id left join public.comment c "                   \
    "on c.post_id = p.id group by p.id, p.title, a.name"

#define AUTHORS                                                                                    \
    "{\"table\": \"public.author\", \"key\": [\"id\"], "                                           \
    "\"keys\": \"select id from public.post where author_id = any($1)\"}"

#define COMMENTS                                                                                   \
    "{\"table\": \"public.comment\", \"key\": [\"post_id\"], \"keys\": \"select unnest($1)\"}"

static void configure(struct world *w, const char *query, const char *depends_on)
{
    struct buf text;
    buf_init(&text, 64 * 1024);
    buf_printf(&text,
               "{\"accept_admin\": true, \"source\": {\"uri\": \"%s\"},\n"
               "\"service\": {\"url\": \"%s\", \"auth\": {\"api_key\": {\"file\": \"%s/key\"}}},\n"
               "\"state\": {\"path\": \"%s/state.db\"}, \"limits\": {\"retry_budget\": \"20s\"},\n"
               "\"pipelines\": [{\"name\": \"posts\", \"from\": {\"table\": \"public.post\",\n"
               "\"query\": \"%s\",\n\"depends_on\": [%s]},\n"
               "\"to\": {\"index\": \"posts\", \"mappings\": {\"properties\": {"
               "\"id\": {\"type\": \"long\"}, \"title\": {\"type\": \"text\"}, "
               "\"author\": {\"type\": \"keyword\"}, \"comments\": {\"type\": \"nested\", "
               "\"properties\": {\"id\": {\"type\": \"long\"}, \"body\": {\"type\": \"text\"}}}"
               "}}}}]}\n",
               w->uri, w->service.url, w->dir, w->dir, query, depends_on);
    free(w->config);
    w->config = scratch_write(w->dir, "rowferry.json", buf_text(&text));
    buf_release(&text);
}

static void start(struct world *w)
{
    world_start(w, 1, NULL);
    sql_exec(w->conn, TABLES);
    configure(w, QUERY_OF("author"), AUTHORS ", " COMMENTS);
}

/* Compares with an oracle written differently from the query. */
static void expect_posts(struct world *w)
{
    expect_equal(sql_int(w->conn, "select count(*) from post"), w->conn,
                 "select p.id::text, jsonb_build_object('source_id', p.id::text, 'id', p.id, "
                 "'title', p.title, 'author', (select name from author where id = p.author_id), "
                 "'comments', (select jsonb_agg(jsonb_build_object('id', id, 'body', body) "
                 "order by id) from comment where post_id = p.id)) from post p",
                 w->service.url, "posts", "ApiKey " WORLD_API_KEY);
}

static void syncs(struct world *w, int64_t operations)
{
    struct program_result result;
    world_sync(w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "operations"), operations);
    program_result_release(&result);
    expect_posts(w);
}

START_TEST(documents_of_three_tables_stay_equal)
{
    struct world w;
    start(&w);
    world_install(&w);
    syncs(&w, 2000);
    sql_exec(w.conn, "update author set name = 'renamed' where id = 7");
    syncs(&w, 100);
    sql_exec(w.conn, "delete from comment where id = 5");
    syncs(&w, 1);
    sql_exec(w.conn, "update comment set post_id = 1999 where id = 6");
    syncs(&w, 2);
    sql_exec(w.conn, "delete from post where id = 3; insert into post values (2001, 'new', 1)");
    syncs(&w, 2);
    syncs(&w, 0);
    world_stop(&w);
}
END_TEST

START_TEST(what_the_query_reads_and_nothing_covers_is_refused_with_the_remedy)
{
    struct world w;
    struct program_result result;
    start(&w);
    configure(&w, QUERY_OF("author"), AUTHORS);
    world_install(&w);
    world_sync(&w, 1, &result);
    ck_assert_ptr_nonnull(strstr(result.err, "reads the table \"public\".\"comment\""));
    ck_assert_ptr_nonnull(strstr(result.err, "from.depends_on"));
    program_result_release(&result);
    rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
    ck_assert_int_eq(result.exit_code, 4);
    ck_assert_ptr_nonnull(strstr(result.out, "reads the table \"public\".\"comment\""));
    ck_assert_ptr_nonnull(strstr(result.out, "name it in from.depends_on"));
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(a_condition_that_reads_another_table_is_refused)
{
    struct world w;
    struct program_result result;
    start(&w);
    world_where(&w, "source_id in (select id from public.author)");
    world_install(&w);
    world_sync(&w, 1, &result);
    ck_assert_msg(strstr(result.err, "from.where reads the table \"public\".\"author\"") != NULL,
                  "%s", result.err);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(check_refuses_what_changes_with_time)
{
    static const char *const conditions[] = {"updated_at > now() - interval '1 day'",
                                             "updated_at::date < current_date", "random() < 2",
                                             "public.loose(title) = title"};
    struct world w;
    start(&w);
    sql_exec(w.conn, "create function loose(text) returns text language plpgsql as "
                     "'begin return $1; end'; create function strict(text) returns text "
                     "language plpgsql stable as 'begin return $1; end'");
    for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
        struct program_result result;
        world_where(&w, conditions[i]);
        world_install(&w);
        rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
        ck_assert_msg(result.exit_code == 4 &&
                          strstr(result.out, "whose result changes without a change") != NULL,
                      "%s: %s", conditions[i], result.out);
        program_result_release(&result);
    }
    world_where(&w, "public.strict(title) <> 'now() random()' and updated_at > '2020-01-01'");
    rowferry_expect(0, w.config, "check", "--all", "--accept-admin", NULL);
    world_stop(&w);
}
END_TEST

START_TEST(check_looks_at_the_change_log_of_each_table)
{
    struct world w;
    struct program_result result;
    start(&w);
    world_install(&w);
    rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
    ck_assert_msg(result.exit_code == 0, "%s", result.out);
    program_result_release(&result);
    sql_exec(w.conn, "alter table comment disable trigger user");
    rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
    ck_assert_int_eq(result.exit_code, 4);
    ck_assert_msg(strstr(result.out, "(\"public\".\"comment\")") != NULL, "%s", result.out);
    program_result_release(&result);
    rowferry_expect(0, w.config, "source", "uninstall", NULL);
    ck_assert_int_eq(
        sql_int(w.conn, "select count(*) from pg_namespace where nspname = 'rowferry'"), 0);
    world_stop(&w);
}
END_TEST

START_TEST(another_query_or_another_view_needs_another_index)
{
    struct world w;
    start(&w);
    sql_exec(w.conn, "create view people as select id, name from author");
    configure(&w, QUERY_OF("people"), AUTHORS ", " COMMENTS);
    world_install(&w);
    syncs(&w, 2000);
    sql_exec(w.conn, "create or replace view people as select id, upper(name) as name from author");
    world_sync_says(&w, 1, "query differ from those");
    sql_exec(w.conn, "create or replace view people as select id, name from author");
    syncs(&w, 0);
    configure(&w, QUERY_OF("author"), AUTHORS ", " COMMENTS);
    world_sync_says(&w, 1, "query differ from those");
    world_stop(&w);
}
END_TEST

/* The first is inlined: the plan does not show it. */
START_TEST(a_function_that_is_replaced_needs_another_index)
{
    struct world w;
    struct program_result result;
    start(&w);
    sql_exec(w.conn, "create function shown(text) returns text immutable language sql as "
                     "'select upper($1)'");
    configure(&w,
              "select id, public.shown(title) as title, null::text as author, null::jsonb as "
              "comments from public.post",
              AUTHORS);
    world_install(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    sql_exec(w.conn, "alter function shown(text) cost 7; alter function shown(text) owner to "
                     "current_user");
    world_sync(&w, 0, &result);
    program_result_release(&result);
    sql_exec(w.conn, "create or replace function shown(text) returns text immutable language sql "
                     "as 'select lower($1)'");
    world_sync_says(&w, 1, "query differ from those");
    rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
    ck_assert_msg(strstr(result.out, "function public.shown(text): ") != NULL, "%s", result.out);
    program_result_release(&result);
    rowferry_expect(0, w.config, "reindex", "posts", NULL);
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "operations"), 0);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

#define AUTHORS_BY_NUMBER                                                                          \
    "{\"table\": \"author\", \"key\": [\"id\"], "                                                  \
    "\"keys\": \"select p.id from public.post p where p.author_id = any($1)\"}"

/* Rows that only the new keys select were never read. */
START_TEST(other_keys_of_a_dependency_are_named_and_their_order_is_not)
{
    struct world w;
    start(&w);
    world_install(&w);
    syncs(&w, 2000);
    configure(&w, QUERY_OF("author"), COMMENTS ", " AUTHORS);
    syncs(&w, 0);
    configure(&w, QUERY_OF("author"), AUTHORS_BY_NUMBER ", " COMMENTS);
    world_sync_says(&w, 1, "depends_on, where or query differ from those");
    configure(&w, QUERY_OF("author"), AUTHORS ", " COMMENTS);
    syncs(&w, 0);
    world_stop(&w);
}
END_TEST

START_TEST(a_dependency_may_get_columns_but_not_lose_one_that_is_read)
{
    struct world w;
    start(&w);
    world_install(&w);
    syncs(&w, 2000);
    sql_exec(w.conn, "alter table author add column note text");
    sql_exec(w.conn, "update author set note = 'x' where id = 1");
    syncs(&w, 100);
    sql_exec(w.conn, "alter table author rename name to called");
    world_sync_says(&w, 1, "from.query");
    world_stop(&w);
}
END_TEST

static void verify_counts(struct world *w, int exit_code, int64_t missing, int64_t altered,
                          int64_t waiting)
{
    struct program_result r;
    rowferry_run(&r, w->config, "verify", "--json", NULL);
    ck_assert_msg(r.exit_code == exit_code && program_json_int(&r, "missing") == missing &&
                      program_json_int(&r, "extra") == 0 &&
                      program_json_int(&r, "altered") == altered &&
                      program_json_int(&r, "waiting") == waiting,
                  "%d: %.1500s\n%.1500s", r.exit_code, r.out, r.err);
    program_result_release(&r);
}

START_TEST(verify_compares_documents_of_several_tables)
{
    struct world w;
    struct program_result r;
    start(&w);
    world_install(&w);
    syncs(&w, 2000);
    verify_counts(&w, 0, 0, 0, 0);
    json_object_put(reply_json(200, "PUT", w.service.url, "/posts/_doc/7",
                               "{\"source_id\":\"7\",\"title\":\"altered\"}",
                               "ApiKey " WORLD_API_KEY));
    json_object_put(
        reply_json(200, "DELETE", w.service.url, "/posts/_doc/9", NULL, "ApiKey " WORLD_API_KEY));
    verify_counts(&w, 4, 1, 1, 0);
    /* unsettled entries of a dependency make all its rows undecided: neither different nor equal */
    sql_exec(w.conn, "update author set name = 'another' where id = 3");
    verify_counts(&w, 6, 0, 0, 102);
    world_sync(&w, 0, &r);
    program_result_release(&r);
    rowferry_run(&r, w.config, "verify", "--json", "--repair", NULL);
    ck_assert_msg(r.exit_code == 0, "%.1500s%.1500s", r.out, r.err);
    ck_assert_int_eq(program_json_int(&r, "upserts"), 2);
    program_result_release(&r);
    verify_counts(&w, 0, 0, 0, 0);
    expect_posts(&w);
    world_stop(&w);
}
END_TEST

START_TEST(entries_that_nobody_fetches_of_another_table_are_named_by_check)
{
    struct world w;
    struct program_result result;
    start(&w);
    world_install(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    sql_exec(w.conn, "update author set name = name || '!';"
                     "update rowferry.consumer set updated_at = '2026-01-02 12:00Z'");
    rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
    ck_assert_msg(strstr(result.out, " on ") != NULL &&
                      strstr(result.out, "\" since 2026-01-02") != NULL,
                  "%s", result.out);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

/* A change of "author 1" would not find the key of "Author 1", although citext treats them as
 * equal. */
START_TEST(keys_that_compare_citext_are_refused_until_they_say_how)
{
    static const char by_handle[] =
        "{\"table\": \"public.author\", \"key\": [\"handle\"], \"keys\": "
        "\"select id from public.post where by_handle %s any($1)\"}, " COMMENTS;
    struct world w;
    char depends[512];
    world_start(&w, 10, NULL);
    sql_exec(w.conn, TABLES);
    sql_exec(w.conn,
             "create extension citext; alter table author add handle citext; "
             "alter table post add by_handle citext; update author set handle = 'Author ' || id; "
             "update post set by_handle = 'author ' || author_id");
    const char *query = QUERY_OF("author");
    snprintf(depends, sizeof(depends), by_handle, "=");
    configure(&w, query, depends);
    world_install(&w);
    world_sync_says(&w, 1, "from.depends_on.keys uses the column \"by_handle\"");
    snprintf(depends, sizeof(depends), by_handle, "operator(public.=)");
    configure(&w, query, depends);
    world_install(&w);
    world_sync_says(&w, 0, "generation_live");
    sql_exec(w.conn, "update author set name = 'new' where id = 7");
    struct program_result result;
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "upserts"), 100);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("sync/query", keys_that_compare_citext_are_refused_until_they_say_how,
           documents_of_three_tables_stay_equal,
           what_the_query_reads_and_nothing_covers_is_refused_with_the_remedy,
           a_condition_that_reads_another_table_is_refused, check_refuses_what_changes_with_time,
           check_looks_at_the_change_log_of_each_table,
           another_query_or_another_view_needs_another_index,
           a_function_that_is_replaced_needs_another_index,
           other_keys_of_a_dependency_are_named_and_their_order_is_not,
           a_dependency_may_get_columns_but_not_lose_one_that_is_read,
           verify_compares_documents_of_several_tables,
           entries_that_nobody_fetches_of_another_table_are_named_by_check)
