/* SPDX-License-Identifier: Apache-2.0 */
/* Placeholders of an SQL text. */
#include "pg/template.h"

#include "suite.h"

static void check(const char *text, const char *expected)
{
    static const struct place places[] = {{"table", "\"a\".\"b\""}, {"key", "'{\"id\"}'"}, {0}};
    struct buf out;
    buf_init(&out, 4096);
    template_fill(&out, text, places);
    ck_assert_str_eq(buf_text(&out), expected);
    buf_release(&out);
}

START_TEST(placeholders_are_filled_once)
{
    check("", "");
    check("select 1", "select 1");
    check("on {table} by {key};{table}", "on \"a\".\"b\" by '{\"id\"}';\"a\".\"b\"");
}
END_TEST

START_TEST(other_braces_stay)
{
    check("{", "{");
    check("'{}'::text[] {tabl} {tables} {table", "'{}'::text[] {tabl} {tables} {table");
    check("{{table}}", "{\"a\".\"b\"}");
}
END_TEST

SUITE_MAIN("source/template", placeholders_are_filled_once, other_braces_stay)
