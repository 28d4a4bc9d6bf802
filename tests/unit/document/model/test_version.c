/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of the version clock: it only grows and never exceeds the durable ceiling. */
#include "rowferry/document/model/version.h"

#include <signal.h>

#include "suite.h"

#define NOW INT64_C(1763719200000000)

/* Like the engine: makes the ceiling durable, then takes a version. */
static int64_t tick(struct version_clock *v, int64_t wall_us)
{
    int64_t wanted = version_wanted_ceiling(v, wall_us);
    if (wanted != 0) {
        version_raise_ceiling(v, wanted);
    }
    return version_tick(v, wall_us);
}

START_TEST(a_tick_is_the_time_when_the_clock_goes_forward)
{
    struct version_clock v;
    version_start(&v, 0);
    ck_assert_int_eq(tick(&v, NOW), NOW);
    ck_assert_int_eq(tick(&v, NOW + 5), NOW + 5);
}
END_TEST

START_TEST(ticks_grow_when_the_clock_stands_or_jumps_back)
{
    struct version_clock v;
    version_start(&v, 0);
    int64_t last = tick(&v, NOW);
    uint64_t state = 42;
    for (int i = 0; i < 10000; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        int64_t jump = (int64_t)(state >> 30) - (INT64_C(1) << 33);
        int64_t next = tick(&v, NOW + jump);
        ck_assert_int_gt(next, last);
        ck_assert_int_ge(next, NOW + jump);
        ck_assert_int_le(next, v.ceiling);
        last = next;
    }
}
END_TEST

START_TEST(after_a_crash_every_tick_is_above_all_that_was_sent)
{
    struct version_clock v;
    version_start(&v, 0);
    tick(&v, NOW);
    int64_t sent = tick(&v, NOW + 1000);
    struct version_clock again;
    version_start(&again, v.ceiling);
    ck_assert_int_gt(tick(&again, NOW - VERSION_RESERVE_US), sent);
}
END_TEST

START_TEST(the_ceiling_is_asked_for_once_in_a_while_only)
{
    struct version_clock v;
    version_start(&v, 0);
    int64_t wanted = version_wanted_ceiling(&v, NOW);
    ck_assert_int_eq(wanted, NOW + VERSION_RESERVE_US);
    version_raise_ceiling(&v, wanted);
    ck_assert_int_eq(version_wanted_ceiling(&v, NOW), 0);
    ck_assert_int_eq(version_wanted_ceiling(&v, wanted), 0);
    ck_assert_int_ne(version_wanted_ceiling(&v, wanted + 1), 0);
    version_raise_ceiling(&v, NOW);
    ck_assert_int_eq(v.ceiling, wanted);
}
END_TEST

/* Each run ended a second after its start, without lowering the ceiling. */
START_TEST(many_short_runs_do_not_drive_the_versions_into_the_future)
{
    int64_t ceiling = 0;
    int64_t last = 0;
    for (int run = 0; run < 500; run++) {
        struct version_clock v;
        int64_t wall = NOW + run * INT64_C(1000000);
        version_start(&v, ceiling);
        int64_t sent = tick(&v, wall);
        ck_assert_int_gt(sent, last);
        ck_assert_int_ge(v.ceiling, sent);
        ck_assert_int_le(v.ceiling - wall, VERSION_RESERVE_US + VERSION_STEP_US);
        last = sent;
        ceiling = v.ceiling;
    }
}
END_TEST

START_TEST(a_foreign_version_is_stepped_over)
{
    struct version_clock v;
    version_start(&v, 0);
    tick(&v, NOW);
    version_step_over(&v, NOW + 1000000);
    ck_assert_int_eq(tick(&v, NOW), NOW + 1000001);
    version_step_over(&v, 7);
    ck_assert_int_eq(tick(&v, NOW), NOW + 1000002);
}
END_TEST

START_TEST(a_tick_above_the_durable_ceiling_ends_the_program)
{
    struct version_clock v;
    version_start(&v, NOW);
    version_tick(&v, NOW);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("document/version");
    TCase *laws = tcase_create("laws");
    tcase_add_test(laws, a_tick_is_the_time_when_the_clock_goes_forward);
    tcase_add_test(laws, ticks_grow_when_the_clock_stands_or_jumps_back);
    tcase_add_test(laws, after_a_crash_every_tick_is_above_all_that_was_sent);
    tcase_add_test(laws, the_ceiling_is_asked_for_once_in_a_while_only);
    tcase_add_test(laws, many_short_runs_do_not_drive_the_versions_into_the_future);
    tcase_add_test(laws, a_foreign_version_is_stepped_over);
    tcase_add_test_raise_signal(laws, a_tick_above_the_durable_ceiling_ends_the_program, SIGABRT);
    suite_add_tcase(suite, laws);
    return suite_end(suite);
}
