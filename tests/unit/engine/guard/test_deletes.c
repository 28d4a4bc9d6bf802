/* SPDX-License-Identifier: Apache-2.0 */
/* The guard and the reconcile of a truncated table, with a table and a service in memory. */
#include "guard/deletes.h"

#include "guarded.h"

START_TEST(too_many_deletes_stop_before_the_first)
{
    struct fake f;
    guarded(&f);
    remove_rows(&f, 0, 20);
    for (int i = 0; i < 2; i++) {
        must_sync(&f, ERR_STATE, "delete 20 of 60 documents");
        ck_assert_uint_eq(f.deleted, 0);
    }
    struct guard_stop halt = halt_of(&f, true);
    ck_assert_int_eq(halt.deletes, 20);
    ck_assert_int_eq(halt.documents, 60);
    fake_release(&f);
}
END_TEST

static enum fake_fault answer_is_lost(struct fake *f)
{
    (void)f;
    return FAULT_UNANSWERED;
}

START_TEST(a_window_that_passed_and_broke_off_is_no_larger_because_less_is_left)
{
    struct fake f;
    guarded(&f);
    f.guard_share = 0.5;
    remove_rows(&f, 0, 30);
    f.fault = answer_is_lost;
    must_sync(&f, ERR_TRANSIENT, NULL);
    f.fault = NULL;
    ck_assert(f.deleted > 0 && f.deleted < 30); /* 30 are more than half of the remaining ones */
    f.now_us += DELETES_LATE_US;
    must_sync(&f, 0, NULL);
    ck_assert(fake_equal(&f));
    remove_rows(&f, 30, 60);
    must_sync(&f, ERR_STATE, "delete 30 of 30 documents");
    must_sync(&f, ERR_STATE, "delete 30 of 30 documents");
    ck_assert_uint_eq(f.scans, 0); /* repeated attempts do not scan the index */
    fake_release(&f);
}
END_TEST

START_TEST(few_deletes_ask_the_service_nothing)
{
    struct fake f;
    guarded(&f);
    remove_rows(&f, 0, 10);
    must_sync(&f, 0, NULL);
    ck_assert_uint_eq(f.looks + f.counts + f.scans, 0);
    ck_assert_uint_eq(f.deleted, 10);
    for (size_t i = 10; i < 40; i++) {
        fake_write(&f, i, 7);
    }
    must_sync(&f, 0, NULL);
    ck_assert_uint_le(f.counts, 1);
    ck_assert_uint_eq(f.scans, 0);
    ck_assert(fake_equal(&f));
    fake_release(&f);
}
END_TEST

START_TEST(what_was_counted_is_permitted_once)
{
    struct fake f;
    guarded(&f);
    remove_rows(&f, 0, 20);
    must_sync(&f, ERR_STATE, NULL);
    f.allow_deletes = true;
    must_sync(&f, 0, NULL);
    ck_assert_uint_eq(f.deleted, 20);
    ck_assert(fake_equal(&f));
    halt_of(&f, false);
    remove_rows(&f, 20, 40);
    must_sync(&f, ERR_STATE, "delete 20 of 40");
    ck_assert_uint_eq(f.deleted, 0);
    fake_release(&f);
}
END_TEST

START_TEST(many_more_than_were_counted_stop_again)
{
    struct fake f;
    guarded(&f);
    remove_rows(&f, 0, 20);
    must_sync(&f, ERR_STATE, NULL);
    remove_rows(&f, 20, 31);
    f.allow_deletes = true;
    must_sync(&f, ERR_STATE, "delete 31 of 60");
    ck_assert_uint_eq(f.deleted, 0);
    must_sync(&f, 0, NULL);
    ck_assert(fake_equal(&f));
    fake_release(&f);
}
END_TEST

START_TEST(a_service_that_tells_no_number_is_guarded_by_the_count)
{
    struct fake f;
    guarded(&f);
    f.guard_share = 0.9;
    f.count_forbidden = true;
    remove_rows(&f, 0, 11);
    must_sync(&f, ERR_STATE, "delete 11 documents");
    ck_assert_int_eq(halt_of(&f, true).documents, -1);
    f.count_forbidden = false;
    must_sync(&f, 0, NULL);
    ck_assert(fake_equal(&f));
    fake_release(&f);
}
END_TEST

