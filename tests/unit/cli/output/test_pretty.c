/* SPDX-License-Identifier: Apache-2.0 */
/* Documents formatted for people. */
#include "output/pretty.h"

#include <string.h>

#include "suite.h"

static void expect(const char *json, const char *wanted)
{
    struct buf out;
    buf_init(&out, 4096);
    pretty_push(&out, span_make(json, strlen(json)));
    ck_assert_str_eq(buf_text(&out), wanted);
    buf_release(&out);
}

START_TEST(values_stay_byte_for_byte)
{
    expect("{\"a\":12345678901234567890.10,\"b\":[true,null],\"c\":{},\"d\":[]}",
           "{\n  \"a\": 12345678901234567890.10,\n  \"b\": [\n    true,\n    null\n  ],\n"
           "  \"c\": {},\n  \"d\": []\n}");
}
END_TEST

START_TEST(texts_are_not_taken_for_structure)
{
    expect("{\"a{,\":\"b:[\\\"},\\\\\"}", "{\n  \"a{,\": \"b:[\\\"},\\\\\"\n}");
}
END_TEST

START_TEST(a_value_alone_is_itself)
{
    expect("1.50", "1.50");
    expect("\"x\"", "\"x\"");
    expect("{}", "{}");
    expect("", "");
}
END_TEST

START_TEST(half_a_value_ends_where_it_ends)
{
    expect("{\"a", "{\n  \"a");
    expect("[\"\\", "[\n  \"\\");
    expect("]", "\n]");
}
END_TEST

SUITE_MAIN("cli/pretty", values_stay_byte_for_byte, texts_are_not_taken_for_structure,
           a_value_alone_is_itself, half_a_value_ends_where_it_ends)
