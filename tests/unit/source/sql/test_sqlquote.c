/* SPDX-License-Identifier: Apache-2.0 */
/* Quoting of names, constants and arrays. */
#include "sql/sqlquote.h"

#include "suite.h"

static const struct {
    void (*quote)(struct buf *out, const char *text);
    const char *text;
    const char *quoted;
} cases[] = {
    {sqlquote_identifier, "articles", "\"articles\""},
    {sqlquote_identifier, "", "\"\""},
    {sqlquote_identifier, "say \"hello\"", "\"say \"\"hello\"\"\""},
    {sqlquote_identifier, "back\\slash'", "\"back\\slash'\""},
    {sqlquote_literal, "a", "'a'"},
    {sqlquote_literal, "it's \"so\"", "'it''s \"so\"'"},
    {sqlquote_literal, "C:\\it's", " E'C:\\\\it''s'"},
    {sqlquote_item, "a", "\"a\""},
    {sqlquote_item, "say \"\\\"", "\"say \\\"\\\\\\\"\""},
};

START_TEST(quoted_texts_keep_their_meaning)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buf out;
        buf_init(&out, 256);
        cases[i].quote(&out, cases[i].text);
        ck_assert_str_eq(buf_text(&out), cases[i].quoted);
        buf_release(&out);
    }
}
END_TEST

START_TEST(an_array_has_commas_between_its_items)
{
    static const char *const items[] = {"a", "b,c", ""};
    struct buf out;
    buf_init(&out, 256);
    sqlquote_array(&out, items, 3);
    ck_assert_str_eq(buf_text(&out), "{\"a\",\"b,c\",\"\"}");
    buf_reset(&out);
    sqlquote_array(&out, NULL, 0);
    ck_assert_str_eq(buf_text(&out), "{}");
    buf_release(&out);
}
END_TEST

SUITE_MAIN("source/sqlquote", quoted_texts_keep_their_meaning,
           an_array_has_commas_between_its_items)
