/* SPDX-License-Identifier: Apache-2.0 */
/* The stop flag. */
#include "rowferry/base/stop.h"

#include "suite.h"

START_TEST(a_signal_sets_the_flag)
{
    const volatile sig_atomic_t *stop = stop_watch();
    ck_assert(!stop_asked());
    ck_assert_int_eq(raise(SIGTERM), 0);
    ck_assert(stop_asked());
    ck_assert_int_eq(*stop, 1);
}
END_TEST

START_TEST(a_command_sets_the_flag_by_itself)
{
    ck_assert(!stop_asked());
    stop_ask();
    ck_assert(stop_asked());
}
END_TEST

SUITE_MAIN("base/stop", a_signal_sets_the_flag, a_command_sets_the_flag_by_itself)
