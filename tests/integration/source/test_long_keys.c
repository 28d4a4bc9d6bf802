/* SPDX-License-Identifier: Apache-2.0 */
/* Keys that are too long for a document id: they stop nothing and are not stored in the log. */
#include "articles.h"

#define LONGEST "8192"

static const char *const body[] = {"body"};
static const char *const id[] = {"id"};

static struct walk texts(void)
{
    return (struct walk){
        .table = "public.note", .key = id, .key_count = 1, .columns = body, .column_count = 1};
}

#define TEXTS "create table note (id text not null, body text)"

START_TEST(a_key_of_seventy_megabytes_becomes_a_row_of_its_beginning)
{
    struct walk w = texts();
    walk_new(&w, TEXTS);
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    sql_exec(w.db, "insert into note values (repeat('x', 70000000), 'long'), ('b', 'short')");
    ck_assert_int_lt(sql_int(w.db, "select max(octet_length(key)) from rowferry.change"), 514);
    ck_assert_uint_eq(walk_drain(&w), 2);
    ck_assert_int_eq(
        sql_int(w.db, "select count(*) from mirror where key = repeat('x', 513) || '...'"), 1);
    sql_exec(w.db, "delete from note where id like 'x%%'; update note set body = 'newer'");
    walk_drain(&w);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from mirror where key = 'b' and content = "
                                   "'newer'"),
                     1);
    walk_free(&w);
}
END_TEST

START_TEST(the_longest_key_that_is_recorded_is_read_as_it_is)
{
    struct walk w = texts();
    walk_new(&w, TEXTS);
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    sql_exec(w.db, "insert into note values (repeat('y', " LONGEST "), 'longest')");
    ck_assert_uint_eq(walk_drain(&w), 1);
    ck_assert_int_eq(walk_differences(&w, "select id as key, body as content from note"), 0);
    sql_exec(w.db, "delete from note");
    ck_assert_uint_eq(walk_drain(&w), 1);
    ck_assert_int_eq(walk_differences(&w, "select id as key, body as content from note"), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_cut_key_of_a_type_that_cannot_hold_it_is_not_asked_for)
{
    struct walk w = texts();
    walk_new(&w, "create table note (id int[] not null, body text)");
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    sql_exec(w.db, "insert into note select array_agg(i), 'long' from generate_series(1, 9000) i");
    sql_exec(w.db, "insert into note values ('{1}', 'short')");
    ck_assert_uint_eq(walk_drain(&w), 2);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from mirror where content = 'short'"), 1);
    walk_free(&w);
}
END_TEST

/* Without the value its rows are unknown, so everything is read. */
START_TEST(a_value_of_seventy_megabytes_in_a_dependency_has_everything_read)
{
    char *tag_key[] = {TEXT("word")};
    const struct dependency tags[] = {
        {TEXT("public.tag"), tag_key, 1,
         TEXT("select id from public.article where title = any($1)")}};
    static const char *const columns[] = {"title", "tags"};
    struct walk w = {.table = "public.article",
                     .columns = columns,
                     .column_count = 2,
                     .query =
                         "select a.id, a.title, (select count(*) from public.tag t where t.word "
                         "= a.title) as tags from public.article a",
                     .dependencies = tags,
                     .dependency_count = 1};
    walk_new(&w, "create table article (id bigint primary key, title text);"
                 "create table tag (word text);"
                 "insert into article select i, 'article ' || i from generate_series(1, 50) i");
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    sql_exec(w.db, "insert into tag values (repeat('x', 70000000)), ('article 7')");
    ck_assert_uint_ge(walk_drain(&w), 50);
    sql_exec(w.db, "delete from tag where word like 'x%%'");
    walk_drain(&w);
    ck_assert_int_eq(walk_differences(&w,
                                      "select a.id::text as key, concat_ws('|', a.title, (select "
                                      "count(*) from tag t where t.word = a.title)) as content "
                                      "from article a"),
                     0);
    walk_free(&w);
}
END_TEST

START_TEST(long_keys_of_an_earlier_version_are_cut_by_the_upgrade)
{
    struct walk w = texts();
    walk_new(&w, TEXTS);
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    sql_exec(w.db, "insert into rowferry.change (capture, op, key) values (1, 'U', repeat('x', "
                   "70000000)); update rowferry.migration set version = 5");
    walk_install(&w);
    ck_assert_uint_eq(walk_drain(&w), 1);
    walk_free(&w);
}
END_TEST

SUITE_MAIN("source/long_keys", a_key_of_seventy_megabytes_becomes_a_row_of_its_beginning,
           the_longest_key_that_is_recorded_is_read_as_it_is,
           a_cut_key_of_a_type_that_cannot_hold_it_is_not_asked_for,
           a_value_of_seventy_megabytes_in_a_dependency_has_everything_read,
           long_keys_of_an_earlier_version_are_cut_by_the_upgrade)
