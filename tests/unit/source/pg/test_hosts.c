/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of hosts, rotated. */
#include "pg/hosts.h"

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

START_TEST(a_host_over_a_network_is_recognised)
{
    static const char *const here[] = {"",    "localhost",       "LocalHost", "127.0.0.1",
                                       "::1", "/run/postgresql", "@abstract", "127.3.2.1,/tmp,"};
    static const char *const elsewhere[] = {"db.example",        "10.0.0.1",          "::2",
                                            "127.0.0.1,db",      "0.0.0.0",           "127.example",
                                            "localhost.example", "db,/run/postgresql"};
    for (size_t i = 0; i < sizeof(here) / sizeof(here[0]); i++) {
        ck_assert_msg(!hosts_leave(here[i]), "%s", here[i]);
    }
    for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
        ck_assert_msg(hosts_leave(elsewhere[i]), "%s", elsewhere[i]);
    }
}
END_TEST

SUITE_MAIN("source/hosts", items_are_counted, each_item_comes_first_in_its_turn,
           one_item_stays_what_it_is, a_host_over_a_network_is_recognised)
