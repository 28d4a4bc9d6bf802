/* SPDX-License-Identifier: Apache-2.0 */
/* What a query or a condition reads becomes something else: reading stops. */
#include "notes.h"

#define TABLES                                                                                     \
    "create type kind as enum ('on', 'off'); create type state as enum ('on', 'off');"             \
    "create table author (id int primary key, name text, alt text, kind kind default 'on', "       \
    "note text);"                                                                                  \
    "create table note (id bigint primary key, body text, alt text, state state default 'on', "    \
    "author_id int, other_id int, visible boolean default true, hidden boolean default false, "    \
    "rest varchar(10))"
#define ROWS                                                                                       \
    "insert into author select i, 'name ' || i, 'alt ' || i from generate_series(1, 2) i;"         \
    "insert into note select i, 'body ' || i, 'alt ' || i, 'on', 1, 2 from generate_series(1, 3) " \
    "i"
#define QUERY                                                                                      \
    "select n.id, n.body, a.name as called, a.kind::text as kind from public.note n "              \
    "join public.author a on a.id = n.author_id"
#define SWAP(table, one, other)                                                                    \
    "begin; alter table " table " rename " one " to tmp; alter table " table " rename " other      \
    " to " one "; alter table " table " rename tmp to " other "; commit"

static char author_name[] = "public.author";
static char author_id[] = "id";
static char author_keys[] = "select id from public.note where author_id = any($1)";
static char *author_key[] = {author_id};
static const struct dependency on_authors[] = {{author_name, author_key, 1, author_keys}};
static const char *const only_body[] = {"body"};
static const char *const body_and_called[] = {"body", "called"};

static struct walk reads(const char *query, const char *where)
{
    struct walk w = notes();
    w.query = query;
    w.where = where;
    w.columns = query != NULL ? body_and_called : only_body;
    w.column_count = query != NULL ? 2 : 1;
    w.dependencies = on_authors;
    w.dependency_count = query != NULL ? 1 : 0;
    walk_new(&w, TABLES);
    sql_exec(w.db, ROWS);
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from mirror"), 3);
    return w;
}

/* At once, and in the next process. */
static void stops(const char *query, const char *where, const char *change, const char *message)
{
    struct walk w = reads(query, where);
    sql_exec(w.db, "%s", change);
    for (int i = 0; i < 2; i++) {
        struct err err = {0};
        ck_assert_int_eq(walk_try(&w, &err), ERR_STATE);
        ck_assert_msg(strstr(err.message, message) != NULL, "%s", err.message);
        ck_assert(err.drift);
        walk_again(&w);
    }
    walk_free(&w);
}

static void goes_on(const char *query, const char *where, const char *change)
{
    struct walk w = reads(query, where);
    sql_exec(w.db, "%s", change);
    walk_drain(&w);
    walk_again(&w);
    ck_assert_ptr_null(w.capture->again);
    sql_exec(w.db, "insert into note (id, body%s) values (9, 'nine'%s)",
             query != NULL ? ", author_id" : "", query != NULL ? ", 1" : "");
    ck_assert_uint_eq(walk_drain(&w), 1);
    walk_free(&w);
}

START_TEST(names_of_two_columns_that_a_query_reads_are_swapped)
{
    stops(QUERY, NULL, SWAP("author", "name", "alt"),
          "column \"name\" of \"public\".\"author\", which from.query or from.where reads, "
          "was replaced");
    stops(QUERY, NULL, SWAP("note", "body", "alt"),
          "column \"body\" of \"public\".\"note\", which");
}
END_TEST

START_TEST(a_column_that_a_query_reads_is_dropped_and_added_again)
{
    stops(QUERY, NULL,
          "alter table author drop column name; alter table author add column name text "
          "default 'fresh'",
          "column \"name\" of \"public\".\"author\"");
}
END_TEST

