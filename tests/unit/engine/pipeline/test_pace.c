/* SPDX-License-Identifier: Apache-2.0 */
/* The interval between two polls. */
#include "pipeline/pace.h"
#include "suite.h"

START_TEST(it_doubles_while_nothing_comes_and_is_short_at_once_when_something_does)
{
    static const int64_t idle_ms[] = {40, 80, 160, 320, 640, 1000, 1000};
    struct pace p;
    pace_init(&p, 20, 1000);
    for (size_t i = 0; i < sizeof(idle_ms) / sizeof(idle_ms[0]); i++) {
        pace_ended(&p, 5000000, false);
        ck_assert_int_eq(pace_due_us(&p), 5000000 + idle_ms[i] * 1000);
    }
    pace_ended(&p, 6000000, true);
    ck_assert_int_eq(pace_due_us(&p), 6020000);
    pace_ended(&p, 7000000, false);
    ck_assert_int_eq(pace_due_us(&p), 7040000);
}
END_TEST

START_TEST(the_first_poll_is_due_at_once)
{
    struct pace p;
    pace_init(&p, 20, 1000);
    ck_assert_int_le(pace_due_us(&p), 20000);
}
END_TEST

START_TEST(limits_that_are_equal_make_it_steady)
{
    struct pace p;
    pace_init(&p, 300, 300);
    pace_ended(&p, 0, false);
    ck_assert_int_eq(pace_due_us(&p), 300000);
    pace_ended(&p, 0, true);
    ck_assert_int_eq(pace_due_us(&p), 300000);
}
END_TEST

START_TEST(a_call_hurries_one_poll_but_no_more_than_two_hundred_a_second)
{
    struct pace p;
    pace_init(&p, 3600000, 3600000);
    pace_ended(&p, 1000000, false);
    pace_call(&p);
    ck_assert_int_eq(pace_due_us(&p), 1005000);
    pace_ended(&p, 1006000, true);
    ck_assert_int_eq(pace_due_us(&p), 1006000 + INT64_C(3600000000));
}
END_TEST

START_TEST(a_call_never_makes_a_poll_later)
{
    struct pace p;
    pace_init(&p, 1, 1000);
    pace_ended(&p, 1000000, true);
    pace_call(&p);
    ck_assert_int_eq(pace_due_us(&p), 1001000);
}
END_TEST

SUITE_MAIN("engine/pace", it_doubles_while_nothing_comes_and_is_short_at_once_when_something_does,
           the_first_poll_is_due_at_once, limits_that_are_equal_make_it_steady,
           a_call_hurries_one_poll_but_no_more_than_two_hundred_a_second,
           a_call_never_makes_a_poll_later)
