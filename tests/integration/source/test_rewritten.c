/* SPDX-License-Identifier: Apache-2.0 */
/* A table rewritten by ALTER TABLE, VACUUM FULL or CLUSTER, and added or dropped columns. */
#include <stdio.h>

#include "notes.h"

static void stops(struct walk *w, const char *text)
{
    struct err err = {0};
    ck_assert_int_eq(walk_try(w, &err), ERR_STATE);
    ck_assert_msg(strstr(err.message, text) != NULL, "%s", err.message);
    ck_assert_uint_gt(strlen(err.hint), 0);
    walk_close(w);
    walk_open(w);
    must(w->capture->ops->resume(w->capture, w->position, &err), &err);
    ck_assert_int_eq(walk_try(w, &err), ERR_STATE);
}

START_TEST(rows_that_alter_table_changed_are_not_taken_for_unchanged)
{
    struct walk w = following(0);
    sql_exec(w.db, "alter table note alter column body type text using body || '!'");
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 40);
    walk_expect_lost(&w, "table \"public\".\"note\" was rewritten by ALTER TABLE: its rows may");
    walk_expect_again(&w, "table \"public\".\"note\" was rewritten by ALTER TABLE: its rows may");
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(rows_that_alter_table_changed_between_two_syncs_are_noticed)
{
    struct walk w = following(0);
    sql_exec(w.db, "alter table note alter column body type text using id::text");
    walk_expect_again(&w, "was rewritten by ALTER TABLE");
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_table_that_is_only_stored_anew_is_not_read_again)
{
    static const char *const harmless[] = {
        "vacuum full note",
        "alter table note alter column body set default 'x'",
        "cluster note using note_pkey",
        "alter table note alter column body set not null",
        "alter table note add column noise float8 default random()",
        "alter table note add column twice text generated always as (body || body) stored",
        "alter table note drop column noise",
    };
    struct walk w = following(0);
    for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++) {
        sql_exec(w.db, "%s", harmless[i]);
        walk_again(&w);
        ck_assert_uint_eq(walk_drain(&w), 0);
        sql_exec(w.db, "update note set body = 'round %zu' where id = 3", i);
        ck_assert_uint_eq(walk_drain(&w), 1);
    }
    walk_free(&w);
}
END_TEST

/* Stored columns are rewritten without triggers, virtual ones are not written at all. */
START_TEST(another_expression_of_a_generated_column_has_all_copied_again)
{
    static const struct {
        int version; /* first server version with this kind */
        const char *kind;
    } kinds[] = {{170000, "stored"}, {180000, "virtual"}};
    static const char *const columns[] = {"twice"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (!server_has(kinds[i].version)) {
            continue;
        }
        struct walk w = {.table = "public.note", .columns = columns, .column_count = 1};
        char ddl[256];
        snprintf(ddl, sizeof(ddl),
                 "create table note (id bigint primary key, body int, "
                 "twice int generated always as (body * 2) %s)",
                 kinds[i].kind);
        walk_new(&w, ddl);
        sql_exec(w.db, "insert into note select i, i from generate_series(1, 20) i");
        walk_start(&w);
        walk_copy(&w);
        walk_drain(&w);
        sql_exec(w.db, "alter table note alter column twice set expression as (body * 3)");
        walk_expect_lost(&w, "table \"public\".\"note\" was rewritten by ALTER TABLE");
        walk_expect_again(&w, "table \"public\".\"note\" was rewritten by ALTER TABLE");
        ck_assert_int_eq(walk_differences(&w, "select id::text, twice::text from note"), 0);
        sql_exec(w.db, "vacuum full note");
        ck_assert_uint_eq(walk_drain(&w), 0);
        walk_free(&w);
    }
}
END_TEST

START_TEST(what_a_condition_looks_at_may_not_be_rewritten_either)
{
    struct walk w = notes();
    w.where = "not hidden";
    walk_new(&w, "create table note (id bigint primary key, body text, hidden boolean)");
    sql_exec(w.db, "insert into note select i, 'x', i > 5 from generate_series(1, 10) i");
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    sql_exec(w.db, "alter table note alter column hidden type boolean using not hidden");
    walk_expect_lost(&w, "was rewritten by ALTER TABLE");
    walk_expect_again(&w, "was rewritten by ALTER TABLE");
    walk_free(&w);
}
END_TEST