/* After the prescan, in the middle of the window that it approved. */
static void lose_rows(struct fake *f, size_t page)
{
    if (page == 2) {
        for (size_t i = 0; i < 60; i++) {
            f->rows[i] = -1;
        }
    }
}

START_TEST(rows_that_go_after_the_look_ahead_are_not_deleted_in_number)
{
    struct fake f;
    guarded(&f);
    for (size_t i = 0; i < 60; i++) {
        fake_write(&f, i, 7);
    }
    f.between_pages = lose_rows;
    must_sync(&f, ERR_STATE, "the guard stopped the pipeline");
    ck_assert_uint_ge(f.looks, 1);
    ck_assert_uint_le(f.deleted, 10);
    fake_release(&f);
}
END_TEST

START_TEST(a_truncated_table_deletes_nothing_until_it_is_permitted)
{
    struct fake f;
    guarded(&f);
    f.guard_share = 1; /* irrelevant here */
    fake_truncate(&f);
    must_sync(&f, ERR_STATE, "the table was truncated, which would delete 60 of 60 documents");
    ck_assert_uint_eq(f.deleted, 0);
    ck_assert_int_eq(halt_of(&f, true).deletes, 60);
    f.allow_deletes = true;
    must_sync(&f, 0, NULL);
    ck_assert_uint_eq(f.deleted, 60);
    ck_assert(fake_equal(&f));
    f.allow_deletes = false;
    must_sync(&f, 0, NULL);
    ck_assert_uint_eq(f.scans, 0);
    fake_release(&f);
}
END_TEST

START_TEST(a_table_that_is_filled_again_as_it_was_needs_no_decision)
{
    struct fake f;
    guarded(&f);
    fake_truncate(&f);
    for (size_t i = 0; i < 60; i++) {
        fake_write(&f, i, 7);
    }
    must_sync(&f, 0, NULL);
    ck_assert_uint_eq(f.deleted, 0);
    ck_assert(fake_equal(&f));
    fake_truncate(&f);
    for (size_t i = 1; i < 60; i++) {
        fake_write(&f, i, 8);
    }
    must_sync(&f, 0, NULL);
    ck_assert_uint_eq(f.deleted, 1);
    fake_truncate(&f);
    for (size_t i = 8; i < 60; i++) { /* within the count, but above the share */
        fake_write(&f, i, 9);
    }
    must_sync(&f, ERR_STATE, "would delete 7 of 59 documents");
    fake_release(&f);
}
END_TEST

START_TEST(a_reconcile_rides_out_a_service_that_is_away)
{
    struct fake f;
    guarded(&f);
    remove_rows(&f, 50, 60);
    fake_truncate(&f);
    must_sync(&f, ERR_STATE, NULL);
    f.allow_deletes = true;
    f.fail_scans = 3;
    f.break_change = 20; /* and the source fails, too */
    must_sync(&f, 0, NULL);
    ck_assert(fake_equal(&f));
    fake_release(&f);
}
END_TEST

static void truncate_once(struct fake *f, size_t page)
{
    if (page == 7) { /* most of the initial load is done */
        fake_truncate(f);
        fake_write(f, 3, 33);
    }
}

START_TEST(an_index_that_nobody_searches_yet_is_not_guarded)
{
    struct fake f;
    log_configure(LOG_ERROR, LOG_TEXT);
    fake_init(&f, 60);
    f.guard_count = 0;
    f.between_pages = truncate_once;
    fake_write(&f, 1, 5);
    must_sync(&f, 0, NULL);
    ck_assert(fake_equal(&f));
    ck_assert_uint_ge(f.deleted, 50);
    halt_of(&f, false);
    fake_release(&f);
}
END_TEST

SUITE_MAIN("engine/deletes", too_many_deletes_stop_before_the_first,
           a_window_that_passed_and_broke_off_is_no_larger_because_less_is_left,
           few_deletes_ask_the_service_nothing, what_was_counted_is_permitted_once,
           many_more_than_were_counted_stop_again,
           a_service_that_tells_no_number_is_guarded_by_the_count,
           rows_that_go_after_the_look_ahead_are_not_deleted_in_number,
           a_truncated_table_deletes_nothing_until_it_is_permitted,
           a_table_that_is_filled_again_as_it_was_needs_no_decision,
           a_reconcile_rides_out_a_service_that_is_away,
           an_index_that_nobody_searches_yet_is_not_guarded)
