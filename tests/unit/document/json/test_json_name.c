/* SPDX-License-Identifier: Apache-2.0 */
/* Names compared with escapes resolved. */
#include "rowferry/document/json/json_compare.h"

#include <check.h>
#include <string.h>

#include "suite.h"

static struct span text(const char *bytes)
{
    return span_make(bytes, strlen(bytes));
}

static int compare(const char *a, const char *b)
{
    return json_name_compare(text(a), text(b));
}

START_TEST(escapes_are_compared_as_what_they_mean)
{
    ck_assert_int_eq(compare("a", "\\u0061"), 0);
    ck_assert_int_eq(compare("\\n\\/\\\"\\\\", "\\u000a/\\u0022\\u005C"), 0);
    ck_assert_int_eq(compare("\xc3\xa9", "\\u00E9"), 0);
    ck_assert_int_eq(compare("\xf0\x9f\x90\x98", "\\ud83d\\udc18"), 0);
    ck_assert_int_ne(compare("\\ud83d", "\\udc18"), 0);
    ck_assert_int_ne(compare("\\ud83d\\ud83d\\udc18", "\\ud83d"), 0);
    ck_assert_int_ne(compare("a", "A"), 0);
    ck_assert_int_ne(compare("", "\\u0000"), 0);
    ck_assert_int_eq(compare("", ""), 0);
    ck_assert_int_lt(compare("a", "\\u0062"), 0);
    ck_assert_int_lt(compare("a", "ab"), 0);
    ck_assert_int_gt(compare("b", "a\\u0062"), 0);
}
END_TEST

START_TEST(a_string_ends_at_a_quote_that_is_not_escaped)
{
    static const char json[] = "\"a\\\"b\\\\\\\\\",\"\"";
    const char *end = json + strlen(json);
    ck_assert_ptr_eq(json_string_end(json, end), json + 9);
    ck_assert_ptr_eq(json_string_end(json + 11, end), json + 12);
    ck_assert_ptr_null(json_string_end(json + 12, end));
    ck_assert_ptr_null(json_string_end(json, json + 5));
}
END_TEST

SUITE_MAIN("document/json_name", escapes_are_compared_as_what_they_mean,
           a_string_ends_at_a_quote_that_is_not_escaped)