START_TEST(a_column_that_is_not_read_may_come_and_go_meanwhile)
{
    struct walk w = following(0);
    sql_exec(w.db, "alter table note add column later text");
    ck_assert_uint_eq(walk_drain(&w), 0);
    sql_exec(w.db, "update note set body = 'x', later = 'y' where id = 1");
    ck_assert_uint_eq(walk_drain(&w), 1);
    sql_exec(w.db, "alter table note drop column later");
    ck_assert_uint_eq(walk_drain(&w), 0);
    walk_again(&w);
    ck_assert_uint_eq(walk_drain(&w), 0);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_column_that_was_dropped_and_added_again_is_named)
{
    struct walk w = following(0);
    sql_exec(w.db, "alter table note drop column body; alter table note add column body text");
    stops(&w, "column \"body\" of \"public\".\"note\" has another type or was re-created");
    walk_free(&w);
}
END_TEST

START_TEST(a_key_of_another_type_is_named)
{
    struct walk w = following(0);
    struct err err = {0};
    sql_exec(w.db, "alter table note alter column id type numeric");
    ck_assert_int_eq(walk_try(&w, &err), ERR_STATE);
    ck_assert_ptr_nonnull(strstr(err.message, "column \"id\" of \"public\".\"note\" has another"));
    walk_free(&w);
}
END_TEST

/* The trigger names the column, also in cached plans of a session. Changes under the other name are
 * read again once the column has its name back. */
static void write_all_ways(PGconn *conn, const char *column)
{
    sql_exec(conn, "insert into note (%s, body) values (21, 'new'), (22, 'new')", column);
    sql_exec(conn, "update note set body = 'changed' where %s in (1, 2)", column);
    sql_exec(conn, "delete from note where %s = 3", column);
    sql_exec(conn,
             "insert into note values (4, 'x') on conflict (%s) do update set body = 'upserted'",
             column);
    sql_exec(conn,
             "set session_replication_role = replica;"
             "update note set body = 'applied' where %s = 5;"
             "reset session_replication_role",
             column);
    sql_exec(conn, "delete from note where %s in (21, 22)", column);
}

START_TEST(a_key_column_that_was_renamed_fails_no_writer_and_loses_no_change)
{
    struct err err = {0};
    struct walk w = following(0);
    PGconn *other = sql_open(w.uri);
    write_all_ways(w.db, "id");
    write_all_ways(other, "id");
    walk_drain(&w);
    sql_exec(w.db, "alter table note rename id to ident");
    write_all_ways(w.db, "ident");
    write_all_ways(other, "ident");
    ck_assert_int_eq(walk_try(&w, &err), ERR_STATE);
    ck_assert_ptr_nonnull(strstr(err.message, "column \"id\" of \"public\".\"note\" is gone"));
    sql_exec(w.db, "alter table note rename ident to id");
    walk_again(&w);
    sql_exec(other, "update note set body = 'last' where id = 6");
    walk_expect_lost(&w, "rows of \"public\".\"note\" were changed while a column of its key");
    walk_expect_again(&w, "the source does not know the consumer");
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    sql_exec(other, "update note set body = 'after' where id = 7");
    ck_assert_uint_eq(walk_drain(&w), 1);
    PQfinish(other);
    walk_free(&w);
}
END_TEST

START_TEST(a_key_column_that_was_dropped_fails_no_writer)
{
    struct walk w = following(0);
    struct err err = {0};
    sql_exec(w.db, "alter table note drop column id");
    sql_exec(
        w.db,
        "insert into note values ('new'); update note set body = body || '!'; delete from note "
        "where body like 'new%%'");
    ck_assert_int_eq(walk_try(&w, &err), ERR_STATE);
    ck_assert_ptr_nonnull(strstr(err.message, "column \"id\" of \"public\".\"note\" is gone"));
    walk_free(&w);
}
END_TEST

SUITE_MAIN("source/rewritten", another_expression_of_a_generated_column_has_all_copied_again,
           a_key_column_that_was_renamed_fails_no_writer_and_loses_no_change,
           a_key_column_that_was_dropped_fails_no_writer,
           rows_that_alter_table_changed_are_not_taken_for_unchanged,
           rows_that_alter_table_changed_between_two_syncs_are_noticed,
           a_table_that_is_only_stored_anew_is_not_read_again,
           what_a_condition_looks_at_may_not_be_rewritten_either,
           a_column_that_is_not_read_may_come_and_go_meanwhile,
           a_column_that_was_dropped_and_added_again_is_named, a_key_of_another_type_is_named)
