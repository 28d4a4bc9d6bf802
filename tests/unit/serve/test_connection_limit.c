/* SPDX-License-Identifier: Apache-2.0 */
/* Which connection is closed when one more arrives. */
#include "connection_limit.h"

#include "suite.h"

START_TEST(the_one_that_is_there_longest_makes_room)
{
    struct connection_limit d = {0};
    for (int fd = 10; fd < 10 + CONNECTION_LIMIT_MAX; fd++) {
        ck_assert_int_eq(connection_limit_enter(&d, fd), -1);
    }
    ck_assert_int_eq(connection_limit_enter(&d, 1000), 10);
    connection_limit_leave(&d, 10); /* it closes later */
    ck_assert_int_eq(connection_limit_enter(&d, 1001), 11);
    connection_limit_leave(&d, 13);
    ck_assert_int_eq(connection_limit_enter(&d, 1002), -1);
    ck_assert_int_eq(connection_limit_enter(&d, 1003), 12);
    ck_assert_int_eq(connection_limit_enter(&d, 1004), 14);
    ck_assert_uint_eq(d.count, CONNECTION_LIMIT_MAX);
}
END_TEST

START_TEST(a_stranger_may_leave)
{
    struct connection_limit d = {0};
    connection_limit_leave(&d, 5);
    ck_assert_int_eq(connection_limit_enter(&d, 5), -1);
    connection_limit_leave(&d, 6);
    ck_assert_uint_eq(d.count, 1);
    connection_limit_leave(&d, 5);
    ck_assert_uint_eq(d.count, 0);
}
END_TEST

SUITE_MAIN("serve/connection_limit", the_one_that_is_there_longest_makes_room, a_stranger_may_leave)
