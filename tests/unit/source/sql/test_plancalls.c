/* SPDX-License-Identifier: Apache-2.0 */
/* Function calls in a plan are found; text in literals that resembles them is not. */
#include "sql/plancalls.h"

#include "suite.h"

static void finds(const char *plan, const char *expected)
{
    struct buf out;
    buf_init(&out, 4096);
    plancalls_push(&out, plan);
    ck_assert_str_eq(buf_text(&out), expected);
    buf_release(&out);
}

START_TEST(calls_are_found_with_their_schema)
{
    finds("  Filter: (a.at > now())", "\"now\"");
    finds("Output: public.f(x), \"Odd\".\"a\"\"b\"(y)", "\"public.f\",\"Odd.a\\\"b\"");
    finds("Output: (random() + lower(t.name))", "\"random\",\"lower\"");
}
END_TEST

START_TEST(words_in_capitals_need_no_parenthesis)
{
    finds("Filter: (day = CURRENT_DATE)", "\"CURRENT_DATE\"");
}
END_TEST

START_TEST(literals_and_columns_are_not_calls)
{
    finds("Filter: (a.now = 'now()''random()'::text)", "");
    finds("Seq Scan on public.\"now()\" a", "");
    finds("'never closed now(", "");
    finds("\"never closed", "");
    finds("", "");
}
END_TEST

static bool whole(const char *plan, bool members)
{
    return plancalls_whole_rows(plan, "public.author", members);
}

START_TEST(whole_rows_are_found_by_the_name_of_their_scan)
{
    ck_assert(whole("Output: to_jsonb(u.*)\n  ->  Seq Scan on public.author u\n", false));
    ck_assert(whole("Index Scan using i on public.author\n  Output: author.*, author.id\n", false));
    ck_assert(!whole("Seq Scan on public.author u\n  Output: u.id, 'u.*'::text, x.*\n", false));
    ck_assert(!whole("Seq Scan on public.post author\n  Output: author.*\n", false));
    ck_assert(whole("Seq Scan on public.part author_1\n  Output: author_1.*\n", true));
}
END_TEST

SUITE_MAIN("source/plancalls", calls_are_found_with_their_schema,
           words_in_capitals_need_no_parenthesis, literals_and_columns_are_not_calls,
           whole_rows_are_found_by_the_name_of_their_scan)
