/* SPDX-License-Identifier: Apache-2.0 */
/* The progress of a lock holder, for people and for programs. */
#include "status/holder_progress.h"

#include <check.h>

#include "suite.h"

static void expect_shown(const struct live_progress *w,
                         void (*push)(struct buf *, const struct live_progress *),
                         const char *expected)
{
    struct buf out;
    buf_init(&out, 4096);
    push(&out, w);
    ck_assert_str_eq(buf_text(&out), expected);
    buf_release(&out);
}

START_TEST(a_copy_tells_share_speed_and_what_is_left)
{
    const struct live_progress w = {.told_us = INT64_C(1763726400000000),
                                    .stage = "copying",
                                    .rows = 63666,
                                    .rows_per_second = 5000,
                                    .share = 0.41,
                                    .remaining_ms = 125000,
                                    .in_flight = 4,
                                    .batch_bytes = 3 * 512 * 1024,
                                    .growth_stopped = "the disk fills"};
    expect_shown(&w, holder_progress_push_stage,
                 "copying, 41 % (63,666 rows, 5,000 a second, 2m 5s left)");
    expect_shown(&w, holder_progress_push_limits,
                 "4 requests in flight, batches of 1.5 MiB that grow no more: the disk fills");
    expect_shown(
        &w, holder_progress_push_json,
        "\"working\":{\"at\":\"2025-11-21T12:00:00.000Z\",\"stage\":\"copying\",\"rows\":63666,"
        "\"rows_per_second\":5000,\"share\":0.4100,\"seconds_left\":125.000,"
        "\"in_flight\":4,\"batch_bytes\":1572864,\"growth_stopped\":\"the disk fills\"}");
}
END_TEST

START_TEST(what_is_not_known_is_not_said)
{
    const struct live_progress w = {.stage = "replaying",
                                    .rows = 1,
                                    .share = -1,
                                    .remaining_ms = -1,
                                    .in_flight = 1,
                                    .batch_bytes = 65536};
    expect_shown(&w, holder_progress_push_stage, "replaying (1 row, 0 a second)");
    expect_shown(&w, holder_progress_push_limits, "1 request in flight, batches of 64.0 KiB");
    expect_shown(
        &w, holder_progress_push_json,
        "\"working\":{\"at\":null,\"stage\":\"replaying\",\"rows\":1,\"rows_per_second\":0,"
        "\"share\":null,\"seconds_left\":null,\"in_flight\":1,\"batch_bytes\":65536,"
        "\"growth_stopped\":null}");
}
END_TEST

START_TEST(a_holder_that_the_guard_stopped_has_no_batches_of_0_bytes)
{
    const struct live_progress w = {.stage = "guard", .share = -1, .remaining_ms = -1};
    expect_shown(&w, holder_progress_push_limits, "0 requests in flight");
}
END_TEST

SUITE_MAIN("cli/holder_progress", a_holder_that_the_guard_stopped_has_no_batches_of_0_bytes,
           a_copy_tells_share_speed_and_what_is_left, what_is_not_known_is_not_said)
