/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges and multiranges in the form of range fields. */
#include "encoding.h"
#include "suite.h"

#define BROKEN "a range that cannot be read"

START_TEST(each_kind_of_bound_has_its_name)
{
    expect("range:int4", "integer_range", "[1,5)", "{\"gte\":1,\"lt\":5}");
    expect("range:int4", "long_range", "(1,5]", "{\"gt\":1,\"lte\":5}");
    expect("range:int8", "long_range", "[1,5]", "{\"gte\":1,\"lte\":5}");
    expect("range:numeric", "double_range", "(-1.5,2)", "{\"gt\":-1.5,\"lt\":2}");
    expect("range:int4", "integer_range", "[1,)", "{\"gte\":1}");
    expect("range:int4", "integer_range", "(,5)", "{\"lt\":5}");
    expect("range:int4", "integer_range", "(,)", "{}");
    expect("range:inet", "ip_range", "[10.0.0.1,10.0.0.9]",
           "{\"gte\":\"10.0.0.1\",\"lte\":\"10.0.0.9\"}");
}
END_TEST

START_TEST(dates_are_written_as_dates)
{
    expect("range:timestamptz", "date_range",
           "[\"2024-01-01 00:00:00+00\",\"2024-02-01 12:30:00.5+00\")",
           "{\"gte\":\"2024-01-01T00:00:00.000000Z\",\"lt\":\"2024-02-01T12:30:00.500000Z\"}");
    expect("range:timestamp", "date_range", "(\"2024-01-01 00:00:00\",]",
           "{\"gt\":\"2024-01-01T00:00:00.000000\"}");
    expect("range:date", "date_range", "[2024-01-01,2024-02-01)",
           "{\"gte\":\"2024-01-01\",\"lt\":\"2024-02-01\"}");
}
END_TEST

START_TEST(an_infinite_bound_is_no_bound)
{
    expect("range:timestamptz", "date_range", "[-infinity,infinity]", "{}");
    expect("range:numeric", "double_range", "[-Infinity,5]", "{\"lte\":5}");
    expect("range:numeric", "double_range", "[5,Infinity)", "{\"gte\":5}");
    expect_refused("range:date", "date_range", "[infinity,infinity]",
                   "a date that is infinite, BC or after the year 9999");
    expect_refused("range:numeric", "double_range", "[-Infinity,-Infinity]", "not a finite number");
}
END_TEST

START_TEST(an_empty_range_is_left_out)
{
    struct bench t;
    struct refusal refusal;
    bench_open(&t,
               "{\"properties\":{\"a\":{\"type\":\"long\"},\"r\":{\"type\":\"integer_range\"},"
               "\"z\":{\"type\":\"long\"}}}",
               (const char *[]){"a", "int4", "r", "range:int4", "z", "int4", NULL}, MAX_DOCUMENT);
    struct value values[] = {rows_value("1"), rows_value("2"), rows_value("empty"),
                             rows_value("3")};
    struct row row = {.values = values, .count = 4};
    ck_assert(encode_upsert(&t.batch, &t.plan, &row, 5, 1, &refusal));
    ck_assert_str_eq(buf_text(&t.batch.bytes), ACTION "{\"source_id\":\"1\",\"a\":2,\"z\":3}\n");
    bench_close(&t);
    expect("range:int4[]", "integer_range", "{empty,\"[1,2)\"}", "[null,{\"gte\":1,\"lt\":2}]");
    expect("range:int4", "keyword", "empty", "\"empty\"");
}
END_TEST

START_TEST(a_multirange_is_an_array)
{
    expect("multirange:int4", "integer_range", "{}", "[]");
    expect("multirange:int4", "integer_range", "{[1,3)}", "[{\"gte\":1,\"lt\":3}]");
    expect("multirange:int4", "integer_range", "{(,3),[5,7),[9,)}",
           "[{\"lt\":3},{\"gte\":5,\"lt\":7},{\"gte\":9}]");
    expect("multirange:date", "date_range", "{[2024-01-01,2024-02-01)}",
           "[{\"gte\":\"2024-01-01\",\"lt\":\"2024-02-01\"}]");
    expect("multirange:int4[]", "integer_range", "{\"{[1,3),[5,7)}\",\"{}\"}",
           "[[{\"gte\":1,\"lt\":3},{\"gte\":5,\"lt\":7}],[]]");
    expect_refused("multirange:int4", "integer_range", "{[1,2147483648)}",
                   "a number out of the range of an integer");
}
END_TEST

START_TEST(quoted_bounds_are_read)
{
    expect("range:text", "ip_range", "[\"a \"\"b\\\\\",c]",
           "{\"gte\":\"a \\\"b\\\\\",\"lte\":\"c\"}");
    expect("range:text", "ip_range", "[\"\",]", "{\"gte\":\"\"}");
}
END_TEST

START_TEST(what_is_no_range_is_refused)
{
    static const char *const broken[] = {"",       "x",          "[",     "[1",     "[1,",
                                         "[1,5",   "[1)",        "1,5)",  "[1,5)x", "{1,5}",
                                         "[1,\"5", "[\"1\"2,3)", "EMPTY", "(,"};
    static const char *const many[] = {
        "", "{", "[1,2)", "{[1,2)", "{[1,2),}", "{[1,2)[3,4)}", "{}x", "{empty}", "{[1,2)}}"};
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        expect_refused("range:int4", "integer_range", broken[i], BROKEN);
    }
    for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++) {
        expect_refused("multirange:int4", "integer_range", many[i], BROKEN);
    }
}
END_TEST

SUITE_MAIN("document/convert_range", each_kind_of_bound_has_its_name, dates_are_written_as_dates,
           an_infinite_bound_is_no_bound, an_empty_range_is_left_out, a_multirange_is_an_array,
           quoted_bounds_are_read, what_is_no_range_is_refused)
