/* SPDX-License-Identifier: Apache-2.0 */
/* The reconcile of unnoticed deletes, and which of them the guard does not count twice. */
#include "guard/deletes_private.h"

#include "guarded.h"
#include "pipeline/loop.h"

/* Deletes the rows without log entries, as behind a cursor. */
static void hide_rows(struct fake *f, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        f->rows[i] = -1;
    }
}

static const int64_t hour_us = INT64_C(3600000000);

/* Sets up an hourly reconcile that last ran an hour ago. */
static void guarded_and_due(struct fake *f)
{
    guarded(f);
    f->reconcile_ms = hour_us / 1000;
    f->now_us += hour_us;
}

START_TEST(rows_that_went_unseen_are_found_when_it_is_time)
{
    struct fake f;
    guarded(&f);
    f.reconcile_ms = hour_us / 1000;
    hide_rows(&f, 0, 5);
    must_sync(&f, 0, NULL);
    ck_assert_uint_eq(f.scans + f.deleted, 0);
    f.now_us += hour_us;
    must_sync(&f, 0, NULL);
    ck_assert_uint_eq(f.deleted, 5);
    ck_assert(fake_equal(&f));
    hide_rows(&f, 5, 6);
    must_sync(&f, 0, NULL);
    ck_assert_uint_eq(f.scans, 0);
    f.now_us += hour_us;
    must_sync(&f, 0, NULL);
    ck_assert(fake_equal(&f));
    fake_release(&f);
}
END_TEST

START_TEST(an_empty_index_counts_as_reconciled)
{
    struct fake f;
    log_configure(LOG_ERROR, LOG_TEXT);
    fake_init(&f, 60);
    f.reconcile_ms = hour_us / 1000;
    must_sync(&f, 0, NULL);
    must_sync(&f, 0, NULL);
    ck_assert_uint_eq(f.scans, 0);
    fake_release(&f);
}
END_TEST

START_TEST(a_clock_that_was_set_back_does_not_put_a_reconcile_off)
{
    struct fake f;
    guarded(&f);
    f.reconcile_ms = hour_us / 1000;
    hide_rows(&f, 0, 5);
    f.wall_jump_us = -100 * hour_us;
    must_sync(&f, 0, NULL);
    ck_assert(fake_equal(&f));
    must_sync(&f, 0, NULL);
    ck_assert_uint_eq(f.scans, 0);
    fake_release(&f);
}
END_TEST

START_TEST(too_many_rows_that_went_unseen_meet_the_guard)
{
    struct fake f;
    guarded_and_due(&f);
    hide_rows(&f, 0, 20);
    fake_write(&f, 30, 77);
    must_sync(&f, ERR_STATE, "a reconcile would delete 20 of 60 documents");
    ck_assert_uint_eq(f.deleted, 0);
    ck_assert_int_eq(f.documents[30].n, 77); /* changes are sent, whatever the guard decides */
    must_sync(&f, ERR_STATE, "a reconcile would delete 20 of 60 documents");
    f.allow_deletes = true;
    must_sync(&f, 0, NULL);
    ck_assert(fake_equal(&f));
    fake_release(&f);
}
END_TEST

START_TEST(a_table_that_shows_no_rows_deletes_nothing)
{
    struct fake f;
    guarded_and_due(&f);
    f.guard_share = 1; /* irrelevant here */
    hide_rows(&f, 0, 60);
    must_sync(&f, ERR_STATE, "no document has a row: a reconcile would delete 60 of 60 documents");
    ck_assert_uint_eq(f.deleted, 0);
    fake_release(&f);
}
END_TEST

START_TEST(a_listing_that_fails_or_is_empty_deletes_nothing)
{
    struct fake f;
    guarded_and_due(&f);
    hide_rows(&f, 0, 5);
    f.fail_scans = 1000000;
    must_sync(&f, ERR_TRANSIENT, NULL);
    ck_assert_uint_eq(f.deleted, 0);
    f.fail_scans = 0;
    struct fake_document kept[FAKE_ROWS];
    memcpy(kept, f.documents, sizeof(kept));
    memset(f.documents, 0, sizeof(f.documents));
    must_sync(&f, 0, NULL);
    ck_assert_uint_eq(f.deleted, 0);
    memcpy(f.documents, kept, sizeof(kept));
    fake_release(&f);
}
END_TEST

static void reopen_row(struct fake *f)
{
    if (f->scans == 1) { /* it is listed, but the table has not been queried yet */
        f->rows[3] = 3;
    }
}

