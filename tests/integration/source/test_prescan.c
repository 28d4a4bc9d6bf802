/* SPDX-License-Identifier: Apache-2.0 */
/* The prescan: deletes of a large window are reported before any change of it. */
#include "notes.h"

START_TEST(a_window_of_several_pages_tells_its_deletes_first)
{
    struct walk w = following(4);
    walk_guard(&w, 10);
    sql_exec(w.db, "delete from note where id <= 9; update note set body = 'new' where id > 15");
    ck_assert_uint_eq(walk_look(&w), 9);
    ck_assert(!w.truncated);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from mirror"), 20);
    ck_assert_uint_eq(walk_drain(&w), 14);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_page_of_more_keys_than_harmless_is_looked_through)
{
    struct walk w = following(0);
    walk_guard(&w, 4);
    sql_exec(w.db, "delete from note where id <= 4");
    walk_page(&w); /* this number is permitted */
    ck_assert_uint_eq(w.gone, 4);
    ck_assert(!w.judged);
    sql_exec(w.db, "delete from note where id between 5 and 9");
    ck_assert_uint_eq(walk_look(&w), 5);
    walk_page(&w);
    ck_assert_uint_eq(w.gone, 5);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(what_commits_after_the_look_is_looked_at_by_itself)
{
    struct walk w = following(0);
    walk_guard(&w, 4);
    sql_exec(w.db, "update note set body = 'new' where id <= 5");
    ck_assert_uint_eq(walk_look(&w), 0);
    sql_exec(w.db, "delete from note where id > 10");
    walk_page(&w);
    ck_assert_uint_eq(w.rows, 5);
    ck_assert_uint_eq(w.gone, 0);
    ck_assert(!w.drained);
    ck_assert_uint_eq(walk_look(&w), 10);
    walk_drain(&w);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_truncate_behind_other_changes_ends_the_look)
{
    struct walk w = following(4);
    walk_guard(&w, 10);
    sql_exec(w.db, "delete from note where id <= 9");
    sql_exec(w.db, "truncate note");
    walk_look(&w);
    ck_assert(w.truncated);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from mirror"), 20);
    walk_drain(&w);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from mirror"),
                     11); /* the reconcile finds the rest */
    walk_free(&w);
}
END_TEST

START_TEST(rows_that_a_condition_stops_showing_are_foreseen)
{
    struct walk w = notes();
    w.where = "body is not null";
    walk_new(&w, NOTES);
    sql_exec(w.db, "insert into note select i, 'old' from generate_series(1, 20) i");
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    walk_guard(&w, 10);
    sql_exec(w.db, "update note set body = null");
    ck_assert_uint_eq(walk_look(&w), 20);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from mirror"), 20);
    walk_free(&w);
}
END_TEST

