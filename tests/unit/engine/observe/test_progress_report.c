/* SPDX-License-Identifier: Apache-2.0 */
/* Rate and remaining time. */
#include "observe/progress_report.h"

#include "suite.h"

START_TEST(rate_and_remaining_time_of_a_copy)
{
    struct progress p = {0};
    struct counters counters = {.rows_read = 5000};
    struct capture_progress copy = {.rows_estimated = 10000, .share = 0.5};
    progress_report_compute(&p, &counters, &copy, 1000);
    ck_assert_double_eq(p.rows_per_second, 5000);
    ck_assert_double_eq(p.share, 0.5);
    ck_assert_int_eq(p.remaining_ms, 1000);
}
END_TEST

START_TEST(unknown_where_nothing_is_known)
{
    struct progress p = {0};
    struct counters counters = {0};
    struct capture_progress copy = {.rows_estimated = -1};
    progress_report_compute(&p, &counters, &copy, 0);
    ck_assert_double_eq(p.rows_per_second, 0);
    ck_assert_int_lt(p.remaining_ms, 0);
    copy.share = 1;
    progress_report_compute(&p, &counters, &copy, 1000);
    ck_assert_double_lt(p.share, 0);
}
END_TEST

SUITE_MAIN("engine/progress_report", rate_and_remaining_time_of_a_copy,
           unknown_where_nothing_is_known)
