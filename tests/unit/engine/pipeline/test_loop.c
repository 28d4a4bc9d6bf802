/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that the loop neither settles as done nor sends again. */
#include "pipeline/loop.h"

#include "fake.h"
#include "suite.h"

START_TEST(a_version_that_no_clock_can_pass_is_a_dead_letter)
{
    struct fake f;
    struct err err;
    struct pipeline_result result;
    fake_init(&f, 40);
    ck_assert_int_eq(fake_sync(&f, NULL, &err), 0);
    f.documents[4].version = INT64_MAX - 1;
    fake_write(&f, 4, 44);
    fake_write(&f, 5, 55);
    ck_assert_msg(fake_sync(&f, &result, &err) == 0, "%s", err.message);
    ck_assert_int_eq(result.dead_letters, 1);
    ck_assert_int_eq(f.documents[5].n, 55);
    ck_assert_int_lt(f.documents[5].version, VERSION_FOREIGN);
    fake_release(&f);
}
END_TEST

SUITE_MAIN("engine/loop", a_version_that_no_clock_can_pass_is_a_dead_letter)
