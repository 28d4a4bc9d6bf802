/* SPDX-License-Identifier: Apache-2.0 */
/* The horizon of a column that is not a time: its largest value one overlap ago. */
#include "cursor/horizon.h"

#include <stdio.h>

#include "suite.h"

START_TEST(nothing_is_below_the_horizon_before_an_overlap_has_passed)
{
    struct horizon h = {.overlap_ms = 1000};
    horizon_sample(&h, 5000, "7");
    ck_assert_ptr_null(h.value);
    horizon_sample(&h, 5999, "9");
    ck_assert_ptr_null(h.value);
    horizon_sample(&h, 6000, "9");
    ck_assert_str_eq(h.value, "7");
    horizon_sample(&h, 6999, "12");
    ck_assert_str_eq(h.value, "9");
    horizon_release(&h);
}
END_TEST

START_TEST(an_empty_table_has_no_horizon)
{
    struct horizon h = {.overlap_ms = 1000};
    horizon_sample(&h, 0, NULL);
    horizon_sample(&h, 5000, NULL);
    ck_assert_ptr_null(h.value);
    horizon_release(&h);
}
END_TEST

START_TEST(the_horizon_never_passes_what_was_largest_an_overlap_ago)
{
    struct horizon h = {.overlap_ms = 1000};
    for (int64_t now = 0; now < 20000; now += 7) {
        char value[24];
        snprintf(value, sizeof(value), "%lld", (long long)now);
        horizon_sample(&h, now, value);
        long long horizon = h.value != NULL ? atoll(h.value) : -1;
        ck_assert_int_le(horizon, now - 1000 < 0 ? -1 : now - 1000);
        ck_assert_int_ge(horizon, now < 1000 ? -1 : now - 1000 - 2 * 1000 / 16);
    }
    horizon_release(&h);
}
END_TEST

SUITE_MAIN("source/horizon", nothing_is_below_the_horizon_before_an_overlap_has_passed,
           an_empty_table_has_no_horizon, the_horizon_never_passes_what_was_largest_an_overlap_ago)
