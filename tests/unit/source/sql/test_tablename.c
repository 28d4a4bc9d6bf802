/* SPDX-License-Identifier: Apache-2.0 */
/* Table names: unquoted names are taken literally, quoted ones as in SQL. */
#include "rowferry/source/sql/tablename.h"

#include "suite.h"

static const struct {
    const char *text;
    const char *schema;
    const char *table;
} names[] = {
    {"articles", "public", "articles"},
    {"shop.articles", "shop", "articles"},
    {"Shop.Weird Name", "Shop", "Weird Name"},
    {"shop.a.b", "shop", "a.b"},
    {"shop.a\"b", "shop", "a\"b"},
    {"sh\"op.\"a\"", "sh\"op", "a"},
    {"\"a.b\".\"c\"", "a.b", "c"},
    {"\"a.b\".c.d", "a.b", "c.d"},
    {"public.\"Weird Name\"", "public", "Weird Name"},
    {"\"a.b\"", "public", "a.b"},
    {"shop.\"say \"\"hello\"\"\"", "shop", "say \"hello\""},
    {"\"\"\"\".\"\"\"\"", "\"", "\""},
};

START_TEST(unquoted_names_are_literal_and_quoted_ones_are_as_in_sql)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct tablename got;
        struct err err = {0};
        ck_assert_msg(tablename_parse(&got, names[i].text, &err) == 0, "%s", err.message);
        ck_assert_str_eq(got.schema, names[i].schema);
        ck_assert_str_eq(got.table, names[i].table);
        tablename_release(&got);
    }
}
END_TEST

START_TEST(a_suggested_name_can_be_parsed_again)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct tablename got;
        struct err err = {0};
        struct buf text;
        buf_init(&text, 256);
        tablename_push(&text, names[i].schema, names[i].table);
        ck_assert_msg(tablename_parse(&got, buf_text(&text), &err) == 0, "%s", err.message);
        ck_assert_str_eq(got.schema, names[i].schema);
        ck_assert_str_eq(got.table, names[i].table);
        tablename_release(&got);
        buf_release(&text);
    }
}
END_TEST

START_TEST(a_name_that_needs_no_quotes_is_suggested_without)
{
    struct buf text;
    buf_init(&text, 256);
    tablename_push(&text, "public", "Weird Name");
    ck_assert_str_eq(buf_text(&text), "public.Weird Name");
    buf_reset(&text);
    tablename_push(&text, "a.b", "c");
    ck_assert_str_eq(buf_text(&text), "\"a.b\".c");
    buf_release(&text);
}
END_TEST

START_TEST(an_unterminated_or_empty_name_is_refused)
{
    static const char *const wrong[] = {"\"a",           "\"a\"b", "\"a\".\"b", "\"a\".\"b\"c",
                                        "\"a\".\"b\".c", "\"\"",   "a.",        ".a",
                                        "\"a\".",        "a.\"\"", "\"a\"\"",   "\""};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct tablename got;
        struct err err = {0};
        ck_assert_msg(tablename_parse(&got, wrong[i], &err) == ERR_CONFIG, "%s", wrong[i]);
        ck_assert_ptr_null(got.schema);
        ck_assert_ptr_null(got.table);
    }
}
END_TEST

SUITE_MAIN("source/tablename", unquoted_names_are_literal_and_quoted_ones_are_as_in_sql,
           a_suggested_name_can_be_parsed_again, a_name_that_needs_no_quotes_is_suggested_without,
           an_unterminated_or_empty_name_is_refused)
