/* SPDX-License-Identifier: Apache-2.0 */
/* One member of a tree that ALTER TABLE rewrote, and what only looks like it. */
#include "events.h"

#define REWRITTEN "was rewritten by ALTER TABLE: its rows may"
#define AWAY_AND_BACK(change)                                                                      \
    "begin; alter table event detach partition event_b;" change                                    \
    "alter table event attach partition event_b for values in ('b'); commit"

static void must_copy_again(struct walk *w, const char *sql)
{
    sql_exec(w->db, "%s", sql);
    ck_assert_msg(walk_differences(w, EVENTS_QUERY) > 0, "%s", sql);
    walk_expect_lost(w, "table \"public\".\"event\" " REWRITTEN);
    walk_expect_again(w, "table \"public\".\"event\" " REWRITTEN);
    ck_assert_msg(walk_differences(w, EVENTS_QUERY) == 0, "%s", sql);
    must_follow(w, "update event set body = 'after' where id in (1, 2)", 2);
}

START_TEST(a_partition_that_was_rewritten_while_it_was_away_is_copied_again)
{
    struct walk w = following(EVENTS);
    must_copy_again(&w,
                    AWAY_AND_BACK("alter table event_b alter body type text using upper(body);"));
    walk_free(&w);
}
END_TEST

START_TEST(a_column_that_was_created_anew_while_its_partition_was_away_is_copied_again)
{
    struct walk w = following(EVENTS);
    must_copy_again(&w, AWAY_AND_BACK("alter table event_b drop body;"
                                      "alter table event_b add body text default 'anew';"));
    walk_free(&w);
}
END_TEST

START_TEST(a_partition_that_was_rewritten_and_moved_up_is_copied_again)
{
    struct walk w = following(EVENTS);
    must_copy_again(&w, "begin; alter table event_cd detach partition event_c;"
                        "alter table event detach partition event_cd;"
                        "alter table event_c alter body type text using upper(body);"
                        "alter table event attach partition event_c for values in ('c');"
                        "alter table event attach partition event_cd for values in ('d'); commit");
    walk_free(&w);
}
END_TEST

#define HEIRS                                                                                      \
    "create table event (id bigint primary key, region text not null, body text);"                 \
    "create table heir (extra int, primary key (id)) inherits (event);"                            \
    "insert into event select i, 'a', 'old' from generate_series(1, 10) i;"                        \
    "insert into heir select i, 'b', 'old', 1 from generate_series(11, 20) i"

START_TEST(a_table_that_was_rewritten_while_it_did_not_inherit_is_copied_again)
{
    struct walk w = following(HEIRS);
    must_follow(&w, "alter table heir alter extra type int using extra + 1", 0);
    must_copy_again(&w, "begin; alter table heir no inherit event;"
                        "alter table heir alter body type text using upper(body);"
                        "alter table heir inherit event; commit");
    walk_free(&w);
}
END_TEST

/* The options are of the configuration's form, which owns its texts. */
#define TEXT(text) ((char[]){text})

static char *guest_key[] = {TEXT("event_id")};
static const struct dependency guests[] = {
    {TEXT("public.guest"), guest_key, 1, TEXT("select unnest($1)")}};

#define GUESTS                                                                                     \
    "select e.id, e.region, (select string_agg(g.name, ',' order by g.name) from public.guest g "  \
    "where g.event_id = e.id) as body from public.event e"

START_TEST(a_partition_of_a_table_that_a_query_reads_was_rewritten_and_all_is_copied_again)
{
    struct walk w = events();
    w.query = GUESTS;
    w.dependencies = guests;
    w.dependency_count = 1;
    walk_new(&w, EVENTS
             "; create table guest (event_id bigint, kind int, name text) partition by list (kind);"
             "create table guest_1 partition of guest for values in (1);"
             "create index on guest (event_id);"
             "insert into guest select i, 1, 'ann' from generate_series(1, 40) i");
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    sql_exec(w.db, "begin; alter table guest detach partition guest_1;"
                   "alter table guest_1 alter name type text using upper(name);"
                   "alter table guest attach partition guest_1 for values in (1); commit");
    walk_expect_lost(&w, "table \"public\".\"guest\" " REWRITTEN);
    walk_expect_again(&w, "table \"public\".\"guest\" " REWRITTEN);
    ck_assert_int_eq(
        walk_differences(&w, "select id::text, region || '|' || coalesce(body, '~') from (" GUESTS
                             ") q"),
        0);
    sql_exec(w.db, "alter table guest detach partition guest_1;"
                   "alter table guest attach partition guest_1 for values in (1)");
    ck_assert_uint_eq(walk_drain(&w), 0);
    walk_free(&w);
}
END_TEST

/* Its going has the index reconciled, which a guard may stop: until then it is known. */
START_TEST(a_partition_that_was_rewritten_while_its_going_was_judged_is_copied_again)
{
    struct walk w = following(EVENTS);
    sql_exec(w.db, "alter table event detach partition event_b");
    walk_page(&w);
    ck_assert(w.judged && w.left);
    sql_exec(w.db, "create table event_e partition of event for values in ('e');"
                   "alter table event_b alter body type text using upper(body);"
                   "alter table event attach partition event_b for values in ('b')");
    walk_expect_again(&w, REWRITTEN);
    ck_assert_int_eq(walk_differences(&w, EVENTS_QUERY), 0);
    walk_free(&w);
}
END_TEST

