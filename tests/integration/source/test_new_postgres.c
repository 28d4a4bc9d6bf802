/* SPDX-License-Identifier: Apache-2.0 */
/* What PostgreSQL 17 and 18 brought, by name. Each test passes at once on an older server. */
#include <stdio.h>

#include "articles.h"
#include "walk.h"

static char *note_key[] = {TEXT("article")};
static const struct dependency on = {TEXT("public.note"), note_key, 1, TEXT("select unnest($1)")};

static void follow(struct walk *w, const char *ddl)
{
    walk_new(w, ddl);
    walk_start(w);
    walk_copy(w);
    walk_drain(w);
}

static void expect_refused(const struct walk *w, int rc, const struct err *err, const char *words)
{
    ck_assert_int_eq(rc, ERR_REJECTED);
    ck_assert_msg(strstr(err->message, words) != NULL, "%s: %s", w->table, err->message);
    ck_assert_str_ne(err->hint, "");
}

START_TEST(a_virtual_column_follows_the_columns_that_it_is_computed_from)
{
    static const char *const columns[] = {"twice"};
    if (!server_has(180000)) {
        return;
    }
    struct walk w = {.table = "public.note", .columns = columns, .column_count = 1};
    w.where = "twice > 10";
    follow(&w, "create table note (id bigint primary key, body int, twice int generated always as "
               "(body * 2) virtual); insert into note select i, i from generate_series(1, 20) i");
    static const char equal[] = "select id::text, twice::text from note where twice > 10";
    ck_assert_int_eq(walk_differences(&w, equal), 0);
    sql_exec(w.db,
             "update note set body = body + 100 where id < 5; update note set body = 1 "
             "where id = 20; insert into note values (21, 21); delete from note where id = 9");
    ck_assert_uint_eq(walk_drain(&w), 7);
    ck_assert_int_eq(walk_differences(&w, equal), 0);
    walk_free(&w);
}
END_TEST

/* Triggers get NULL in place of a virtual column, so its changes would be lost. */
START_TEST(a_virtual_column_is_refused_as_a_key_of_the_change_log)
{
    static const char *const key[] = {"article"};
    struct err err = {0};
    if (!server_has(180000)) {
        return;
    }
    struct walk w = {.table = "public.note", .key = key, .key_count = 1};
    w.uri = database_new();
    w.db = sql_open(w.uri);
    sql_exec(w.db, "create table note (id bigint primary key, body int, article int generated "
                   "always as (body * 2) virtual)");
    struct pg *pg = walk_connect(w.uri);
    struct table *table = walk_table(&w, pg);
    expect_refused(&w, install_apply(pg, table, NULL, &err), &err,
                   "it has the key column \"article\", which is a virtual generated column");
    catalog_table_free(table);
    table = NULL;
    expect_refused(&w, depend_of_query(pg, &table, &on, &err), &err,
                   "it has the key column \"article\", which is a virtual generated column");
    catalog_table_free(table);
    pg_close(pg);
    walk_free(&w);
}
END_TEST

