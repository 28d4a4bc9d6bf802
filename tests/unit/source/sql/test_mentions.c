/* SPDX-License-Identifier: Apache-2.0 */
/* Names that may be columns are found in SQL, and so is what has no name. */
#include "sql/mentions.h"

#include <string.h>

#include "suite.h"

static bool names(const char *sql, const char *name)
{
    struct mentions m = {0};
    mentions_add(&m, sql);
    bool found = mentions_name(&m, span_make(name, strlen(name)));
    mentions_release(&m);
    return found;
}

static bool bare(const char *sql, const char *name)
{
    struct mentions m = {0};
    mentions_add(&m, sql);
    bool found = mentions_bare(&m, span_make(name, strlen(name)));
    mentions_release(&m);
    return found;
}

START_TEST(a_column_is_named_with_or_without_its_table)
{
    ck_assert(names("select u.Name from u", "name"));
    ck_assert(names("\"Na\"\"me\" > 1", "Na\"me"));
    ck_assert(!names("\"Name\" > 1", "name"));
    ck_assert(names("gr\xc3\xb6\xc3\x9f"
                    "e > 1",
                    "gr\xc3\xb6\xc3\x9f"
                    "e"));
    ck_assert(!names("a = 'name' -- name\n and b = $$name$$", "name"));
    ck_assert(bare("name > 1", "name"));
    ck_assert(!bare("u.name > 1", "name"));
    ck_assert(bare("u.name > name", "name"));
    ck_assert(!bare("kind::text = name(1)", "text") && !bare("name(1)", "name"));
}
END_TEST

START_TEST(an_alias_is_not_a_mention)
{
    ck_assert(!names("select a.b as called from a", "called"));
    ck_assert(!names("cast(a as text)", "text"));
}
END_TEST

static void stars(const char *sql, bool top, bool star)
{
    struct mentions m = {0};
    mentions_add(&m, sql);
    ck_assert_msg(m.top == top && m.star == star, "%s", sql);
    mentions_release(&m);
}

START_TEST(a_star_for_columns_differs_from_a_product_and_a_count)
{
    stars("select * from a", true, false);
    stars("select a.*, b.x * a.y from a", true, false);
    stars("select distinct on (x) * from a", true, false);
    stars("select count(*), 2 * b from a where x*y > 3", false, false);
    stars("select x from (select * from a) y", false, true);
    stars("select to_jsonb(a.*) from a", false, true);
    stars("select * from a union all select * from b", true, true);
    stars("select x from a natural join b", false, true);
    stars("select U&\"d\\0061\" from a", false, true);
}
END_TEST

static void calls(const char *sql, const char *expected)
{
    struct buf out;
    buf_init(&out, 4096);
    mentions_push_calls(&out, sql);
    ck_assert_str_eq(buf_text(&out), expected);
    buf_release(&out);
}

START_TEST(calls_with_a_schema_are_found)
{
    calls("public.F(x) || \"My\".\"a\"\"b\" (y) || lower(z)", "\"public.f\",\"My.a\\\"b\"");
    calls("-- it's x.g(1)\n select 'x.g(1)' from public.t", "");
}
END_TEST

SUITE_MAIN("source/mentions", a_column_is_named_with_or_without_its_table,
           an_alias_is_not_a_mention, a_star_for_columns_differs_from_a_product_and_a_count,
           calls_with_a_schema_are_found)
