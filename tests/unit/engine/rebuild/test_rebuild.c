/* SPDX-License-Identifier: Apache-2.0 */
/* A swap that was made but not recorded. The first process that notices records it, and the other
 * is informed. */
#include "rowferry/engine/rebuild/rebuild.h"

#include "fake.h"
#include "rowferry/base/failpoint.h"
#include "suite.h"

/* The process ended between the swap and its record. */
static void swapped(struct fake *f)
{
    struct err err = {0};
    fake_init(f, 40);
    f->several = true;
    ck_assert_int_eq(fake_sync(f, NULL, &err), 0);
    ck_assert(failpoint_load("alias_swapped=error"));
    ck_assert_int_eq(fake_rebuild(f, &err), ERR_TRANSIENT);
    ck_assert(failpoint_load(NULL));
    ck_assert_ptr_nonnull(strstr(f->alias, "-2"));
}

START_TEST(who_fills_finds_what_was_swapped_in_before)
{
    struct fake f;
    struct err err = {0};
    swapped(&f);
    ck_assert_msg(fake_rebuild_fill(&f, &err) == 0, "%s", err.message);
    ck_assert_str_eq(f.filled, f.alias);
    fake_release(&f);
}
END_TEST

START_TEST(a_fill_finds_a_swap_that_the_live_loop_has_recorded)
{
    struct fake f;
    struct err err = {0};
    swapped(&f);
    ck_assert_int_eq(fake_sync(&f, NULL, &err), 0);
    ck_assert_msg(fake_rebuild_fill(&f, &err) == 0, "%s", err.message);
    ck_assert_str_eq(f.filled, f.alias);
    fake_release(&f);
}
END_TEST

START_TEST(who_is_stopped_before_the_record_has_not_recorded_it)
{
    struct fake f;
    struct err err = {0};
    swapped(&f);
    ck_assert_msg(fake_rebuild_stopped(&f, &err) == 0, "%s", err.message);
    ck_assert_str_eq(f.filled, "");
    ck_assert_msg(fake_rebuild(&f, &err) == 0, "%s", err.message);
    ck_assert_ptr_nonnull(strstr(f.alias, "-2"));
    fake_release(&f);
}
END_TEST

SUITE_MAIN("engine/rebuild", who_is_stopped_before_the_record_has_not_recorded_it,
           who_fills_finds_what_was_swapped_in_before,
           a_fill_finds_a_swap_that_the_live_loop_has_recorded)
