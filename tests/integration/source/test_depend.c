/* SPDX-License-Identifier: Apache-2.0 */
/* Entries and consumers that the source keeps for the tables of a query's depends_on. */
#include "articles.h"

/* The entries of a dependency stay until its consumer has passed them. */
START_TEST(entries_are_kept_until_they_are_read_and_then_pruned)
{
    struct walk w = following_articles(0);
    sql_exec(w.db, "update author set name = 'kept'");
    walk_release(&w);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from rowferry.change"), 5);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from rowferry.consumer"), 3);
    walk_settle(&w);
    ck_assert_int_eq(walk_differences(&w, EXPECTED), 0);
    walk_free(&w);
}
END_TEST

START_TEST(an_absent_consumer_of_a_dependency_expires)
{
    struct walk w = following_articles(0);
    sql_exec(w.db, "update author set name = name || '!'");
    char *name = sql_text(w.db, "select 'test/one on ' || id from rowferry.capture "
                                "where relation = 'author'::regclass");
    walk_second(&w, name, "test/away");
    walk_long_ago(&w, "test/away", "3 days");
    free(name);
    w.retain_age_ms = INT64_C(2) * 86400000;
    walk_again(&w);
    walk_drain(&w);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from rowferry.consumer where expired_at is not "
                                   "null and name = 'test/away'"),
                     1);
    walk_free(&w);
}
END_TEST

/* Entries from before the removal of the dependency would otherwise be kept for ever. */
START_TEST(a_dependency_that_is_given_up_keeps_nothing)
{
    struct walk w = articles(0);
    w.query = "select a.id, a.title, null::text as author, " COMMENTS " as comments "
              "from public.article a";
    walk_new(&w, SHOP);
    walk_start(&w);
    walk_copy(&w);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from rowferry.consumer"), 3);
    w.dependencies = dependencies + 1;
    w.dependency_count = 1;
    walk_again(&w);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from rowferry.consumer"), 2);
    walk_drain(&w);
    walk_free(&w);
}
END_TEST

START_TEST(a_dependency_that_the_source_does_not_know_has_all_copied_again)
{
    struct walk w = following_articles(0);
    sql_exec(w.db, "delete from rowferry.consumer where capture in (select id from "
                   "rowferry.capture where relation = 'author'::regclass); "
                   "update author set name = 'unseen'; delete from rowferry.change");
    walk_expect_again(&w, "of \"public\".\"author\"");
    ck_assert_int_eq(walk_differences(&w, EXPECTED), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_rewritten_or_uncaptured_dependency_has_all_copied_again)
{
    struct walk w = following_articles(0);
    sql_exec(w.db, "vacuum full author");
    walk_page(&w);
    sql_exec(w.db, "alter table author alter column name type text using name || '!'");
    walk_expect_lost(&w, "\"public\".\"author\" was rewritten");
    walk_expect_again(&w, "\"public\".\"author\" was rewritten");
    walk_free(&w);

    w = following_articles(0);
    sql_exec(w.db, "alter table comment disable trigger user; delete from comment; "
                   "alter table comment enable trigger user");
    walk_install(&w);
    walk_expect_again(&w, "triggers of \"public\".\"comment\"");
    walk_free(&w);
}
END_TEST

/* The query uses the original name, so only the changes written under the other name must be
 * found. */
START_TEST(a_recorded_column_that_was_renamed_for_a_while_fails_no_writer)
{
    struct walk w = following_articles(0);
    sql_exec(w.db, "alter table author rename id to ident;"
                   "update author set name = name || ' renamed'");
    sql_exec(w.db, "alter table author rename ident to id");
    walk_drain(&w);
    ck_assert_int_eq(walk_differences(&w, EXPECTED), 0);
    walk_free(&w);
}
END_TEST

SUITE_MAIN("source/depend", a_recorded_column_that_was_renamed_for_a_while_fails_no_writer,
           entries_are_kept_until_they_are_read_and_then_pruned,
           an_absent_consumer_of_a_dependency_expires, a_dependency_that_is_given_up_keeps_nothing,
           a_dependency_that_the_source_does_not_know_has_all_copied_again,
           a_rewritten_or_uncaptured_dependency_has_all_copied_again)
