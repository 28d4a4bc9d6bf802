/* SPDX-License-Identifier: Apache-2.0 */
/* Placeholders of an SQL text. */
#include "pg/template.h"

#include "rowferry/base/embed.h"
#include "suite.h"

static void check(const char *text, const char *expected)
{
    static const struct placeholder places[] = {
        {"table", "\"a\".\"b\""}, {"key", "'{\"id\"}'"}, {0}};
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

/* The text that fills it may have several lines. */
START_TEST(no_comment_of_a_migration_has_a_place_to_fill)
{
    for (const struct embedded *sql = source_sql; sql->name != NULL; sql++) {
        for (const char *at = strstr(sql->text, "--"); at != NULL; at = strstr(at + 2, "--")) {
            size_t len = strcspn(at, "\n");
            ck_assert_msg(memchr(at, '{', len) == NULL, "%s.sql: %.*s", sql->name, (int)len, at);
        }
    }
}
END_TEST

SUITE_MAIN("source/template", placeholders_are_filled_once, other_braces_stay,
           no_comment_of_a_migration_has_a_place_to_fill)
