/* SPDX-License-Identifier: Apache-2.0 */
#include "generation/generation_retention.h"

#include <stdio.h>
#include <string.h>

#include "suite.h"

static struct index_info all[3];

/* Names sorted by the time when each was last live. */
static const char *last(int64_t a, int64_t b, int64_t c, const char *live)
{
    const int64_t left[] = {a, b, c};
    for (size_t i = 0; i < 3; i++) {
        all[i] = (struct index_info){.left_clock = left[i]};
        snprintf(all[i].name, sizeof(all[i].name), "shop-20260101-%zu", i + 1);
    }
    const struct index_info *found = generation_retention_last(all, 3, live);
    return found != NULL ? found->name + strlen("shop-20260101-") : "none";
}

START_TEST(the_one_before_is_the_one_that_was_live_last)
{
    ck_assert_str_eq(last(10, 20, 0, "shop-20260101-3"), "2");
    ck_assert_str_eq(last(20, 10, 0, "shop-20260101-3"), "1"); /* it was restored */
    ck_assert_str_eq(last(30, 20, 10, "shop-20260101-1"), "2");
}
END_TEST

START_TEST(one_that_never_was_live_is_no_former_one_where_there_is_another)
{
    ck_assert_str_eq(last(10, 0, 0, "shop-20260101-2"), "1");
    ck_assert_str_eq(last(0, 0, 0, "shop-20260101-3"), "2");
    ck_assert_ptr_null(generation_retention_last(all, 0, "shop-20260101-1"));
}
END_TEST

SUITE_MAIN("engine/generation_retention", the_one_before_is_the_one_that_was_live_last,
           one_that_never_was_live_is_no_former_one_where_there_is_another)