START_TEST(a_row_that_comes_back_while_the_index_is_listed_stays)
{
    struct fake f;
    guarded_and_due(&f);
    hide_rows(&f, 3, 5);
    f.step = reopen_row;
    must_sync(&f, 0, NULL);
    ck_assert_uint_eq(f.deleted, 1);
    ck_assert(f.documents[3].present);
    fake_release(&f);
}
END_TEST

/* A holder is killed with requests in flight, the row is deleted by a TRUNCATE, and the index is
 * listed. */
static void walk_after_a_kill(struct fake *f, void (*meanwhile)(struct fake *f, size_t page))
{
    struct err err;
    struct state *state;
    guarded(f);
    fake_write(f, 7, 70);
    ck_assert_int_eq(state_open(&state, f->path, "things", &err), 0);
    ck_assert_int_eq(reconcile_write(state, &(struct reconcile){.flying = true}, &err), 0);
    state_close(state);
    fake_truncate(f);
    for (size_t i = 8; i < 60; i++) {
        fake_write(f, i, 7);
    }
    must_sync(f, ERR_STATE, NULL);
    f->allow_deletes = true;
    f->between_pages = meanwhile;
    must_sync(f, 0, NULL);
    f->between_pages = NULL;
    ck_assert(fake_equal(f));
}

static void a_late_write_arrives(struct fake *f)
{
    f->documents[61] = (struct fake_document){.version = 1, .n = 61, .present = true};
    must_sync(f, 0, NULL);
    ck_assert(!fake_equal(f));
}

static void it_goes_with_one_more_walk(struct fake *f)
{
    f->now_us += DELETES_LATE_US;
    must_sync(f, 0, NULL);
    ck_assert(fake_equal(f));
    f->now_us += DELETES_LATE_US;
    must_sync(f, 0, NULL);
    ck_assert_uint_eq(f->scans, 0);
}

START_TEST(a_write_that_arrives_after_the_listing_does_not_stay)
{
    struct fake f;
    walk_after_a_kill(&f, NULL);
    a_late_write_arrives(&f);
    it_goes_with_one_more_walk(&f);
    fake_release(&f);
}
END_TEST

static void set_on(struct fake *f, size_t page)
{
    (void)page;
    f->wall_jump_us = hour_us;
}

static void set_back(struct fake *f, size_t page)
{
    (void)page;
    f->wall_jump_us = -hour_us;
}

START_TEST(a_clock_that_is_set_before_the_listing_does_not_make_it_stay)
{
    void (*const set[])(struct fake * f, size_t page) = {set_on, set_back};
    for (size_t i = 0; i < 2; i++) {
        struct fake f;
        walk_after_a_kill(&f, set[i]);
        a_late_write_arrives(&f);
        it_goes_with_one_more_walk(&f);
        fake_release(&f);
    }
}
END_TEST

START_TEST(a_clock_that_was_set_back_after_the_listing_does_not_make_it_stay)
{
    struct fake f;
    walk_after_a_kill(&f, NULL);
    f.wall_jump_us = -hour_us;
    a_late_write_arrives(&f);
    it_goes_with_one_more_walk(&f);
    fake_release(&f);
}
END_TEST

START_TEST(a_state_file_that_is_lost_after_the_listing_does_not_make_it_stay)
{
    struct fake f;
    walk_after_a_kill(&f, NULL);
    fake_lose_state(&f);
    a_late_write_arrives(&f);
    it_goes_with_one_more_walk(&f);
    fake_release(&f);
}
END_TEST

START_TEST(who_may_not_list_the_index_owes_no_walk)
{
    struct fake f;
    guarded(&f);
    fake_lose_state(&f);
    must_sync(&f, 0, NULL);
    f.now_us += DELETES_LATE_US;
    f.scan_forbidden = true;
    must_sync(&f, 0, NULL);
    ck_assert_uint_eq(f.scans, 1);
    fake_write(&f, 3, 33);
    must_sync(&f, 0, NULL);
    ck_assert_uint_eq(f.scans, 0);
    ck_assert(fake_equal(&f));
    fake_release(&f);
}
END_TEST

