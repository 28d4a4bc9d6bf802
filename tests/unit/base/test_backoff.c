/* SPDX-License-Identifier: Apache-2.0 */
/* Back-off: bounds, spread, reset. */
#include "rowferry/base/backoff.h"

#include "suite.h"

/* A small generator with a fixed seed, so that failures are reproducible. */
static uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15;
    uint64_t z = (*state ^ (*state >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

START_TEST(every_wait_is_within_the_doubling_ceiling)
{
    uint64_t seed = 1;
    for (int round = 0; round < 300; round++) {
        struct backoff b;
        backoff_init(&b, 100, 30000);
        int64_t ceiling = 100;
        for (int i = 0; i < 80; i++) {
            int64_t wait = backoff_next_ms(&b, next_random(&seed));
            ck_assert_int_ge(wait, 1);
            ck_assert_int_le(wait, ceiling);
            ceiling = ceiling * 2 < 30000 ? ceiling * 2 : 30000;
        }
    }
}
END_TEST

START_TEST(both_ends_of_the_range_are_reached)
{
    struct backoff b;
    backoff_init(&b, 100, 400);
    ck_assert_int_eq(backoff_next_ms(&b, 0), 1);
    ck_assert_int_eq(backoff_next_ms(&b, 199), 200);
    ck_assert_int_eq(backoff_next_ms(&b, 399), 400);
    ck_assert_int_eq(backoff_next_ms(&b, 399), 400);
    ck_assert_uint_eq(b.attempt, 4);
}
END_TEST

START_TEST(waits_of_many_clients_spread_over_the_whole_range)
{
    uint64_t seed = 7;
    int64_t sum = 0;
    enum { CLIENTS = 20000 };
    for (int i = 0; i < CLIENTS; i++) {
        struct backoff b;
        backoff_init(&b, 1000, 1000);
        sum += backoff_next_ms(&b, next_random(&seed));
    }
    ck_assert_int_gt(sum / CLIENTS, 480);
    ck_assert_int_lt(sum / CLIENTS, 520);
}
END_TEST

START_TEST(after_a_success_the_next_wait_is_short_again)
{
    struct backoff b;
    backoff_init(&b, 10, 100000);
    for (int i = 0; i < 12; i++) {
        backoff_next_ms(&b, UINT64_MAX);
    }
    backoff_reset(&b);
    ck_assert_int_le(backoff_next_ms(&b, UINT64_MAX), 10);
}
END_TEST

START_TEST(extreme_settings_neither_overflow_nor_give_zero)
{
    struct backoff b;
    backoff_init(&b, INT64_MAX / 2 + 2, INT64_MAX);
    for (int i = 0; i < 5; i++) {
        ck_assert_int_ge(backoff_next_ms(&b, UINT64_MAX), 1);
    }
    backoff_init(&b, 0, 0);
    ck_assert_int_eq(backoff_next_ms(&b, UINT64_MAX), 1);
}
END_TEST

SUITE_MAIN("base/backoff", every_wait_is_within_the_doubling_ceiling,
           both_ends_of_the_range_are_reached, waits_of_many_clients_spread_over_the_whole_range,
           after_a_success_the_next_wait_is_short_again,
           extreme_settings_neither_overflow_nor_give_zero)