START_TEST(keys_asked_for_their_lack_of_a_row_tell_no_rows)
{
    struct walk w = following(0);
    struct err err = {0};
    const struct span keys[] = {span_make("3", 1), span_make("77", 2), span_make("4", 1)};
    must(w.capture->ops->begin_keys(w.capture, keys, 3, true, &err), &err);
    must(walk_rest(&w, &err), &err);
    ck_assert_uint_eq(w.rows, 0);
    ck_assert_uint_eq(w.gone, 1);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

/* Calls begin_keys with the numbers from 1 and the other texts; returns the number of keys without
 * a row. */
static size_t lacking(struct walk *w, int numbers, const char *const *others, size_t count)
{
    struct err err = {0};
    char text[400][8];
    struct span keys[400];
    size_t n = 0;
    for (int i = 1; i <= numbers; i++, n++) {
        keys[n] = span_make(text[n], (size_t)snprintf(text[n], sizeof(text[n]), "%d", i));
    }
    for (size_t i = 0; i < count; i++) {
        keys[n++] = span_make(others[i], strlen(others[i]));
    }
    must(w->capture->ops->begin_keys(w->capture, keys, n, true, &err), &err);
    must(walk_rest(w, &err), &err);
    ck_assert_uint_eq(w->rows, 0);
    return w->gone;
}

START_TEST(all_of_many_numbers_have_a_row_and_then_some_have_not)
{
    struct walk w = following(0);
    sql_exec(w.db, "insert into note select i, 'more' from generate_series(1, 300) i "
                   "on conflict do nothing");
    walk_drain(&w);
    ck_assert_uint_eq(lacking(&w, 300, NULL, 0), 0);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    ck_assert_uint_eq(lacking(&w, 302, NULL, 0), 2);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    sql_exec(w.db, "delete from note where id in (7, 8, 150)");
    ck_assert_uint_eq(lacking(&w, 300, NULL, 0), 3);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

/* "01" equals 1 for the table, but no row has that document id. */
START_TEST(a_text_that_is_no_key_has_no_row)
{
    static const char *const others[] = {
        "", "01", "-0", "+3", "abc", "3 ", "99999999999999999999", "4000000000"};
    struct walk w = following(0);
    ck_assert_uint_eq(lacking(&w, 3, others, 1), 1);
    ck_assert_uint_eq(lacking(&w, 3, others, 7), 7);
    ck_assert_uint_eq(lacking(&w, 3, others, 8), 8);
    ck_assert_uint_eq(lacking(&w, 0, others, 8), 8);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_text_that_is_no_key_of_two_parts_has_no_row)
{
    static const char *const key[] = {"day", "code"};
    static const char *const days[] = {"2026-01-01:a", "2026-01-01:b", "2026-13-01:a",
                                       "2026-01-01",   "never:a",      "20260101:a"};
    struct walk w = {.table = "public.day", .key = key, .key_count = 2};
    walk_new(&w, "create table day (day date, code text, primary key (day, code)); "
                 "insert into day values ('2026-01-01', 'a')");
    walk_start(&w);
    ck_assert_uint_eq(lacking(&w, 0, days, 2), 1);
    ck_assert_uint_eq(lacking(&w, 0, days, 6), 5);
    ck_assert_uint_eq(lacking(&w, 0, days, 2), 1);
    walk_free(&w);
}
END_TEST

START_TEST(a_document_of_a_day_that_never_was_stops_no_reconcile)
{
    static const char *const key[] = {"day", "code"};
    static const char *const days[] = {"2026-01-01:a", "2026-13-01:a", "never:a"};
    struct walk w = {.table = "public.day", .key = key, .key_count = 2};
    walk_new(&w, "create table day (day date, code text, primary key (day, code)); "
                 "insert into day values ('2026-01-01', 'a')");
    walk_start(&w);
    ck_assert_uint_eq(lacking(&w, 0, days, 2), 1);
    ck_assert_uint_eq(lacking(&w, 0, days, 3), 2);
    ck_assert_uint_eq(lacking(&w, 0, days, 1), 0);
    walk_free(&w);
}
END_TEST

/* Many documents depend on one row, but the change log has a single entry. */
START_TEST(what_a_dependency_hides_from_a_query_is_foreseen)
{
    char *author[] = {(char[]){"id"}};
    static const char *const title[] = {"body"};
    struct dependency dependencies[] = {
        {.table = (char[]){"public.author"},
         .key = author,
         .key_count = 1,
         .keys = (char[]){"select id from public.note where author_id = any($1)"}}};
    struct walk w = {.table = "public.note", .columns = title, .column_count = 1};
    w.page_rows = 8;
    w.query = "select n.id, n.body from public.note n join public.author a on a.id = n.author_id "
              "where a.shown";
    w.dependencies = dependencies;
    w.dependency_count = 1;
    walk_new(&w, "create table author (id int primary key, shown boolean);"
                 "create table note (id bigint primary key, body text, author_id int)");
    sql_exec(w.db, "insert into author values (1, true), (2, true);"
                   "insert into note select i, 'old', 1 + i %% 2 from generate_series(1, 50) i");
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    walk_guard(&w, 10);
    sql_exec(w.db, "update note set body = 'new' where id <= 3; update author set shown = false "
                   "where id = 1");
    walk_page(&w); /* the note itself has few entries */
    ck_assert_uint_eq(w.rows + w.gone, 3);
    ck_assert_uint_eq(walk_look(&w), 25);
    ck_assert_uint_eq(walk_drain(&w), 25);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from mirror"), 25);
    walk_free(&w);
}
END_TEST

SUITE_MAIN("source/prescan", a_window_of_several_pages_tells_its_deletes_first,
           a_page_of_more_keys_than_harmless_is_looked_through,
           what_commits_after_the_look_is_looked_at_by_itself,
           a_truncate_behind_other_changes_ends_the_look,
           rows_that_a_condition_stops_showing_are_foreseen,
           all_of_many_numbers_have_a_row_and_then_some_have_not, a_text_that_is_no_key_has_no_row,
           a_text_that_is_no_key_of_two_parts_has_no_row,
           a_document_of_a_day_that_never_was_stops_no_reconcile,
           keys_asked_for_their_lack_of_a_row_tell_no_rows,
           what_a_dependency_hides_from_a_query_is_foreseen)
