/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks and ISO 8601. */
#include "rowferry/base/clock.h"

#include <string.h>

#include "suite.h"

#define AT 1795255200123456

START_TEST(iso_has_as_many_digits_as_asked)
{
    static const char *const texts[] = {"2026-11-21T10:00:00Z",       "2026-11-21T10:00:00.1Z",
                                        "2026-11-21T10:00:00.12Z",    "2026-11-21T10:00:00.123Z",
                                        "2026-11-21T10:00:00.1234Z",  "2026-11-21T10:00:00.12345Z",
                                        "2026-11-21T10:00:00.123456Z"};
    char out[CLOCK_ISO_BYTES];
    for (int digits = 0; digits <= 6; digits++) {
        ck_assert_str_eq(clock_iso(out, AT, digits), texts[digits]);
    }
    ck_assert_str_eq(clock_iso(out, AT, -1), texts[0]);
    ck_assert_str_eq(clock_iso(out, AT, 99), texts[6]);
}
END_TEST

START_TEST(iso_of_times_before_1970_and_out_of_range_is_still_a_time)
{
    char out[CLOCK_ISO_BYTES];
    ck_assert_str_eq(clock_iso(out, 0, 3), "1970-01-01T00:00:00.000Z");
    ck_assert_str_eq(clock_iso(out, -1, 6), "1969-12-31T23:59:59.999999Z");
    ck_assert_str_eq(clock_iso(out, 951782400000000, 0), "2000-02-29T00:00:00Z");
    ck_assert_str_eq(clock_iso(out, INT64_MAX, 0), "9999-12-31T23:59:59Z");
    ck_assert_str_eq(clock_iso(out, INT64_MIN, 0), "0001-01-01T00:00:00Z");
}
END_TEST

START_TEST(the_systems_clock_goes_forward_and_its_chance_varies)
{
    struct clock c = clock_system();
    ck_assert_int_gt(clock_wall_us(&c), AT - INT64_C(31536000000000));
    int64_t before = clock_monotonic_us(&c);
    uint64_t all = 0;
    uint64_t none = UINT64_MAX;
    for (int i = 0; i < 64; i++) {
        uint64_t random = clock_random(&c);
        all |= random;
        none &= random;
    }
    ck_assert_uint_eq(all, UINT64_MAX);
    ck_assert_uint_eq(none, 0);
    ck_assert_int_ge(clock_monotonic_us(&c), before);
}
END_TEST

static int64_t fixed_time(void *context)
{
    return *(int64_t *)context;
}

static uint64_t fixed_random(void *context)
{
    return (uint64_t) * (int64_t *)context;
}

START_TEST(a_test_owns_time_and_chance)
{
    int64_t now = 42;
    struct clock c = {fixed_time, fixed_time, fixed_random, &now};
    ck_assert_int_eq(clock_wall_us(&c), 42);
    now = 43;
    ck_assert_int_eq(clock_monotonic_us(&c), 43);
    ck_assert_uint_eq(clock_random(&c), 43);
}
END_TEST

START_TEST(a_sleep_lasts_as_long_as_asked)
{
    const struct clock c = clock_system();
    const volatile sig_atomic_t stop = 0;
    int64_t began_us = clock_monotonic_us(&c);
    clock_sleep(20, NULL);
    clock_sleep(60, &stop); /* more than one slice */
    ck_assert_int_ge(clock_monotonic_us(&c) - began_us, 80000);
    clock_sleep(0, NULL);
    clock_sleep(-1, NULL);
}
END_TEST

START_TEST(a_stop_ends_a_sleep)
{
    const struct clock c = clock_system();
    const volatile sig_atomic_t stop = 1;
    int64_t began_us = clock_monotonic_us(&c);
    clock_sleep(3600000, &stop);
    ck_assert_int_lt(clock_monotonic_us(&c) - began_us, 60000000);
}
END_TEST

SUITE_MAIN("base/clock", iso_has_as_many_digits_as_asked,
           iso_of_times_before_1970_and_out_of_range_is_still_a_time,
           the_systems_clock_goes_forward_and_its_chance_varies, a_test_owns_time_and_chance,
           a_sleep_lasts_as_long_as_asked, a_stop_ends_a_sleep)
