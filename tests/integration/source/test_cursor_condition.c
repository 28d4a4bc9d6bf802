/* SPDX-License-Identifier: Apache-2.0 */
/* A cursor with a condition: rows that stop matching leave the index, and the guard counts large
 * numbers of them in advance. */
#include "followed.h"

START_TEST(a_row_that_stops_matching_is_deleted)
{
    struct walk w = of_notes();
    w.where = "not gone -- as the application has it";
    begin(&w, NOTES);
    sql_exec(w.db, "update note set gone = true, at = now() where id in (3, 4)");
    walk_drain(&w);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from mirror where key in ('3', '4')"), 0);
    ck_assert_int_eq(walk_differences(&w, LIVE_QUERY), 0);
    sql_exec(w.db, "update note set gone = false, at = now() where id = 3");
    ck_assert(becomes_equal(&w, LIVE_QUERY, WAIT_MS));
    walk_free(&w);
}
END_TEST

START_TEST(a_condition_that_is_null_does_not_match)
{
    struct walk w = of_notes();
    w.where = "body <> 'secret'";
    begin(&w, NOTES);
    sql_exec(w.db, "update note set body = null, at = now() where id = 3");
    sql_exec(w.db, "update note set body = 'secret', at = now() where id = 4");
    ck_assert(becomes_equal(&w, NOTES_QUERY " where body <> 'secret'", WAIT_MS));
    walk_free(&w);
}
END_TEST

/* Uses pages of five rows, with up to three permitted deletes. */
static struct walk guarded(void)
{
    struct walk w = of_notes();
    w.where = "not gone";
    w.page_rows = 5;
    begin(&w, NOTES);
    pass_all(&w);
    walk_guard(&w, 3);
    return w;
}

static void end_guarded(struct walk *w)
{
    ck_assert_int_eq(walk_differences(w, LIVE_QUERY), 0);
    walk_free(w);
}

START_TEST(deletes_are_foreseen_again_once_those_before_are_told)
{
    struct walk w = guarded();
    for (int id = 1; id <= 9; id += 4) {
        sql_exec(w.db, "update note set gone = true, at = now() where id between %d and %d", id,
                 id + 3);
        ck_assert_uint_eq(walk_look(&w), 4);
        ck_assert_int_eq(sql_int(w.db, "select count(*) from mirror"), 21 - id);
        walk_page(&w);
        ck_assert_uint_eq(w.gone, 4);
        ck_assert(w.drained);
        pass_all(&w);
    }
    end_guarded(&w);
}
END_TEST

START_TEST(deletes_of_several_pages_are_foreseen_before_any_is_told)
{
    struct walk w = guarded();
    sql_exec(w.db, "update note set gone = true, at = now() where id <= 12");
    ck_assert_uint_eq(walk_look(&w), 12);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from mirror"), 20);
    ck_assert_uint_eq(walk_drain(&w), 12);
    end_guarded(&w);
}
END_TEST

START_TEST(deletes_of_several_pages_add_up_until_all_is_read)
{
    struct walk w = guarded();
    sql_exec(w.db, "update note set gone = id in (1, 2, 18, 19), at = now()");
    size_t gone = 0;
    size_t foreseen = 0;
    do {
        walk_page(&w);
        gone += w.gone;
        foreseen += w.foreseen;
        ck_assert(!w.drained);
    } while (!w.judged);
    ck_assert_uint_eq(gone, 2);
    ck_assert_uint_eq(foreseen, 2);
    walk_drain(&w);
    end_guarded(&w);
}
END_TEST

START_TEST(a_few_deletes_now_and_then_are_not_foreseen)
{
    struct walk w = guarded();
    for (int id = 1; id <= 5; id += 2) {
        sql_exec(w.db, "update note set gone = true, at = now() where id in (%d, %d)", id, id + 1);
        walk_page(&w);
        ck_assert_uint_eq(w.gone, 2);
        ck_assert(w.drained);
        pass_all(&w);
    }
    end_guarded(&w);
}
END_TEST

START_TEST(the_first_load_deletes_nothing_of_an_empty_index)
{
    struct walk w = of_notes();
    w.where = "not gone";
    walk_new(&w, NOTES);
    sql_exec(w.db, "insert into note select i, 'b', i %% 2 = 0, '2020-01-01' from "
                   "generate_series(1, 20) i");
    walk_start(&w);
    size_t gone = 0;
    do {
        walk_page(&w);
        gone += w.gone;
    } while (!w.drained);
    ck_assert_uint_eq(gone, 0);
    ck_assert_int_eq(walk_differences(&w, LIVE_QUERY), 0);
    walk_free(&w);
}
END_TEST

/* Reads one page of an initial load: the rows 1 to 5 of twenty. */
static struct walk loading(void)
{
    struct walk w = of_notes();
    w.where = "not gone";
    w.page_rows = 5;
    walk_new(&w, NOTES);
    sql_exec(w.db, "insert into note select i, 'b', false, '2020-01-01' from "
                   "generate_series(1, 20) i");
    walk_start(&w);
    walk_page(&w);
    ck_assert(w.copying);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from mirror where key = '2'"), 1);
    return w;
}

/* It was read while it matched, then soft-deleted. */
START_TEST(a_row_that_stops_matching_during_the_first_load_is_deleted)
{
    struct walk w = loading();
    sql_exec(w.db, "update note set gone = true, at = now() where id = 2");
    walk_again(&w);
    ck_assert(becomes_equal(&w, LIVE_QUERY, WAIT_MS));
    walk_free(&w);
}
END_TEST

/* Its page continues after it. */
START_TEST(a_row_that_stops_matching_is_deleted_though_the_first_load_goes_on)
{
    struct walk w = loading();
    sql_exec(w.db, "update note set gone = true, at = clock_timestamp() where id = 2");
    sql_exec(w.db, "update note set at = clock_timestamp() where id between 6 and 20");
    sql_exec(w.db, "select pg_sleep(0.2)"); /* the overlap has passed */
    ck_assert(becomes_equal(&w, LIVE_QUERY, WAIT_MS));
    walk_free(&w);
}
END_TEST

SUITE_MAIN("source/cursor_condition", a_row_that_stops_matching_is_deleted,
           a_condition_that_is_null_does_not_match,
           deletes_are_foreseen_again_once_those_before_are_told,
           deletes_of_several_pages_are_foreseen_before_any_is_told,
           deletes_of_several_pages_add_up_until_all_is_read,
           a_few_deletes_now_and_then_are_not_foreseen,
           the_first_load_deletes_nothing_of_an_empty_index,
           a_row_that_stops_matching_during_the_first_load_is_deleted,
           a_row_that_stops_matching_is_deleted_though_the_first_load_goes_on)
