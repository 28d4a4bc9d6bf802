/* SPDX-License-Identifier: Apache-2.0 */
/* The age of a change when it is acknowledged. */
#include "observe/change_age.h"

#include "suite.h"

START_TEST(a_change_is_as_old_as_the_middle_between_two_polls)
{
    struct change_age v = {0};
    change_age_nothing(&v, 1000000);
    change_age_begin(&v, 7, 1020000);
    ck_assert_int_eq(change_age_us(&v, 7, 1030000), 20000);
}
END_TEST

START_TEST(many_changes_are_spread_over_the_time_between_them)
{
    struct change_age v = {0};
    int counts[10] = {0};
    change_age_nothing(&v, 1000000);
    change_age_begin(&v, 7, 2000000);
    for (int i = 0; i < 1000; i++) {
        int64_t age_us = change_age_us(&v, 7, 2000000);
        ck_assert(age_us >= 0 && age_us <= 1000000);
        counts[age_us == 1000000 ? 9 : age_us / 100000]++;
    }
    for (int i = 0; i < 10; i++) {
        ck_assert_msg(counts[i] >= 90 && counts[i] <= 110, "%d in part %d", counts[i], i);
    }
}
END_TEST

START_TEST(the_first_window_of_all_says_nothing)
{
    struct change_age v = {0};
    ck_assert_int_eq(change_age_us(&v, 1, 5000000), -1);
    change_age_begin(&v, 3, 1000000);
    ck_assert_int_eq(change_age_us(&v, 3, 5000000), -1); /* it may be as old as the outage */
    ck_assert_int_eq(change_age_us(&v, 2, 5000000), -1);
}
END_TEST

START_TEST(pages_of_a_window_are_of_its_snapshot_and_those_of_the_next_one_of_theirs)
{
    struct change_age v = {0};
    change_age_nothing(&v, 1000000);
    change_age_begin(&v, 3, 1000000);
    change_age_begin(&v, 4, 9000000);
    ck_assert_int_eq(change_age_us(&v, 5, 1500000), 500000); /* also one after a safepoint */
    ck_assert(change_age_end(&v));
    ck_assert(!change_age_end(&v));
    change_age_begin(&v, 6, 1000000);
    ck_assert_int_eq(change_age_us(&v, 6, 1000000), 0);
    ck_assert_int_eq(change_age_us(&v, 5, 2000000), 1000000);
    ck_assert(change_age_end(&v));
}
END_TEST

START_TEST(a_call_is_nearer_to_the_commit_than_the_poll_before_it)
{
    struct change_age v = {0};
    change_age_nothing(&v, 1000000);
    change_age_called(&v, 1900000);
    change_age_called(&v, 1990000);
    change_age_begin(&v, 1, 1900000);
    ck_assert_int_eq(change_age_us(&v, 1, 1910000), 10000);
    (void)change_age_end(&v);
    change_age_begin(&v, 2, 2100000); /* not notified: since the last poll */
    int64_t age_us = change_age_us(&v, 2, 2100000);
    ck_assert(age_us > 0 && age_us <= 200000);
}
END_TEST

START_TEST(more_windows_than_places_make_changes_older_and_never_younger)
{
    struct change_age v = {0};
    change_age_nothing(&v, 1000000);
    for (uint64_t page = 1; page <= CHANGE_AGE_MARKS + 10; page++) {
        change_age_begin(&v, page, 1000000 + (int64_t)page * 10);
        ck_assert(change_age_end(&v));
    }
    for (uint64_t page = 1; page <= CHANGE_AGE_MARKS + 10; page++) {
        ck_assert_int_ge(change_age_us(&v, page, 2000000), 1000000 - (int64_t)page * 10);
    }
}
END_TEST

SUITE_MAIN("engine/change_age", a_change_is_as_old_as_the_middle_between_two_polls,
           many_changes_are_spread_over_the_time_between_them, the_first_window_of_all_says_nothing,
           pages_of_a_window_are_of_its_snapshot_and_those_of_the_next_one_of_theirs,
           a_call_is_nearer_to_the_commit_than_the_poll_before_it,
           more_windows_than_places_make_changes_older_and_never_younger)
