/* SPDX-License-Identifier: Apache-2.0 */
/* Documents compared by value. */
#include "rowferry/document/compare/compare.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "suite.h"

static char told[2048];

static void note(void *context, const struct difference *d)
{
    size_t len = strlen(told);
    (void)context;
    snprintf(told + len, sizeof(told) - len, "%s %.*s|%.*s\n", d->path, (int)d->row.len,
             d->row.data != NULL ? d->row.data : "", (int)d->indexed.len,
             d->indexed.data != NULL ? d->indexed.data : "");
}

static size_t compare(const struct compare_rules *rules, const char *row, const char *indexed)
{
    told[0] = '\0';
    return compare_documents(rules, span_make(row, strlen(row)),
                             span_make(indexed, strlen(indexed)), note, NULL);
}

static void same(const char *row, const char *indexed)
{
    struct compare_rules plain = {0};
    ck_assert_msg(compare(&plain, row, indexed) == 0, "%s and %s: %s", row, indexed, told);
    ck_assert_msg(compare(&plain, indexed, row) == 0, "%s and %s: %s", indexed, row, told);
}

static void differ(const char *row, const char *indexed, const char *how)
{
    struct compare_rules plain = {0};
    ck_assert_uint_gt(compare(&plain, row, indexed), 0);
    ck_assert_str_eq(told, how);
}

START_TEST(what_means_the_same_is_the_same)
{
    same("{\"a\":1,\"b\":[1,2]}", "{\"a\":1,\"b\":[1,2]}");
    same("{\"a\":1,\"b\":2,\"c\":3}", "{\"c\":3,\"a\":1,\"b\":2}");
    same("{\"a\":{\"x\":[{\"y\":1}]}}", " { \"a\" : { \"x\" : [ { \"y\" : 1 } ] } } ");
    same("{\"a\":\"\xc3\xa9\\n\"}", "{\"\\u0061\":\"\\u00e9\\u000a\"}");
    same("{\"a\":[]}", "{\"a\": [ ]}");
    same("{}", "{ }");
}
END_TEST

START_TEST(numbers_are_compared_digit_for_digit)
{
    same("[1.0,100,0.001,-0,12.340e2]", "[1,1e2,1E-3,0.0,1234]");
    same("[0.00]", "[-0e5]");
    differ("[9007199254740993]", "[9007199254740992]", "[0] 9007199254740993|9007199254740992\n");
    differ("[0.10000000000000000001]", "[0.1]", "[0] 0.10000000000000000001|0.1\n");
    differ("[1]", "[-1]", "[0] 1|-1\n");
    differ("[10]", "[100]", "[0] 10|100\n");
    differ("[1e400]", "[1e401]", "[0] 1e400|1e401\n");
    differ("[1]", "[\"1\"]", "[0] 1|\"1\"\n");
}
END_TEST

START_TEST(each_kind_of_difference_is_told_with_its_place)
{
    differ("{\"a\":\"x\"}", "{\"a\":\"y\"}", "a \"x\"|\"y\"\n");
    differ("{\"a\":1,\"b\":2}", "{\"b\":2}", "a 1|\n");
    differ("{\"b\":2}", "{\"a\":1,\"b\":2}", "a |1\n");
    differ("{\"a\":{\"b\":[1,{\"c\":true}]}}", "{\"a\":{\"b\":[1,{\"c\":false}]}}",
           "a.b[1].c true|false\n");
    differ("{\"a\":[1,2]}", "{\"a\":[2,1]}", "a[0] 1|2\na[1] 2|1\n");
    differ("{\"a\":[1]}", "{\"a\":[1,2,3]}", "a[1] |2\n");
    differ("{\"a\":null}", "{}", "a null|\n");
    differ("{\"a\":[]}", "{\"a\":{}}", "a []|{}\n");
    differ("{\"a\":\"1\",\"b\":\"2\"}", "{\"a\":\"2\",\"b\":\"1\"}",
           "a \"1\"|\"2\"\nb \"2\"|\"1\"\n");
}
END_TEST

static void parse(struct mapping *m, const char *properties)
{
    struct err err;
    char json[1024];
    snprintf(json, sizeof(json), "{\"properties\":{%s}}", properties);
    ck_assert_msg(mapping_parse(m, json, &err) == 0, "%s", err.message);
}

