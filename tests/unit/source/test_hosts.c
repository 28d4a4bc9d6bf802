/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of hosts, turned. */
#include "hosts.h"

#include "suite.h"

static void expect_turned(const char *list, size_t turn, const char *expected)
{
    struct buf out;
    buf_init(&out, 256);
    hosts_turn(&out, list, turn);
    ck_assert_str_eq(buf_text(&out), expected);
    buf_release(&out);
}

START_TEST(items_are_counted)
{
    ck_assert_uint_eq(hosts_count(NULL), 0);
    ck_assert_uint_eq(hosts_count(""), 0);
    ck_assert_uint_eq(hosts_count("one"), 1);
    ck_assert_uint_eq(hosts_count("one,,three"), 3);
}
END_TEST

START_TEST(each_item_comes_first_in_its_turn)
{
    expect_turned("a,b,c", 0, "a,b,c");
    expect_turned("a,b,c", 1, "b,c,a");
    expect_turned("a,b,c", 2, "c,a,b");
    expect_turned("a,b,c", 3, "a,b,c");
    expect_turned(",5433", 1, "5433,");
}
END_TEST

START_TEST(one_item_stays_what_it_is)
{
    expect_turned("one", 5, "one");
    expect_turned("", 5, "");
}
END_TEST

SUITE_MAIN("source/hosts", items_are_counted, each_item_comes_first_in_its_turn,
           one_item_stays_what_it_is)
