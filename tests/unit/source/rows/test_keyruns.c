/* SPDX-License-Identifier: Apache-2.0 */
/* Integers as runs. */
#include "rows/keyruns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

static void add_all(struct keyset *k, const char *const *keys, size_t count)
{
    keyset_init(k, 1 << 20);
    for (size_t i = 0; i < count; i++) {
        ck_assert_int_eq(keyset_add(k, span_make(keys[i], strlen(keys[i]))), KEYSET_NEW);
    }
}

static void expect(const char *const *keys, size_t count, const char *first, const char *last,
                   uint64_t in_runs)
{
    struct keyset k;
    struct keyruns r;
    add_all(&k, keys, count);
    keyruns_make(&r, &k);
    ck_assert_str_eq(buf_text(&r.first), first);
    ck_assert_str_eq(buf_text(&r.last), last);
    ck_assert_uint_eq(r.keys, in_runs);
    keyruns_release(&r);
    keyset_release(&k);
}

START_TEST(numbers_in_the_order_of_their_text_are_runs_in_their_own)
{
    static const char *const keys[] = {"-10", "-11", "-9", "0", "1",  "10",
                                       "11",  "12",  "14", "2", "20", "21"};
    expect(keys, 12, "{10,14,0,20,-9,-11}", "{12,14,2,21,-9,-10}", 12);
}
END_TEST

START_TEST(a_text_that_is_not_an_integer_is_in_no_run)
{
    static const char *const keys[] = {"",    "-",
                                       "-0",  "00",
                                       "01",  "1a",
                                       " 1",  "1 ",
                                       "+1",  "x",
                                       "1.0", "9223372036854775808",
                                       "5",   "-9223372036854775809"};
    struct keyset k;
    struct keyruns r;
    add_all(&k, keys, 14);
    keyruns_make(&r, &k);
    ck_assert_str_eq(buf_text(&r.first), "{5}");
    for (size_t i = 0; i < k.count; i++) {
        ck_assert_int_eq(k.items[i].strange, i != 12);
    }
    keyruns_release(&r);
    keyset_release(&k);
}
END_TEST

START_TEST(the_largest_numbers_have_no_neighbour)
{
    static const char *const keys[] = {"-9223372036854775807", "-9223372036854775808",
                                       "9223372036854775806", "9223372036854775807"};
    expect(keys, 4, "{9223372036854775806,-9223372036854775808}",
           "{9223372036854775807,-9223372036854775807}", 4);
}
END_TEST

START_TEST(no_keys_are_no_runs)
{
    expect(NULL, 0, "{}", "{}", 0);
}
END_TEST

SUITE_MAIN("source/keyruns", numbers_in_the_order_of_their_text_are_runs_in_their_own,
           a_text_that_is_not_an_integer_is_in_no_run, the_largest_numbers_have_no_neighbour,
           no_keys_are_no_runs)
