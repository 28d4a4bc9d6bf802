/* SPDX-License-Identifier: Apache-2.0 */
/* Which deletes are counted, and when there are too many. */
#include "guard/guard.h"

#include <inttypes.h>
#include <stdio.h>

#include "rowferry/base/text.h"
#include "suite.h"

static void foresee(struct guard *g, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++) {
        char key[32];
        int len = snprintf(key, sizeof(key), "%" PRId64, i);
        guard_foresee(g, text_hash(key, (size_t)len));
    }
}

static struct guard guard_of(double share, int64_t count, int64_t allowed, int64_t documents)
{
    struct guard g;
    guard_init(&g, &(struct guard_limits){share, count}, allowed);
    guard_begin(&g);
    g.documents = documents;
    return g;
}

START_TEST(only_more_than_both_limits_is_too_many)
{
    static const struct {
        double share;
        int64_t count, documents, deletes;
        bool trips;
    } rows[] = {
        {0.1, 100, 1000, 100, false}, {0.1, 100, 1000, 101, true},    {0.1, 100, 500, 100, false},
        {0.1, 100, 500, 101, true},   {0.1, 100, 10000, 1000, false}, {0.1, 100, 10000, 1001, true},
        {0, 0, 10, 1, true},          {0, 0, 10, 0, false},           {1, 0, 10, 10, false},
        {1, 0, 10, 11, false},        {0.5, 5, 0, 6, true},           {0.1, 100, -1, 101, true},
        {0.1, 100, -1, 100, false},   {0.1, 0, 0, 1, true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct guard g = guard_of(rows[i].share, rows[i].count, 0, rows[i].documents);
        foresee(&g, 0, rows[i].deletes);
        ck_assert_msg(guard_trips(&g, false) == rows[i].trips, "row %zu", i);
        guard_release(&g);
    }
}
END_TEST

START_TEST(an_index_may_not_take_the_place_of_one_with_many_more_documents)
{
    static const struct {
        double share;
        int64_t count, allowed, before, after;
        bool refused;
    } rows[] = {
        {0.1, 100, 0, 1000, 900, false}, {0.1, 100, 0, 1000, 899, true},
        {0.1, 100, 0, 500, 400, false},  {0.1, 100, 999, 1000, 1, false},
        {0.1, 100, 0, 10, 0, true},      {1, 100, 0, 1000, 1, false},
        {1, 100, 0, 1000, 0, true},      {0.1, 100, 1000, 1000, 0, false},
        {0.1, 100, 0, 0, 0, false},      {0.1, 100, 0, -1, 5, false},
        {0.1, 100, 0, 1000, -1, false},  {0.1, 100, 0, 1, 1000, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct guard_limits limits = {rows[i].share, rows[i].count};
        ck_assert_msg(guard_refuses_swap(&limits, rows[i].allowed, rows[i].before, rows[i].after) ==
                          rows[i].refused,
                      "row %zu", i);
    }
}
END_TEST

START_TEST(a_key_that_goes_twice_is_one_delete)
{
    struct guard g = guard_of(0.1, 100, 0, 1000);
    foresee(&g, 0, 80);
    foresee(&g, 40, 100);
    ck_assert_int_eq(guard_count(&g), 100);
    ck_assert(!guard_trips(&g, false));
    guard_begin(&g);
    ck_assert_int_eq(guard_count(&g), 0);
    guard_release(&g);
}
END_TEST

START_TEST(what_was_permitted_does_not_count)
{
    struct guard g = guard_of(0.1, 100, 900, 1000);
    foresee(&g, 0, 1000);
    ck_assert(!guard_trips(&g, false)); /* 100 more than permitted */
    foresee(&g, 1000, 1001);
    ck_assert(guard_trips(&g, false));
    guard_release(&g);
}
END_TEST

START_TEST(a_truncated_table_may_delete_what_was_permitted_and_nothing_more)
{
    struct guard g = guard_of(1, 1000, 0, 5);
    ck_assert(!guard_trips(&g, true));
    foresee(&g, 0, 1);
    ck_assert(guard_trips(&g, true));
    g.allowed = 1;
    ck_assert(!guard_trips(&g, true));
    guard_release(&g);
}
END_TEST

START_TEST(millions_are_counted_in_little_memory)
{
    struct guard g = guard_of(0.1, 100, 0, 10000000);
    foresee(&g, 0, 65536);
    ck_assert_int_eq(guard_count(&g), 65536);
    foresee(&g, 0, 3000000);
    ck_assert_int_ge(guard_count(&g), 2940000);
    ck_assert_int_le(guard_count(&g), 3060000);
    ck_assert_uint_le(g.kept.capacity * sizeof(*g.kept.slots), (size_t)4 << 20);
    int64_t before = guard_count(&g);
    foresee(&g, 1000000, 2000000);
    ck_assert_int_eq(guard_count(&g), before);
    guard_release(&g);
}
END_TEST

SUITE_MAIN("engine/guard", only_more_than_both_limits_is_too_many,
           an_index_may_not_take_the_place_of_one_with_many_more_documents,
           a_key_that_goes_twice_is_one_delete, what_was_permitted_does_not_count,
           a_truncated_table_may_delete_what_was_permitted_and_nothing_more,
           millions_are_counted_in_little_memory)
