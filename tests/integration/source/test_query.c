/* SPDX-License-Identifier: Apache-2.0 */
/* Documents from several tables: a change of any table sends the affected rows. */
#include <stdio.h>
#include <unistd.h>

#include "articles.h"

static char *tag_key[] = {TEXT("shop"), TEXT("name")};

static const struct dependency tags[] = {
    {TEXT("public.tag"), tag_key, 2,
     TEXT("select i.shop, i.id from public.item i "
          "join unnest($1, $2) t(shop, name) on i.shop = t.shop and i.tag = t.name")},
};

START_TEST(a_first_load_gives_what_the_query_gives)
{
    struct walk w = following_articles(7);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from mirror"), 50);
    walk_free(&w);
}
END_TEST

START_TEST(a_changed_row_of_the_root_is_sent)
{
    struct walk w = following_articles(0);
    sql_exec(w.db,
             "update article set title = 'new' where id = 3; delete from article where id = 4;"
             "insert into article values (60, 'sixty', 2)");
    ck_assert_uint_eq(walk_drain(&w), 3);
    ck_assert_int_eq(walk_differences(&w, EXPECTED), 0);
    ck_assert_uint_eq(walk_drain(&w), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_renamed_author_sends_the_authors_articles)
{
    struct walk w = following_articles(0);
    sql_exec(w.db, "update author set name = 'renamed' where id = 2");
    ck_assert_uint_eq(walk_drain(&w), 10);
    ck_assert_int_eq(walk_differences(&w, EXPECTED), 0);
    ck_assert_uint_eq(walk_drain(&w), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_deleted_comment_sends_its_article_and_a_moved_one_both)
{
    struct walk w = following_articles(0);
    sql_exec(w.db, "delete from comment where id = 1");
    ck_assert_uint_eq(walk_drain(&w), 1);
    ck_assert_int_eq(walk_differences(&w, EXPECTED), 0);
    sql_exec(w.db, "update comment set article_id = 50 where id = 2");
    ck_assert_uint_eq(walk_drain(&w), 2);
    ck_assert_int_eq(walk_differences(&w, EXPECTED), 0);
    sql_exec(w.db, "insert into comment values (101, null, 'lost'), (102, 50, 'found')");
    ck_assert_uint_eq(walk_drain(&w), 1);
    ck_assert_int_eq(walk_differences(&w, EXPECTED), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_row_that_the_query_gives_no_more_is_deleted)
{
    struct walk w = articles(0);
    w.where = "author <> 'author 2'";
    walk_new(&w, SHOP);
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    ck_assert_int_eq(walk_differences(&w, EXPECTED " where u.name <> 'author 2'"), 0);
    sql_exec(w.db, "update author set name = 'author ' || (5 - id) where id in (2, 3)");
    walk_drain(&w);
    ck_assert_int_eq(walk_differences(&w, EXPECTED " where u.name <> 'author 2'"), 0);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from mirror"), 40);
    walk_free(&w);
}
END_TEST

/* All three tables change in one transaction, pages are small, and another process reads each
 * page. */
START_TEST(changes_of_all_tables_arrive_in_small_pages_whoever_reads_them)
{
    struct walk w = following_articles(4);
    sql_exec(w.db,
             "begin; update author set name = name || '!'; delete from comment where id %% 3 = 0;"
             "update comment set article_id = article_id + 1 where id %% 3 = 1;"
             "update article set author_id = 1 + id %% 4; delete from article where id > 45;"
             "commit");
    int pages = 0;
    do {
        walk_page(&w);
        if (strstr(w.position, " of ") == NULL) {
            walk_again(&w); /* a fan-out would start again */
        }
    } while (++pages < 1000 && !w.drained);
    ck_assert(w.drained);
    ck_assert_int_eq(walk_differences(&w, EXPECTED), 0);
    walk_settle(&w);
    ck_assert_int_eq(walk_differences(&w, EXPECTED), 0);
    walk_free(&w);
}
END_TEST

START_TEST(an_author_of_many_articles_is_sent_in_pages)
{
    struct walk w = articles(500);
    size_t pages = 0;
    size_t most = 0;
    size_t rows = 0;
    walk_new(&w, SHOP);
    sql_exec(w.db,
             "insert into article select i, 'many ' || i, 1 from generate_series(1000, 2999) i");
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    sql_exec(w.db, "update author set name = 'prolific' where id = 1");
    do {
        walk_page(&w);
        pages += w.rows > 0;
        rows += w.rows;
        most = w.rows > most ? w.rows : most;
        if (pages == 2 &&
            w.rows > 0) { /* a crash: restart from the beginning of the entry, up to its end */
            walk_again(&w);
        }
    } while (!w.drained);
    ck_assert_uint_le(most, 500);
    ck_assert_uint_eq(rows, 2010 + 1000);
    ck_assert_int_eq(walk_differences(&w, EXPECTED), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_truncated_dependency_sends_every_root)
{
    struct walk w = following_articles(20);
    sql_exec(w.db, "truncate comment");
    ck_assert_uint_eq(walk_drain(&w), 50);
    ck_assert_int_eq(walk_differences(&w, EXPECTED), 0);
    ck_assert_uint_eq(walk_drain(&w), 0);
    walk_free(&w);
}
END_TEST

START_TEST(changes_during_the_copy_are_replayed)
{
    struct walk w = articles(10);
    walk_new(&w, SHOP);
    walk_start(&w);
    for (int i = 0; i < 3; i++) {
        walk_page(&w);
    }
    ck_assert(w.copying);
    sql_exec(w.db, "update author set name = 'meanwhile'; delete from comment");
    walk_again(&w);
    walk_copy(&w);
    walk_drain(&w);
    ck_assert_int_eq(walk_differences(&w, EXPECTED), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_transaction_on_a_dependency_that_commits_late_is_read)
{
    struct walk w = following_articles(0);
    PGconn *late = sql_open(w.uri);
    sql_exec(late, "begin; update author set name = 'late' where id = 3");
    sql_exec(w.db, "update author set name = 'early' where id = 4; update article set title = 'x' "
                   "where id = 1");
    ck_assert_uint_eq(walk_drain(&w), 11);
    walk_again(&w);
    ck_assert_uint_eq(walk_drain(&w), 0);
    sql_exec(late, "commit");
    ck_assert_uint_eq(walk_drain(&w), 10);
    ck_assert_int_eq(walk_differences(&w, EXPECTED), 0);
    PQfinish(late);
    walk_free(&w);
}
END_TEST

/* Expects a failure whose message has this text. */
static void fails(struct walk *w, const char *text)
{
    struct err err = {0};
    struct buf position;
    buf_init(&position, 4096);
    walk_open(w);
    ck_assert_int_lt(w->capture->ops->start(w->capture, &position, &err), 0);
    ck_assert_msg(strstr(err.message, text) != NULL, "no \"%s\" in: %s", text, err.message);
    walk_close(w);
    buf_release(&position);
}

START_TEST(a_table_that_nothing_covers_is_named)
{
    struct walk w = articles(0);
    w.dependency_count = 1;
    walk_new(&w, SHOP);
    fails(&w, "from.query reads the table \"public\".\"comment\"");
    walk_free(&w);
}
END_TEST

START_TEST(a_table_behind_a_view_is_found)
{
    struct walk w = articles(0);
    w.query = "select a.id, a.title, u.name as author, " COMMENTS " as comments "
              "from public.article a join public.people u on u.id = a.author_id";
    w.dependency_count = 0;
    walk_new(&w, SHOP "; create view people as select * from author");
    fails(&w, "\"public\".\"author\"");
    w.dependencies = dependencies;
    w.dependency_count = 2;
    walk_install(&w);
    walk_start(&w);
    walk_copy(&w);
    sql_exec(w.db, "update author set name = 'seen through the view' where id = 1");
    ck_assert_uint_eq(walk_drain(&w), 10);
    ck_assert_int_eq(walk_differences(&w, EXPECTED), 0);
    walk_free(&w);
}
END_TEST

/* A view shows what its owner may read; the reader may not read its table. */
START_TEST(a_reader_needs_no_more_than_the_grants_and_the_view)
{
    struct walk w = articles(0);
    char role[32];
    w.query = "select a.id, a.title, u.name as author, " COMMENTS " as comments "
              "from public.article a join public.people u on u.id = a.author_id";
    walk_new(&w, SHOP "; create view people as select * from author");
    snprintf(role, sizeof(role), "reader_%d", (int)getpid());
    sql_exec(w.db,
             "create role %1$s login password 'pw'; grant usage on schema public, rowferry to %1$s;"
             "grant select (id) on author to %1$s; grant select on article, comment, people, "
             "rowferry.migration, rowferry.capture, "
             "rowferry.change to %1$s;"
             "grant select, insert, update, delete on rowferry.consumer to %1$s;"
             "grant execute on function rowferry.prune(integer, integer) to %1$s",
             role);
    char *plain = w.uri;
    w.uri = uri_as(plain, role);
    ck_assert_int_eq(setenv("PGPASSWORD", "pw", 1), 0);
    walk_start(&w);
    walk_copy(&w);
    sql_exec(w.db,
             "update author set name = 'seen' where id = 1; delete from comment where id < 9");
    walk_settle(&w);
    ck_assert_int_eq(walk_differences(&w, EXPECTED), 0);
    walk_close(&w);
    unsetenv("PGPASSWORD");
    free(w.uri);
    w.uri = plain;
    sql_exec(w.db, "drop owned by %1$s; drop role %1$s", role);
    walk_free(&w);
}
END_TEST

START_TEST(a_key_of_another_type_is_refused)
{
    struct walk w = articles(0);
    w.query = "select a.id::int as id, a.title, ''::text as author, ''::text as comments from "
              "public.article a";
    w.dependency_count = 0;
    walk_new(&w, SHOP);
    fails(&w, "its column \"id\" is integer, in \"public\".\"article\" it is bigint");
    w.query = "select a.title from public.article a";
    fails(&w, "it has no column \"id\"");
    w.query = "select * from article";
    fails(&w, "relation \"article\" does not exist");
    walk_free(&w);
}
END_TEST

START_TEST(a_key_that_comes_twice_stops_with_the_key_named)
{
    struct walk w = articles(0);
    struct err err = {0};
    w.query = "select a.id, a.title, u.name as author, c.body as comments from public.article a "
              "join public.author u on u.id = a.author_id "
              "left join public.comment c on c.article_id = a.id";
    walk_new(&w, SHOP "; delete from comment where id > 40");
    walk_start(&w);
    walk_copy(&w);
    sql_exec(w.db, "insert into comment values (200, 17, 'one more')");
    int rc = 0;
    for (int i = 0; i < 5 && rc == 0; i++) {
        rc = walk_try(&w, &err);
    }
    ck_assert_int_eq(rc, ERR_REJECTED);
    ck_assert_msg(strstr(err.message, "the key \"17\" identifies two rows") != NULL, "%s",
                  err.message);
    walk_free(&w);
}
END_TEST

START_TEST(rows_without_a_key_are_told)
{
    struct walk w = articles(0);
    size_t nulls = 0;
    w.query = "select nullif(a.id, 5) as id, a.title, null::text as author, null::text as comments "
              "from public.article a";
    w.dependency_count = 0;
    walk_new(&w, SHOP);
    walk_start(&w);
    while (strncmp(w.position, "copy", 4) == 0) {
        walk_page(&w);
        nulls += w.null_keys;
    }
    ck_assert_uint_eq(nulls, 1);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from mirror"), 49);
    walk_free(&w);
}
END_TEST

/* Paging the log disables sorts, but a query with joins may need them. */
START_TEST(a_query_may_sort)
{
    struct walk w = articles(0);
    w.query = "select a.id, current_setting('enable_sort') as title, "
              "current_setting('enable_bitmapscan') as author, null::text as comments "
              "from public.article a join public.author u on u.id = a.author_id";
    walk_new(&w, SHOP);
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    sql_exec(w.db, "truncate mirror; update article set title = 'new' where id <= 3");
    ck_assert_uint_eq(walk_drain(&w), 3);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from mirror where content = 'on|on|~'"), 3);
    walk_free(&w);
}
END_TEST

START_TEST(several_key_columns_and_several_recorded_columns)
{
    static const char *const columns[] = {"label"};
    struct walk w = {.table = "public.item",
                     .columns = columns,
                     .column_count = 1,
                     .query = "select i.shop, i.id, max(t.label) as label from public.item i "
                              "left join public.tag t on t.shop = i.shop and t.name = i.tag "
                              "group by i.shop, i.id",
                     .dependencies = tags,
                     .dependency_count = 1,
                     .page_rows = 3};
    walk_new(&w, "create table tag (shop text, name text, label text, primary key (shop, name));"
                 "create table item (shop text, id int, tag text, primary key (shop, id));"
                 "insert into tag select s, n, s || n from unnest(array['a:b', 'c']) s, "
                 "unnest(array['x', 'y,\"']) n;"
                 "insert into item select s, i, case i % 2 when 0 then 'x' else 'y,\"' end "
                 "from unnest(array['a:b', 'c']) s, generate_series(1, 10) i");
    walk_start(&w);
    walk_copy(&w);
    static const char expected[] =
        "select replace(i.shop, ':', '\\:') || ':' || i.id, coalesce(t.label, '~') from item i "
        "left join tag t on t.shop = i.shop and t.name = i.tag";
    ck_assert_int_eq(walk_differences(&w, expected), 0);
    sql_exec(w.db, "update tag set label = 'new' where name <> 'x' and shop = 'a:b'");
    ck_assert_uint_eq(walk_drain(&w), 5);
    ck_assert_int_eq(walk_differences(&w, expected), 0);
    sql_exec(w.db, "delete from tag where shop = 'c'");
    ck_assert_uint_eq(walk_drain(&w), 10);
    ck_assert_int_eq(walk_differences(&w, expected), 0);
    walk_free(&w);
}
END_TEST

SUITE_MAIN("source/query", a_first_load_gives_what_the_query_gives,
           a_changed_row_of_the_root_is_sent, a_renamed_author_sends_the_authors_articles,
           a_deleted_comment_sends_its_article_and_a_moved_one_both,
           a_row_that_the_query_gives_no_more_is_deleted,
           changes_of_all_tables_arrive_in_small_pages_whoever_reads_them,
           an_author_of_many_articles_is_sent_in_pages, a_truncated_dependency_sends_every_root,
           changes_during_the_copy_are_replayed,
           a_transaction_on_a_dependency_that_commits_late_is_read,
           a_table_that_nothing_covers_is_named, a_table_behind_a_view_is_found,
           a_reader_needs_no_more_than_the_grants_and_the_view, a_key_of_another_type_is_refused,
           a_key_that_comes_twice_stops_with_the_key_named, rows_without_a_key_are_told,
           a_query_may_sort, several_key_columns_and_several_recorded_columns)
