/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of a query are reported, and so is the backlog of all its tables. */
#include "walk.h"

static const char *const columns[] = {"title", "author"};

#define SHOP                                                                                       \
    "create table author (id int primary key, name text);"                                         \
    "create table article (id bigint primary key, title text, author_id int references author);"   \
    "insert into author select i, 'author ' || i from generate_series(1, 5) i;"                    \
    "insert into article select i, 'article ' || i, 1 + i % 5 from generate_series(1, 20) i"

#define JOINED "from public.article a join public.author u on u.id = a.author_id"

static struct walk articles(const char *query)
{
    return (struct walk){
        .table = "public.article", .columns = columns, .column_count = 2, .query = query};
}

static void start_refused(const char *query, const char *message, const char *hint)
{
    struct walk w = articles(query);
    struct err err = {0};
    struct buf position;
    buf_init(&position, 4096);
    walk_new(&w, SHOP);
    walk_open(&w);
    ck_assert_int_eq(w.capture->ops->start(w.capture, &position, &err), ERR_REJECTED);
    ck_assert_msg(strstr(err.message, message) != NULL, "%s", err.message);
    ck_assert_msg(strstr(err.hint, hint) != NULL, "%s", err.hint);
    buf_release(&position);
    walk_free(&w);
}

START_TEST(a_column_that_a_query_has_twice_is_named)
{
    start_refused("select a.id, a.title, u.id " JOINED, "it has two columns \"id\"",
                  "a name of its own");
}
END_TEST

START_TEST(what_waits_of_a_table_that_the_query_depends_on_is_counted)
{
    static char table[] = "public.author";
    static char column[] = "id";
    static char keys[] = "select id from public.article where author_id = any($1)";
    static char *key[] = {column};
    static const struct dependency author = {table, key, 1, keys};
    static const char *const tables[] = {"public.article", "public.author"};
    struct walk w = articles("select a.id, a.title, u.name as author " JOINED);
    struct err err = {0};
    int64_t entries = 0;
    w.dependencies = &author;
    w.dependency_count = 1;
    walk_new(&w, SHOP);
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    struct pg *pg = walk_connect(w.uri);
    sql_exec(w.db, "update article set title = 'new' where id <= 2");
    sql_exec(w.db, "update author set name = 'new' where id <= 3");
    must(changelog_pending(pg, tables, 1, w.position, &entries, &err), &err);
    ck_assert_int_eq(entries, 2);
    must(changelog_pending(pg, tables, 2, w.position, &entries, &err), &err);
    ck_assert_int_eq(entries, 5);
    pg_close(pg);
    walk_free(&w);
}
END_TEST

SUITE_MAIN("source/query_errors", a_column_that_a_query_has_twice_is_named,
           what_waits_of_a_table_that_the_query_depends_on_is_counted)
