/* SPDX-License-Identifier: Apache-2.0 */
/* Delivered rows are recognized, all others never are. */
#include "cursor/dedup_cache.h"

#include "suite.h"

START_TEST(what_was_delivered_is_recognised_until_it_is_another)
{
    struct dedup_cache s;
    dedup_cache_init(&s, 8);
    ck_assert(!dedup_cache_same(&s, 1, 10));
    dedup_cache_note(&s, 1, 10);
    ck_assert(dedup_cache_same(&s, 1, 10));
    ck_assert(!dedup_cache_same(&s, 1, 11));
    dedup_cache_note(&s, 1, 11);
    ck_assert(!dedup_cache_same(&s, 1, 10));
    ck_assert(dedup_cache_same(&s, 1, 11));
    dedup_cache_release(&s);
}
END_TEST

START_TEST(keys_that_share_a_slot_are_never_taken_for_each_other)
{
    struct dedup_cache s;
    dedup_cache_init(&s, 8);
    dedup_cache_note(&s, 1, 10);
    ck_assert(!dedup_cache_same(&s, 9, 10));
    dedup_cache_forget(&s, 9);
    ck_assert(dedup_cache_same(&s, 1, 10));
    dedup_cache_note(&s, 9, 10);
    ck_assert(!dedup_cache_same(&s, 1, 10));
    ck_assert(dedup_cache_same(&s, 9, 10));
    dedup_cache_release(&s);
}
END_TEST

START_TEST(what_is_forgotten_or_reset_is_delivered_again)
{
    struct dedup_cache s;
    dedup_cache_init(&s, 5);
    ck_assert_uint_eq(s.count, 8);
    dedup_cache_note(&s, 0, 0);
    ck_assert(dedup_cache_same(&s, 0, 0));
    dedup_cache_forget(&s, 0);
    ck_assert(!dedup_cache_same(&s, 0, 0));
    dedup_cache_note(&s, 3, 4);
    dedup_cache_reset(&s);
    ck_assert(!dedup_cache_same(&s, 3, 4));
    ck_assert(!dedup_cache_same(&s, 0, 0));
    dedup_cache_release(&s);
}
END_TEST

SUITE_MAIN("source/dedup_cache", what_was_delivered_is_recognised_until_it_is_another,
           keys_that_share_a_slot_are_never_taken_for_each_other,
           what_is_forgotten_or_reset_is_delivered_again)