START_TEST(documents_of_a_member_that_left_go_although_the_service_was_away_meanwhile)
{
    struct fake f;
    guarded(&f);
    fake_leave(&f, 50, 55);
    f.fail_requests = 1000000;
    must_sync(&f, ERR_TRANSIENT, NULL);
    ck_assert_uint_ne(f.left, f.left_met); /* the scan is still due */
    f.fail_requests = 0;
    must_sync(&f, 0, NULL);
    ck_assert_uint_eq(f.deleted, 5);
    ck_assert(fake_equal(&f));
    must_sync(&f, 0, NULL);
    ck_assert_uint_eq(f.scans, 0);
    fake_release(&f);
}
END_TEST

START_TEST(documents_that_a_reconcile_found_go_although_the_service_was_away_meanwhile)
{
    struct fake f;
    guarded_and_due(&f);
    hide_rows(&f, 0, 5);
    f.fail_requests = 1000000;
    must_sync(&f, ERR_TRANSIENT, NULL);
    f.fail_requests = 0;
    must_sync(&f, 0, NULL);
    ck_assert_uint_eq(f.deleted, 5);
    ck_assert(fake_equal(&f));
    fake_release(&f);
}
END_TEST

START_TEST(a_permitted_walk_is_sent_before_what_comes_after_it_stops)
{
    struct fake f;
    guarded(&f);
    fake_leave(&f, 40, 60);
    remove_rows(&f, 0, 20);
    must_sync(&f, ERR_STATE, "a table left it, which would delete 40 of 60");
    f.allow_deletes = true;
    must_sync(&f, 0, NULL); /* the scan also deleted the 20 of the window */
    ck_assert_uint_eq(f.deleted, 40);
    ck_assert(fake_equal(&f));
    fake_release(&f);
}
END_TEST

/* Leaves 45 documents, and 15 keys without one. */
static void partly_deleted(struct fake *f)
{
    guarded(f);
    remove_rows(f, 40, 55);
    must_sync(f, ERR_STATE, "delete 15 of 60");
    f->allow_deletes = true;
    must_sync(f, 0, NULL);
    f->allow_deletes = false;
}

START_TEST(keys_without_a_document_do_not_count_after_a_stop)
{
    struct fake f;
    partly_deleted(&f);
    remove_rows(&f, 0, 11);
    remove_rows(&f, 40, 55);
    for (int i = 0; i < 2; i++) {
        must_sync(&f, ERR_STATE, "delete 11 of 45 documents");
    }
    for (size_t i = 0; i < 11; i++) {
        fake_write(&f, i, 8);
    }
    must_sync(&f, 0, NULL);
    ck_assert_uint_eq(f.deleted, 0);
    ck_assert_uint_eq(f.scans, 0); /* only those keys are requested */
    ck_assert_uint_eq(f.asked, 15);
    ck_assert(fake_equal(&f));
    fake_release(&f);
}
END_TEST

START_TEST(a_permission_is_not_used_up_by_deletes_that_are_done)
{
    struct fake f;
    partly_deleted(&f);
    f.reconcile_ms = hour_us / 1000;
    f.now_us += hour_us;
    hide_rows(&f, 0, 20);
    remove_rows(&f, 40, 55);
    must_sync(&f, ERR_STATE, "a reconcile would delete 20 of 45 documents");
    remove_rows(&f, 40, 55);
    f.allow_deletes = true;
    must_sync(&f, 0, NULL);
    ck_assert_uint_eq(f.deleted, 20);
    ck_assert(fake_equal(&f));
    fake_release(&f);
}
END_TEST

SUITE_MAIN("engine/reconcile", rows_that_went_unseen_are_found_when_it_is_time,
           an_empty_index_counts_as_reconciled,
           a_clock_that_was_set_back_does_not_put_a_reconcile_off,
           too_many_rows_that_went_unseen_meet_the_guard,
           a_table_that_shows_no_rows_deletes_nothing,
           a_listing_that_fails_or_is_empty_deletes_nothing,
           a_row_that_comes_back_while_the_index_is_listed_stays,
           a_write_that_arrives_after_the_listing_does_not_stay,
           a_clock_that_is_set_before_the_listing_does_not_make_it_stay,
           a_clock_that_was_set_back_after_the_listing_does_not_make_it_stay,
           a_state_file_that_is_lost_after_the_listing_does_not_make_it_stay,
           who_may_not_list_the_index_owes_no_walk,
           documents_of_a_member_that_left_go_although_the_service_was_away_meanwhile,
           documents_that_a_reconcile_found_go_although_the_service_was_away_meanwhile,
           a_permitted_walk_is_sent_before_what_comes_after_it_stops,
           keys_without_a_document_do_not_count_after_a_stop,
           a_permission_is_not_used_up_by_deletes_that_are_done)