/* Each between two syncs. */
START_TEST(members_that_come_go_or_are_stored_anew_have_nothing_copied_again)
{
    static const struct {
        const char *first;
        const char *second;
    } harmless[] = {
        {AWAY_AND_BACK(""), "vacuum full event_a"},
        {"vacuum full event_b", "alter table event_a alter body set default 'x'"},
        {"cluster event_c using event_c_id_idx", "alter table event_d alter body set default 'x'"},
        {"create table event_e partition of event for values in ('e');"
         "alter table event alter body set default 'y'",
         "analyze event"},
        {"alter table event add noise float8 default random()", "alter table event drop noise"},
        {"create index on event (body)", "vacuum full event_b"},
        {AWAY_AND_BACK("update event_b set body = body;"), "vacuum event_b"},
    };
    struct walk w = following(EVENTS);
    for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++) {
        sql_exec(w.db, "%s", harmless[i].first);
        sql_exec(w.db, "%s", harmless[i].second);
        walk_again(&w);
        ck_assert_msg(w.capture->again == NULL, "%s: %s", harmless[i].first, w.capture->again);
        walk_drain(&w);
        must_follow(&w, "update event set body = body || '.' where id = 3", 1);
    }
    sql_exec(w.db, "alter table event detach partition event_e; drop table event_e;"
                   "alter table event_b alter body set default 'z'");
    walk_again(&w);
    must_leave(&w);
    must_follow(&w, AWAY_AND_BACK(""), 0);
    walk_free(&w);
}
END_TEST

START_TEST(what_an_earlier_version_noted_of_a_tree_is_no_rewrite)
{
    struct walk w = following(EVENTS);
    sql_exec(w.db, "update rowferry.consumer set versions = split_part(versions, e'\\n', 1)");
    sql_exec(w.db, "vacuum full event_b");
    walk_again(&w);
    ck_assert_ptr_null(w.capture->again);
    ck_assert_uint_eq(walk_drain(&w), 0);
    must_copy_again(&w,
                    AWAY_AND_BACK("alter table event_b alter body type text using upper(body);"));
    sql_exec(w.db, "update rowferry.consumer set versions = split_part(versions, e'\\n', 1)");
    must_copy_again(&w, "alter table event alter body type text using body || '!'");
    walk_free(&w);
}
END_TEST

/* From version 17 on. */
static struct walk generated(const char *kind)
{
    char ddl[512];
    snprintf(ddl, sizeof(ddl),
             "create table event (id bigint not null, region text not null, base int, "
             "body text generated always as ((base * 2)::text) %s) partition by list (region);"
             "create index on event (id);"
             "create table event_a partition of event for values in ('a');"
             "create table event_b partition of event for values in ('b');"
             "insert into event select i, chr(97 + i %% 2), i from generate_series(1, 20) i",
             kind);
    return following(ddl);
}

START_TEST(another_expression_of_one_member_has_all_copied_again)
{
    if (server_has(170000)) {
        struct walk w = generated("stored");
        sql_exec(w.db, "alter table event_b alter body set expression as ((base * 3)::text)");
        ck_assert_int_gt(walk_differences(&w, EVENTS_QUERY), 0);
        walk_expect_again(&w, REWRITTEN);
        ck_assert_int_eq(walk_differences(&w, EVENTS_QUERY), 0);
        must_follow(&w, "vacuum full event_b", 0);
        walk_free(&w);
    }
}
END_TEST

START_TEST(a_virtual_column_reads_by_the_expression_of_the_table_alone)
{
    if (server_has(180000)) {
        struct walk w = generated("virtual");
        must_follow(&w, "alter table event_b alter body set expression as ((base * 3)::text)", 0);
        sql_exec(w.db, "alter table event alter body set expression as ((base * 5)::text)");
        ck_assert_int_gt(walk_differences(&w, EVENTS_QUERY), 0);
        walk_expect_again(&w, REWRITTEN);
        ck_assert_int_eq(walk_differences(&w, EVENTS_QUERY), 0);
        walk_free(&w);
    }
}
END_TEST

SUITE_MAIN("source/member_rewritten",
           a_partition_that_was_rewritten_while_it_was_away_is_copied_again,
           a_column_that_was_created_anew_while_its_partition_was_away_is_copied_again,
           a_partition_that_was_rewritten_and_moved_up_is_copied_again,
           a_table_that_was_rewritten_while_it_did_not_inherit_is_copied_again,
           a_partition_of_a_table_that_a_query_reads_was_rewritten_and_all_is_copied_again,
           a_partition_that_was_rewritten_while_its_going_was_judged_is_copied_again,
           members_that_come_go_or_are_stored_anew_have_nothing_copied_again,
           what_an_earlier_version_noted_of_a_tree_is_no_rewrite,
           another_expression_of_one_member_has_all_copied_again,
           a_virtual_column_reads_by_the_expression_of_the_table_alone)
