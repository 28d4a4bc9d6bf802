/* SPDX-License-Identifier: Apache-2.0 */
/* User-written conditions and queries: complete ones, and those that reach beyond themselves. */
#include "rowferry/source/sql/sqltext.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

START_TEST(valid_expressions_are_allowed)
{
    static const char *const good[] = {
        "true",
        "n % 2 = 0 -- only even",
        "n = 1 --",
        "/* ) */ n in (1, (2), 3)",
        "n = 1 /* a /* b ) */ ( */",
        "title = ')'",
        "title = 'it''s ) fine'",
        "title = '\\' or n = 1",
        "title = '\\'') or (true --'",
        "title = E'\\') or (\\\\'",
        "title = e'a'\n  'b\\')'",
        "title = E'a' -- it goes on\n '\\')('",
        "title = E'' or title = ''",
        "titlE = ''",
        "type'\\' = n",
        "\"a ) \"\" b\" = 1",
        "\"E\" = '\\'",
        "U&'\\0041)' = title",
        "U&\"\\0041)\" = 1",
        "title = $$it's ) fine; -- $$",
        "title = $a$ $$ ) $b$ $a$",
        "a$1 = 1 and a$b$c = 2",
        "\xc3\xa9$a$ = 1",
        "tags[1] = 'x' and tags[1:2] = array['x', array[')'][1]]",
        "a @- -1 = 2 and b *- 3 = 1 and a / * b = 1",
        "extra->>'k' = 'v' and extra #>> '{a,b}' = '1'",
        "n = (select max(x) from (values (1), (2)) as v(x))",
        "select 1 -- no more",
        "\"\"",
        "B'01' = b and X'1F' = c and N'\\' = d",
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct err err = {0};
        ck_assert_msg(sqltext_check(good[i], &err) == 0, "%s: %s", good[i], err.message);
    }
}
END_TEST