START_TEST(what_the_service_fills_is_not_compared)
{
    struct mapping m;
    char filled[] = "v";
    struct field fields[] = {{.property = filled}};
    parse(&m, "\"v\":{\"type\":\"keyword\"},\"a\":{\"type\":\"keyword\"}");
    struct compare_rules rules = {.mapping = &m, .fields = fields, .field_count = 1};
    ck_assert_uint_eq(compare(&rules, "{\"a\":\"x\"}", "{\"a\":\"x\",\"v\":\"theirs\"}"), 0);
    ck_assert_uint_eq(compare(&rules, "{\"a\":\"x\"}", "{\"a\":\"x\",\"w\":\"theirs\"}"), 1);
    ck_assert_ptr_nonnull(compare_skips(&rules, mapping_find(&m, "v")));
    ck_assert_ptr_null(compare_skips(&rules, mapping_find(&m, "a")));
    rules.filled = true;
    ck_assert_uint_eq(compare(&rules, "{\"a\":\"x\"}", "{\"a\":\"x\",\"w\":\"theirs\"}"), 0);
    ck_assert_uint_eq(compare(&rules, "{\"a\":\"x\"}", "{\"w\":\"theirs\"}"), 1);
    mapping_release(&m);
}
END_TEST

START_TEST(vectors_that_were_put_back_are_floats)
{
    struct mapping m;
    parse(&m, "\"v\":{\"type\":\"dense_vector\",\"dims\":2},\"n\":{\"type\":\"double\"}");
    struct compare_rules rules = {.mapping = &m, .form = SOURCE_VECTORS_APART};
    ck_assert_uint_eq(compare(&rules, "{\"v\":[0.123456789,1]}", "{\"v\":[0.12345679,1.0]}"), 0);
    ck_assert_uint_eq(compare(&rules, "{\"v\":[0.1234,1]}", "{\"v\":[0.1235,1]}"), 1);
    ck_assert_uint_eq(compare(&rules, "{\"n\":0.123456789}", "{\"n\":0.12345679}"), 1);
    mapping_release(&m);
}
END_TEST

START_TEST(a_derived_source_is_compared_as_sets_of_values)
{
    struct mapping m;
    parse(&m, "\"k\":{\"type\":\"keyword\"},\"d\":{\"type\":\"date\"},\"f\":{\"type\":\"float\"},"
              "\"l\":{\"type\":\"long\"},\"g\":{\"type\":\"geo_point\"},"
              "\"o\":{\"properties\":{\"x\":{\"type\":\"long\"}}}");
    struct compare_rules rules = {.mapping = &m, .form = SOURCE_DERIVED};
    ck_assert_uint_eq(compare(&rules, "{\"k\":[\"b\",\"a\",\"b\"]}", "{\"k\":[\"a\",\"b\"]}"), 0);
    ck_assert_uint_eq(compare(&rules, "{\"k\":[\"a\"],\"l\":null}", "{\"k\":\"a\"}"), 0);
    ck_assert_uint_eq(compare(&rules, "{\"k\":[]}", "{}"), 0);
    ck_assert_uint_eq(compare(&rules, "{\"k\":[\"a\",\"c\"]}", "{\"k\":[\"a\",\"b\"]}"), 1);
    ck_assert_uint_eq(compare(&rules, "{\"k\":\"a\"}", "{}"), 1);
    ck_assert_uint_eq(compare(&rules, "{}", "{\"k\":\"a\"}"), 1);
    ck_assert_uint_eq(compare(&rules, "{\"d\":\"2024-03-10T07:04:56.123456Z\"}",
                              "{\"d\":\"2024-03-10T07:04:56.123Z\"}"),
                      0);
    ck_assert_uint_eq(
        compare(&rules, "{\"d\":\"2024-03-10\"}", "{\"d\":\"2024-03-10T00:00:00.000Z\"}"), 0);
    ck_assert_uint_eq(
        compare(&rules, "{\"d\":\"2024-03-11\"}", "{\"d\":\"2024-03-10T00:00:00.000Z\"}"), 1);
    ck_assert_uint_eq(compare(&rules, "{\"f\":0.123456789}", "{\"f\":0.12345679}"), 0);
    ck_assert_uint_eq(compare(&rules, "{\"f\":0.1234}", "{\"f\":0.1235}"), 1);
    ck_assert_uint_eq(compare(&rules, "{\"l\":9007199254740993}", "{\"l\":9007199254740992}"), 1);
    ck_assert_uint_eq(compare(&rules, "{\"o\":{\"x\":1}}", "{\"o\":{\"x\":2}}"), 1);
    ck_assert_uint_eq(compare(&rules, "{\"g\":\"1,2\"}", "{\"g\":{\"lat\":3,\"lon\":4}}"), 0);
    ck_assert_ptr_nonnull(compare_skips(&rules, mapping_find(&m, "g")));
    mapping_release(&m);
}
END_TEST

SUITE_MAIN("document/compare", what_means_the_same_is_the_same,
           numbers_are_compared_digit_for_digit, each_kind_of_difference_is_told_with_its_place,
           what_the_service_fills_is_not_compared, vectors_that_were_put_back_are_floats,
           a_derived_source_is_compared_as_sets_of_values)