START_TEST(a_label_that_a_query_casts_to_text_is_renamed)
{
    stops(QUERY, NULL, "alter type kind rename value 'on' to 'up'",
          "label \"on\" in the types of \"public\".\"author\" was renamed");
    stops("select n.id, n.body, n.state::text as called from public.note n", NULL,
          "alter type state rename value 'on' to 'up'",
          "label \"on\" in the types of \"public\".\"note\" was renamed");
}
END_TEST

START_TEST(columns_that_only_keys_read_are_swapped)
{
    stops("select n.id, n.body, a.called from public.note n left join lateral (select max(u.name) "
          "as called from public.author u) a on true",
          NULL, SWAP("note", "author_id", "other_id"), "column \"author_id\"");
}
END_TEST

START_TEST(a_column_that_a_condition_reads_becomes_another)
{
    stops(NULL, "visible", SWAP("note", "visible", "hidden"), "column \"visible\"");
    stops(NULL, "not \"hidden\"",
          "alter table note drop column hidden; alter table note add column hidden boolean "
          "default true",
          "column \"hidden\"");
    stops(NULL, "state = 'on'",
          "alter type state rename value 'on' to 'tmp'; alter type state rename value 'off' to "
          "'on'; alter type state rename value 'tmp' to 'off'",
          "in the types of \"public\".\"note\" was renamed");
}
END_TEST

START_TEST(columns_that_nothing_reads_may_come_go_and_change)
{
    goes_on(QUERY, NULL,
            "alter table note rename alt to remark; alter table note drop column hidden;"
            "alter table note add column called text default 'x', add column name text;"
            "alter table note alter rest type varchar(20);"
            "alter table author rename alt to remark; alter table author drop column note;"
            "alter table author add column extra text; alter type kind add value 'new'");
    goes_on(NULL, "visible and rest is null",
            "alter table note rename hidden to remark; alter table note drop column author_id;"
            "alter table note add column extra text; alter table note alter rest type varchar(20);"
            "alter type state rename value 'on' to 'up'");
}
END_TEST

#define STAR                                                                                       \
    "select n.*, a.name as called from public.note n join public.author a on a.id = n.author_id"

START_TEST(of_all_columns_those_count_that_are_mapped)
{
    stops(STAR, NULL, SWAP("note", "body", "alt"), "column \"body\"");
    goes_on(STAR, NULL,
            "alter table note rename alt to remark; alter table note drop column hidden;"
            "alter table note add column extra text");
}
END_TEST

#define WHOLE                                                                                      \
    "select n.id, n.body, to_jsonb(a) as called from public.note n join public.author a on a.id "  \
    "= n.author_id"
#define WITHIN                                                                                     \
    "select n.id, n.body, (select jsonb_agg(x) from (select u.* from public.author u where u.id "  \
    "= n.author_id) x) as called from public.note n"

START_TEST(of_a_whole_row_each_column_counts)
{
    stops(
        WHOLE, NULL, "alter table author add column extra text default 'x'",
        "column \"extra\" of \"public\".\"author\", which from.query or from.where reads, is new");
    stops(WHOLE, NULL, "alter table author drop column note", "column \"note\"");
    goes_on(WHOLE, NULL,
            "alter table note add column extra text; alter table note drop column alt");
    stops(WITHIN, NULL, "alter table author add column extra text default 'x'",
          "column \"extra\" of \"public\".\"author\"");
}
END_TEST

START_TEST(a_new_column_takes_the_place_of_one_outside)
{
    stops("select n.id, n.body, (select name from public.author where id = author_id) as called "
          "from public.note n",
          NULL, "alter table author add column author_id int",
          "column \"author_id\" of \"public\".\"author\"");
}
END_TEST

SUITE_MAIN("source/columns_read", names_of_two_columns_that_a_query_reads_are_swapped,
           a_column_that_a_query_reads_is_dropped_and_added_again,
           a_label_that_a_query_casts_to_text_is_renamed, columns_that_only_keys_read_are_swapped,
           a_column_that_a_condition_reads_becomes_another,
           columns_that_nothing_reads_may_come_go_and_change,
           of_all_columns_those_count_that_are_mapped, of_a_whole_row_each_column_counts,
           a_new_column_takes_the_place_of_one_outside)