START_TEST(incomplete_sql_is_refused_with_the_reason)
{
    static const struct {
        const char *text;
        const char *why;
    } bad[] = {
        {"true) or (true", "a \")\" closes no \"(\""},
        {"1=1) or (1=1", "a \")\" closes no \"(\""},
        {"n = 1) t; commit; drop table t; begin; select (1", "a \")\" closes"},
        {"n = (1", "a \"(\" is not closed"},
        {"n = 1 -- )\n)", "a \")\" closes"},
        {"(n = 1 -- )", "a \"(\" is not closed"},
        {"tags[1", "a \"[\" is not closed"},
        {"tags]1[", "a \"]\" closes no \"[\""},
        {"true;", "it has a \";\""},
        {"true; drop table t", "it has a \";\""},
        {"n = 1 /*", "unterminated comment"},
        {"n = 1 /* /* */", "unterminated comment"},
        {"n = 1 /*/", "unterminated comment"},
        {"n = 1 */ /* */) or (/*", "a \")\" closes"},
        {"title = 'a", "unterminated quotation"},
        {"title = '\\') or (true --'", "a \")\" closes"},
        {"title = E'\\'", "unterminated quotation"},
        {"title = E'\\", "unterminated quotation"},
        {"title = E'\\'' or 'x') or ('", "a \")\" closes"},
        {"title = e'a'\n'\\'' ) or ('", "a \")\" closes"},
        {"title = e'a' ''\n'\\')", "unterminated quotation"},
        {"xe'\\') or ('", "a \")\" closes"},
        {"\"a", "unterminated quotation"},
        {"\"a\"\"", "unterminated quotation"},
        {"$$ a", "unterminated quotation"},
        {"$a$ $b$ $A$ $a", "unterminated quotation"},
        {"n = $", "a \"$\" that begins no parameter and no quotation"},
        {"a$b$) or ($b$", "a \")\" closes"},
        {"$a$'$a$) or ($a$'$a$", "a \")\" closes"},
        {"n = 1 --'\n) or ('", "a \")\" closes"},
        {"n = 1 +--'\n) or ('", "a \")\" closes"},
        {"n = 1 --'\r) or ('", "a \")\" closes"},
        {"'/*') or ('*/'", "a \")\" closes"},
        {"\"'\") or (\"'\"", "a \")\" closes"},
        {"n = $1", "it has a parameter"},
        {"", "it is empty"},
        {" \n\t", "it is empty"},
        {"-- true", "it is empty"},
        {"/* true */", "it is empty"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct err err = {0};
        ck_assert_msg(sqltext_check(bad[i].text, &err) == ERR_CONFIG, "passed: %s", bad[i].text);
        ck_assert_msg(strstr(err.message, bad[i].why) != NULL, "%s: %s", bad[i].text, err.message);
    }
}
END_TEST

START_TEST(keys_of_a_dependency_may_have_parameters_only)
{
    struct err err = {0};
    ck_assert_int_eq(sqltext_check_parameters("select unnest($1), unnest($22)", &err), 0);
    ck_assert_int_eq(sqltext_check_parameters("select $1) x, (select $2", &err), ERR_CONFIG);
    ck_assert_int_eq(sqltext_check_parameters("select unnest($1);", &err), ERR_CONFIG);
    ck_assert_str_eq(err.hint, "leave out the \";\"");
}
END_TEST

/* All combinations of the pieces: each must be classified without reading beyond its end (detected
 * by sanitizers). */
START_TEST(random_texts_pass_only_if_they_are_balanced)
{
    static const char *const pieces[] = {"(",  ")",  "'",  "\"", "$$", "$a$", "--", "\n",
                                         "/*", "*/", "\\", "E'", "e",  "1",   "[",  "]"};
    enum { COUNT = sizeof(pieces) / sizeof(pieces[0]), DEEP = 5 };
    long passed = 0;
    for (long n = 0; n < 1L << (4 * DEEP); n++) {
        char text[DEEP * 4 + 1] = "";
        struct err err = {0};
        bool quotes = false;
        int depth = 0;
        for (int i = 0; i < DEEP; i++) {
            const char *piece = pieces[n >> (4 * i) & (COUNT - 1)];
            strcat(text, piece);
            quotes = quotes || strchr("'\"$-/*E", piece[0]) != NULL;
            depth += piece[0] == '(' ? 1 : piece[0] == ')' ? -1 : 0;
        }
        char *exact = malloc(strlen(text) + 1);
        strcpy(exact, text);
        bool good = sqltext_check(exact, &err) == 0;
        free(exact);
        passed += good;
        ck_assert_msg(!good || quotes || depth == 0, "passed: %s", text);
    }
    ck_assert_int_gt(passed, 1000);
    ck_assert_int_lt(passed, 1L << (4 * DEEP - 1));
}
END_TEST

/* email has a type whose "=" is not found: a citext would be compared as text. */
START_TEST(a_column_that_is_compared_without_its_type_is_found)
{
    static const char *const compared[] = {
        "email = 'a'",
        "'a' = email",
        "t.email like 'a%'",
        "EMAIL in ('a', 'b')",
        "\"email\" <> 'a'",
        "id = 1 and (email) = 'a'",
        "coalesce(email, '') = 'a'",
        "replace(email, 'a', 'b') is null",
        "email::text = 'a' or email = 'b'",
        "email is not null and email not in ('a')",
        "select id from public.article where email = any($1)",
        "select a.id from public.article a join public.u u using (email)",
        "select a.id from public.article a join public.u u on u.id = a.id and u.email = a.mail",
        "select id, email ~ 'a' as b from public.article",
        "case email when 'a' then true end",
    };
    static const char *const plain[] = {
        "email::text = 'a'",
        "t.\"email\" :: text = 'a'",
        "cast(email as text) = 'a'",
        "email operator(public.=) 'a'",
        "'a' operator(public.=) email",
        "email is not null",
        "title = 'email' -- email = 1",
        "emails = 'a' and \"Email\" = 'a'",
        "select id, u.email from public.u",
        "select u.email mail, 1 as email from public.u u order by u.email desc",
        "select distinct email from public.u group by email",
        "select jsonb_build_object('a', u.email), lower(email) from public.u",
        "public.st_asgeojson(email, 9) = 'a'",
        "select email from public.article where mail operator(public.=) any($1)",
        "select id from (select id, email from public.u) u",
    };
    for (size_t i = 0; i < sizeof(compared) / sizeof(*compared); i++) {
        ck_assert_msg(sqltext_compares(compared[i], "email"), "%s", compared[i]);
    }
    for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++) {
        ck_assert_msg(!sqltext_compares(plain[i], "email"), "%s", plain[i]);
    }
    ck_assert(sqltext_compares("\"a \"\"b\" = 1", "a \"b"));
}
END_TEST

SUITE_MAIN("source/sqltext", a_column_that_is_compared_without_its_type_is_found,
           valid_expressions_are_allowed, incomplete_sql_is_refused_with_the_reason,
           keys_of_a_dependency_may_have_parameters_only,
           random_texts_pass_only_if_they_are_balanced)