/* Its index is of GiST, and a part of the key is a range. */
START_TEST(a_key_without_overlaps_is_followed)
{
    static const char *const columns[] = {"guest"};
    if (!server_has(180000)) {
        return;
    }
    struct walk w = {.table = "public.stay", .columns = columns, .column_count = 1, .page_rows = 7};
    follow(&w,
           "create table stay (room int4range, days daterange, guest text, "
           "primary key (room, days without overlaps));"
           "insert into stay select int4range(i % 5, i % 5, '[]'), daterange('2026-01-01'::date "
           "+ i, '2026-01-01'::date + i + 1), i from generate_series(1, 40) i");
    static const char equal[] = "select room || ':' || days, guest from stay";
    ck_assert_int_eq(walk_differences(&w, equal), 0);
    sql_exec(w.db, "update stay set guest = 'new' where days @> '2026-01-05'::date;"
                   "update stay set days = daterange(lower(days), upper(days) + 2) "
                   "where days @> '2026-01-07'::date;"
                   "delete from stay where days @> '2026-01-09'::date;"
                   "insert into stay values ('[1,1]', '[2027-01-01,)', 'stays')");
    ck_assert_uint_eq(walk_drain(&w), 5);
    ck_assert_int_eq(walk_differences(&w, equal), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_merge_that_returns_rows_is_followed)
{
    static const char *const columns[] = {"body"};
    if (!server_has(170000)) {
        return;
    }
    struct walk w = {.table = "public.note", .columns = columns, .column_count = 1};
    follow(&w, "create table note (id bigint primary key, body text);"
               "insert into note select i, i from generate_series(1, 9) i");
    sql_exec(w.db,
             "merge into note n using generate_series(8, 12) i on n.id = i "
             "when matched and i = 8 then delete when matched then update set body = 'merged' "
             "when not matched by source and n.id = 1 then delete "
             "when not matched then insert values (i, 'new') returning merge_action(), n.*");
    ck_assert_uint_eq(walk_drain(&w), 6);
    ck_assert_int_eq(walk_differences(&w, "select id::text, body from note"), 0);
    walk_free(&w);
}
END_TEST

/* Since version 18 such a trigger runs as the role that queued it, before as the one that commits.
 * Neither has rights on the change log. */
START_TEST(a_deferred_trigger_that_writes_the_table_is_followed_whatever_its_role)
{
    static const char *const columns[] = {"body"};
    struct walk w = {.table = "public.note", .columns = columns, .column_count = 1};
    follow(&w,
           "create table note (id bigint primary key, body text); create table entry (id int);"
           "create role queues; create role commits; grant all on note, entry to queues, commits;"
           "create function f() returns trigger language plpgsql as $$ begin "
           "insert into note values (new.id, current_user); return null; end $$;"
           "create constraint trigger deferred after insert on entry deferrable initially "
           "deferred for each row execute function f()");
    sql_exec(w.db, "begin; set local role queues; insert into entry values (1); "
                   "insert into note values (2, 'at once'); set local role commits; commit;"
                   "begin; set role queues; insert into entry values (3); reset role; commit");
    ck_assert_uint_eq(walk_drain(&w), 3);
    ck_assert_int_eq(walk_differences(&w, "select id::text, body from note"), 0);
    if (server_has(180000)) {
        ck_assert_int_eq(sql_int(w.db, "select count(*) from note where body = 'queues'"), 2);
    }
    sql_exec(w.db, "drop owned by queues, commits; drop role queues, commits");
    walk_free(&w);
}
END_TEST

/* NOT NULL may be NOT VALID: older rows have NULL. */
START_TEST(rows_from_before_a_not_null_that_is_not_valid_are_loaded)
{
    static const char *const columns[] = {"body"};
    if (!server_has(180000)) {
        return;
    }
    struct walk w = {.table = "public.note", .columns = columns, .column_count = 1};
    w.cursor = "at";
    follow(&w, "create table note (id bigint primary key, body text, at timestamptz);"
               "create index on note (at);"
               "insert into note select i, i, case when i > 3 then now() end "
               "from generate_series(1, 9) i;"
               "alter table note add constraint filled not null at not valid");
    ck_assert_int_eq(walk_differences(&w, "select id::text, body from note"), 0);
    sql_exec(w.db, "update note set at = now() + interval '1 ms', body = 'new' where id in (1, 9)");
    walk_drain(&w);
    ck_assert_int_eq(walk_differences(&w, "select id::text, body from note"), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_key_whose_not_null_is_not_valid_may_be_null)
{
    static const char *const key[] = {"code"};
    if (!server_has(180000)) {
        return;
    }
    struct walk w = {.table = "public.note", .key = key, .key_count = 1};
    w.uri = database_new();
    w.db = sql_open(w.uri);
    sql_exec(w.db, "create table note (code int unique); insert into note values (null);"
                   "alter table note add constraint filled not null code not valid");
    struct pg *pg = walk_connect(w.uri);
    struct table *table = walk_table(&w, pg);
    ck_assert(table->key_unique && !table->key_not_null);
    catalog_table_free(table);
    sql_exec(w.db, "delete from note; alter table note validate constraint filled");
    table = walk_table(&w, pg);
    ck_assert(table->key_unique && table->key_not_null);
    catalog_table_free(table);
    pg_close(pg);
    walk_free(&w);
}
END_TEST

/* It names no key of a row, and joins nothing by itself. */
START_TEST(a_foreign_key_that_is_not_enforced_changes_nothing)
{
    static const char *const columns[] = {"body"};
    if (!server_has(180000)) {
        return;
    }
    struct walk w = {.table = "public.note", .columns = columns, .column_count = 1};
    follow(&w,
           "create table author (id int primary key); create table note (id bigint primary key, "
           "body text, author int references author on delete cascade not enforced);"
           "insert into author values (1); insert into note values (1, 'a', 1), (2, 'b', 7)");
    sql_exec(w.db, "delete from author");
    ck_assert_uint_eq(walk_drain(&w), 0);
    ck_assert_int_eq(walk_differences(&w, "select id::text, body from note"), 0);
    walk_free(&w);
}
END_TEST

SUITE_MAIN("source/new_postgres", a_virtual_column_follows_the_columns_that_it_is_computed_from,
           a_virtual_column_is_refused_as_a_key_of_the_change_log,
           a_key_without_overlaps_is_followed, a_merge_that_returns_rows_is_followed,
           a_deferred_trigger_that_writes_the_table_is_followed_whatever_its_role,
           rows_from_before_a_not_null_that_is_not_valid_are_loaded,
           a_key_whose_not_null_is_not_valid_may_be_null,
           a_foreign_key_that_is_not_enforced_changes_nothing)
