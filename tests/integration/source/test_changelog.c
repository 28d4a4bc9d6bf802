/* SPDX-License-Identifier: Apache-2.0 */
/* The change log: every change arrives after its commit, exactly once. */
#include "notes.h"

START_TEST(inserts_updates_deletes_and_upserts_arrive)
{
    struct walk w = following(0);
    sql_exec(w.db, "insert into note values (21, 'new');"
                   "update note set body = 'changed' where id in (1, 2);"
                   "delete from note where id in (3, 4, 5);"
                   "insert into note values (6, 'kept?'), (22, 'new') on conflict (id) do update "
                   "set body = excluded.body");
    ck_assert_uint_eq(walk_drain(&w), 8);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    ck_assert_uint_eq(walk_drain(&w), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_changed_key_deletes_the_old_and_writes_the_new)
{
    struct walk w = following(0);
    sql_exec(w.db, "update note set id = id + 100 where id between 7 and 9");
    walk_drain(&w);
    ck_assert_uint_eq(w.rows, 3);
    ck_assert_uint_eq(w.gone, 3);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_merge_arrives)
{
    if (!server_has(150000)) {
        return;
    }
    struct walk w = following(0);
    sql_exec(w.db, "merge into note n using (values (1, 'merged'), (2, null), (50, 'merged')) "
                   "v(id, body) on n.id = v.id when matched and v.body is null then delete "
                   "when matched then update set body = v.body "
                   "when not matched then insert values (v.id, v.body)");
    walk_drain(&w);
    ck_assert_uint_eq(w.rows, 2);
    ck_assert_uint_eq(w.gone, 1);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(rows_that_a_foreign_key_deletes_are_deleted)
{
    struct walk w = notes();
    walk_new(&w, "create table author (id int primary key); insert into author values (1), (2);"
                 "create table note (id bigint primary key, body text, author int references "
                 "author on delete cascade)");
    sql_exec(w.db, "insert into note select i, 'x', 1 + i %% 2 from generate_series(1, 10) i");
    walk_start(&w);
    walk_copy(&w);
    sql_exec(w.db, "delete from author where id = 1");
    walk_drain(&w);
    ck_assert_uint_eq(w.gone, 5);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_transaction_that_commits_late_is_read_once)
{
    struct walk w = following(0);
    PGconn *late = sql_open(w.uri);
    sql_exec(late, "begin; update note set body = 'late' where id = 1; insert into note values "
                   "(31, 'late')");
    sql_exec(w.db, "update note set body = 'early' where id = 2");
    ck_assert_uint_eq(walk_drain(&w), 1);
    sql_exec(w.db, "update note set body = 'early' where id = 3");
    ck_assert_uint_eq(walk_drain(&w), 1);
    walk_again(&w);
    ck_assert_uint_eq(walk_drain(&w), 0);
    sql_exec(late, "commit");
    ck_assert_uint_eq(walk_drain(&w), 2);
    ck_assert_uint_eq(walk_drain(&w), 0);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    PQfinish(late);
    walk_free(&w);
}
END_TEST

/* Four transactions are open at the recorded snapshot and four come later; a page holds three. */
START_TEST(a_window_larger_than_a_page_is_read_in_parts_and_resumed_in_each)
{
    struct walk w = following(3);
    PGconn *late[4];
    for (int i = 0; i < 4; i++) {
        late[i] = sql_open(w.uri);
        sql_exec(late[i], "begin; update note set body = 'late' where id = %d;", i + 1);
    }
    sql_exec(w.db, "insert into note values (99, 'moves the snapshot')");
    walk_drain(&w);
    for (int i = 0; i < 4; i++) {
        sql_exec(late[i],
                 "insert into note select 1000 + %d * 10 + j, 'late' from "
                 "generate_series(1, 5) j; commit",
                 i);
        sql_exec(w.db,
                 "insert into note select 2000 + %d * 10 + j, 'new' from "
                 "generate_series(1, 5) j",
                 i);
        PQfinish(late[i]);
    }
    size_t pages = 0;
    size_t changes = 0;
    do {
        walk_page(&w);
        ck_assert_uint_le(w.rows, 6);
        changes += w.rows + w.gone;
        walk_again(&w);
        pages++;
        if (pages == 3) { /* a change in the middle belongs to the next window */
            sql_exec(w.db, "update note set body = 'meanwhile' where id = 20");
        }
    } while (strstr(w.position, " to ") != NULL);
    ck_assert_uint_gt(pages, 10);
    ck_assert_uint_eq(changes, 44);
    ck_assert_uint_eq(walk_drain(&w), 1);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_rolled_back_change_is_no_change)
{
    struct walk w = following(0);
    sql_exec(w.db, "begin; update note set body = 'x'; savepoint s; delete from note; rollback");
    sql_exec(w.db, "begin; savepoint s; delete from note where id = 1; rollback to s; "
                   "update note set body = 'kept' where id = 2; commit");
    ck_assert_uint_eq(walk_drain(&w), 1);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(rows_that_stop_matching_the_condition_are_deleted)
{
    struct walk w = notes();
    w.where = "body <> 'hidden' -- only what people may see";
    walk_new(&w, NOTES);
    sql_exec(w.db, "insert into note values (1, 'seen'), (2, 'seen'), (3, 'hidden')");
    walk_start(&w);
    walk_copy(&w);
    sql_exec(w.db, "update note set body = case id when 3 then 'seen' else 'hidden' end "
                   "where id in (1, 3)");
    walk_drain(&w);
    ck_assert_uint_eq(w.rows, 1);
    ck_assert_uint_eq(w.gone, 1);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY " where body <> 'hidden'"), 0);
    walk_free(&w);
}
END_TEST

START_TEST(key_text_is_the_same_whatever_the_writers_settings)
{
    static const char *const key[] = {"at", "amount", "raw"};
    struct walk w = notes();
    w.key = key;
    w.key_count = 3;
    walk_new(&w, "create table note (at timestamptz, amount float8, raw bytea, body text, "
                 "primary key (at, amount, raw))");
    walk_start(&w);
    walk_copy(&w);
    sql_exec(w.db, "set datestyle = 'German'; set timezone = 'Asia/Tokyo'; "
                   "set extra_float_digits = -3; set bytea_output = 'escape'; "
                   "set standard_conforming_strings = off");
    sql_exec(w.db, "insert into note values ('2024-03-10 07:04:56.5+00', 0.1::float8 + 0.2, "
                   "'a:b'::bytea, 'x'), ('2024-03-10 07:04:57+00', 1, 'c', 'y')");
    ck_assert_uint_eq(walk_drain(&w), 2);
    char *first = sql_text(w.db, "select key from mirror order by key limit 1");
    ck_assert_str_eq(first, "2024-03-10 07\\:04\\:56.5+00:0.30000000000000004:\\\\x613a62");
    sql_exec(w.db, "delete from note where body = 'x'");
    ck_assert_uint_eq(walk_drain(&w), 1);
    ck_assert_uint_eq(w.gone, 1);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from mirror"), 1);
    free(first);
    walk_free(&w);
}
END_TEST

START_TEST(a_key_that_changes_in_text_only_moves_the_document)
{
    static const char *const key[] = {"price"};
    struct walk w = notes();
    w.key = key;
    w.key_count = 1;
    walk_new(&w, "create table note (price numeric primary key, body text)");
    sql_exec(w.db, "insert into note values (1.0, 'x'), (2, 'y')");
    walk_start(&w);
    walk_copy(&w);
    sql_exec(w.db, "update note set price = 1.00 where price = 1");
    walk_drain(&w);
    ck_assert_uint_eq(w.rows, 1);
    ck_assert_uint_eq(w.gone, 1);
    ck_assert_int_eq(walk_differences(&w, "select price::text, body from note"), 0);
    walk_free(&w);
}
END_TEST

START_TEST(rows_without_a_key_are_shown_as_such)
{
    static const char *const key[] = {"code"};
    struct walk w = notes();
    w.key = key;
    w.key_count = 1;
    walk_new(&w, "create table note (code text unique, body text)");
    sql_exec(w.db, "insert into note values ('a', 'x'), (null, 'y'), ('b', 'z')");
    walk_start(&w);
    for (size_t rows = 0, nulls = 0; rows < 2 || nulls < 1;) {
        walk_page(&w); /* by keys, before version 14: one page for each */
        rows += w.rows;
        nulls += w.null_keys;
    }
    walk_copy(&w);
    sql_exec(w.db, "update note set code = null where code = 'a'");
    walk_page(&w);
    ck_assert_uint_eq(w.gone, 1);
    ck_assert_uint_eq(w.null_keys, 2);
    walk_free(&w);
}
END_TEST

START_TEST(a_truncated_table_is_told_before_anything_is_deleted)
{
    struct walk w = following(0);
    struct err err = {0};
    sql_exec(w.db, "delete from note where id = 3");
    sql_exec(w.db, "truncate note");
    sql_exec(w.db, "insert into note values (21, 'new')");
    for (int i = 0; i < 2; i++) { /* reported again if it was not handled */
        walk_page(&w);
        ck_assert(w.judged && w.truncated);
        ck_assert_int_eq(sql_int(w.db, "select count(*) from mirror"), 20);
        must(w.capture->ops->resume(w.capture, w.position, &err), &err);
    }
    walk_page(&w);
    sql_exec(w.db, "truncate note"); /* after the prescan: reported separately */
    walk_page(&w);
    ck_assert(!w.judged);
    ck_assert_uint_eq(w.gone, 2);
    walk_page(&w);
    ck_assert(w.judged && w.truncated);
    walk_page(&w);
    ck_assert(!w.judged);
    walk_free(&w);
}
END_TEST

START_TEST(a_dropped_column_stops_and_is_named)
{
    struct walk w = following(0);
    struct err err = {0};
    sql_exec(w.db, "alter table note drop column body");
    ck_assert_int_eq(walk_try(&w, &err), ERR_STATE);
    ck_assert_ptr_nonnull(strstr(err.message, "column \"body\" of \"public\".\"note\" is gone"));
    walk_free(&w);
}
END_TEST

START_TEST(triggers_that_were_off_for_a_while_are_noticed)
{
    struct walk w = following(0);
    sql_exec(w.db, "alter table note disable trigger user; update note set body = 'unseen';"
                   "alter table note enable always trigger rowferry_1_delete;"
                   "alter table note enable always trigger rowferry_1_insert;"
                   "alter table note enable always trigger rowferry_1_update;"
                   "alter table note enable always trigger rowferry_1_truncate;"
                   "alter table note enable replica trigger rowferry_1_row");
    walk_expect_lost(&w, "changes may have been missed");
    walk_expect_again(&w, "changes may have been missed");
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

/* The new triggers have the same names, but changes between the two have no entry. */
START_TEST(triggers_that_were_dropped_and_made_again_are_noticed)
{
    struct walk w = following(0);
    sql_exec(w.db, "drop trigger rowferry_1_update on note; update note set body = 'unseen'");
    walk_install(&w);
    walk_expect_again(&w, "the triggers of \"public\".\"note\" were changed");
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_log_that_was_removed_and_installed_again_is_copied_again)
{
    struct walk w = following(0);
    sql_exec(w.db, "drop schema rowferry cascade; update note set body = 'unseen'");
    walk_install(&w);
    walk_expect_again(&w, "");
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_write_as_a_replica_is_seen)
{
    struct walk w = following(0);
    sql_exec(w.db, "set session_replication_role = replica; delete from note where id = 1; reset "
                   "session_replication_role");
    ck_assert_uint_eq(walk_drain(&w), 1);
    ck_assert_uint_eq(w.gone, 1);
    walk_free(&w);
}
END_TEST

START_TEST(single_keys_are_read_again_without_moving_the_position)
{
    struct walk w = following(0);
    struct err err = {0};
    struct span keys[] = {span_make("1", 1), span_make("777", 3), span_make("2", 1)};
    char *before = text_copy(w.position);
    sql_exec(w.db, "delete from note where id = 2");
    must(w.capture->ops->begin_keys(w.capture, keys, 3, false, &err), &err);
    must(walk_rest(&w, &err), &err);
    ck_assert_uint_eq(w.rows, 1);
    ck_assert_uint_eq(w.gone, 2);
    ck_assert_str_eq(w.position, before);
    ck_assert_uint_eq(walk_drain(&w), 1);
    free(before);
    walk_free(&w);
}
END_TEST

SUITE_MAIN("source/changelog", inserts_updates_deletes_and_upserts_arrive,
           a_changed_key_deletes_the_old_and_writes_the_new, a_merge_arrives,
           rows_that_a_foreign_key_deletes_are_deleted,
           a_transaction_that_commits_late_is_read_once,
           a_window_larger_than_a_page_is_read_in_parts_and_resumed_in_each,
           a_rolled_back_change_is_no_change, rows_that_stop_matching_the_condition_are_deleted,
           key_text_is_the_same_whatever_the_writers_settings,
           a_key_that_changes_in_text_only_moves_the_document, rows_without_a_key_are_shown_as_such,
           a_truncated_table_is_told_before_anything_is_deleted,
           a_dropped_column_stops_and_is_named, triggers_that_were_off_for_a_while_are_noticed,
           triggers_that_were_dropped_and_made_again_are_noticed,
           a_log_that_was_removed_and_installed_again_is_copied_again, a_write_as_a_replica_is_seen,
           single_keys_are_read_again_without_moving_the_position)
