/* SPDX-License-Identifier: Apache-2.0 */
/* Division of an initial load by key ranges between its readers. */
#include "changelog/position.h"
#include "walk.h"

/* Continues by key ranges, as for a table whose rows cannot be addressed by block. */
static void go_by_keys(struct walk *w, const char *range)
{
    struct position p = {0};
    struct err err = {0};
    struct buf text;
    buf_init(&text, 4096);
    must(position_parse(&p, w->position, &err), &err);
    buf_printf(&text, "copy keys %s from %s", range, p.last);
    position_release(&p);
    free(w->position);
    w->position = buf_detach(&text);
    walk_again(w);
}

static bool copying(const struct walk *w)
{
    return strncmp(w->position, "copy", 4) == 0;
}

static int64_t connections(const struct walk *w)
{
    return sql_int(w->db, "select count(*) from pg_stat_activity where datname = "
                          "current_database() and application_name = 'rowferry test'");
}

/* Waits, because a closed connection stays visible for a moment. */
static void await_connections(const struct walk *w, int64_t count)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    while (connections(w) != count) {
        ck_assert_msg(deadline_wait(&deadline), "%lld connections", (long long)connections(w));
    }
}

START_TEST(keys_of_which_the_server_knows_nothing_are_read_with_one_connection)
{
    static const char *const body[] = {"body"};
    struct walk w = {
        .table = "note", .columns = body, .column_count = 1, .page_rows = 100, .readers = 2};
    walk_new(&w,
             "create table note (id int primary key, body text) with (autovacuum_enabled = off);"
             "insert into note select i, 'b' from generate_series(1, 1000) i");
    sql_exec(w.db, "vacuum note"); /* counts the rows without reading values */
    walk_start(&w);
    go_by_keys(&w, "first");
    walk_page(&w);
    ck_assert_uint_eq(w.rows, 100);
    await_connections(&w, 1);
    ck_assert_ptr_null(strstr(w.position, " until "));
    walk_copy(&w);
    ck_assert_int_eq(walk_differences(&w, "select id::text as key, body as content from note"), 0);
    walk_free(&w);
}
END_TEST

/* All rows have the same first key column, so there is no boundary to divide at. */
START_TEST(keys_that_begin_alike_are_read_with_one_connection)
{
    static const char *const body[] = {"body"};
    struct walk w = {
        .table = "note", .columns = body, .column_count = 1, .page_rows = 100, .readers = 2};
    walk_new(&w, "create table note (tenant text, id int, body text, primary key (tenant, id));"
                 "insert into note select 'one', i, 'b' from generate_series(1, 1000) i;"
                 "analyze note");
    walk_start(&w);
    go_by_keys(&w, "first");
    walk_page(&w);
    ck_assert_uint_eq(w.rows, 100);
    ck_assert_ptr_null(strstr(w.position, " until "));
    walk_free(&w);
}
END_TEST

START_TEST(what_is_left_is_divided_when_the_copy_goes_on)
{
    static const char *const body[] = {"body"};
    struct walk w = {
        .table = "note", .columns = body, .column_count = 1, .page_rows = 100, .readers = 2};
    walk_new(&w, "create table note (id int primary key, body text);"
                 "insert into note select i, 'b' from generate_series(1, 2000) i; analyze note");
    walk_start(&w);
    go_by_keys(&w, "after 1200.");
    walk_page(&w);
    ck_assert_uint_eq(w.rows, 200);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from mirror where key::int not between 1201 "
                                   "and 1300 and key::int not between 1550 and 1750"),
                     0);
    walk_copy(&w);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from mirror"), 800);
    walk_free(&w);
}
END_TEST

START_TEST(rows_without_a_key_come_once)
{
    static const char *const key[] = {"code"};
    static const char *const body[] = {"body"};
    struct walk w = {.table = "note",
                     .key = key,
                     .key_count = 1,
                     .columns = body,
                     .column_count = 1,
                     .page_rows = 50,
                     .readers = 2};
    size_t nulls = 0;
    size_t rows = 0;
    walk_new(&w, "create table note (code text unique, body text); insert into note select case "
                 "when i % 10 > 0 then 'k ' || i end, 'b' from generate_series(1, 1000) i; "
                 "analyze note");
    walk_start(&w);
    go_by_keys(&w, "nulls");
    while (copying(&w)) {
        walk_page(&w);
        nulls += w.null_keys;
        rows += w.rows;
        walk_again(&w);
    }
    ck_assert_uint_eq(nulls, 100);
    ck_assert_uint_eq(rows, 900);
    walk_free(&w);
}
END_TEST

#define EVENTS                                                                                     \
    "create table event (id bigint primary key, body text) partition by range (id);"               \
    "create table event_a partition of event for values from (0) to (700);"                        \
    "create table event_b partition of event for values from (700) to (100000);"                   \
    "insert into event select i, 'old ' || i from generate_series(1, 2000) i;"                     \
    "analyze event"
#define EVENTS_QUERY "select id::text as key, body as content from event"

static struct walk events(void)
{
    static const char *const body[] = {"body"};
    return (struct walk){
        .table = "event", .columns = body, .column_count = 1, .page_rows = 100, .readers = 2};
}

START_TEST(a_partitioned_table_is_divided_by_what_is_known_of_all_of_it)
{
    struct walk w = events();
    walk_new(&w, EVENTS);
    walk_start(&w);
    walk_page(&w);
    await_connections(&w, 2);
    ck_assert_uint_eq(w.rows, 200);
    ck_assert_ptr_nonnull(strstr(w.position, " until "));
    sql_exec(w.db, "update event set id = id + 3000 where id %% 3 = 0");
    walk_copy(&w);
    walk_drain(&w);
    ck_assert_int_eq(walk_differences(&w, EVENTS_QUERY), 0);
    walk_free(&w);
}
END_TEST

/* This also holds with several started ranges: the planner estimates the rest of each. */
START_TEST(a_copy_by_keys_that_goes_on_says_how_far_it_had_come)
{
    struct walk w = events();
    struct capture_progress p;
    walk_new(&w, EVENTS);
    walk_start(&w);
    for (int page = 1; page <= 4; page++) {
        walk_page(&w);
        walk_again(&w);
        w.capture->ops->progress(w.capture, &p);
        ck_assert_msg(p.share > 0.1 * page - 0.03 && p.share < 0.1 * page + 0.03,
                      "%.3f of the rows after %d pages of 200 of 2,000", p.share, page);
    }
    walk_copy(&w);
    walk_drain(&w);
    ck_assert_int_eq(walk_differences(&w, EVENTS_QUERY), 0);
    walk_free(&w);
}
END_TEST

/* Its rows may be in the index already, so they are checked after the initial load. */
START_TEST(a_partition_that_is_dropped_during_the_copy_has_the_index_reconciled)
{
    struct walk w = events();
    walk_new(&w, EVENTS);
    walk_start(&w);
    walk_page(&w);
    sql_exec(w.db, "drop table event_b");
    walk_copy(&w);
    walk_page(&w);
    ck_assert(w.judged);
    ck_assert(w.left);
    walk_drain(&w);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from event where id::text not in (select key "
                                   "from mirror)"),
                     0);
    walk_free(&w);
}
END_TEST

START_TEST(a_partition_that_joins_during_the_copy_is_read_by_all_readers)
{
    struct walk w = events();
    struct err err = {0};
    walk_new(&w, EVENTS);
    walk_start(&w);
    walk_page(&w);
    sql_exec(w.db,
             "create table event_c partition of event for values from (100000) to (200000);"
             "insert into event select i, 'new ' || i from generate_series(100001, 100500) i");
    ck_assert_int_eq(walk_try(&w, &err), ERR_TRANSIENT);
    walk_again(&w);
    walk_copy(&w);
    walk_drain(&w);
    ck_assert_int_eq(walk_differences(&w, EVENTS_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_query_is_divided_by_the_keys_of_its_table)
{
    static const char *const both[] = {"body", "length"};
    struct walk w = {.table = "item",
                     .columns = both,
                     .column_count = 2,
                     .query = "select id, body, length(body) as length from public.item",
                     .page_rows = 100,
                     .readers = 2};
    walk_new(&w, "create table item (id int primary key, body text);"
                 "insert into item select i, repeat('y', i % 40) from generate_series(1, 2000) i;"
                 "analyze item");
    walk_start(&w);
    bool two = false;
    while (copying(&w)) {
        walk_page(&w);
        two = two || w.rows == 200;
        walk_again(&w);
    }
    ck_assert(two);
    walk_drain(&w);
    ck_assert_int_eq(walk_differences(&w, "select id::text as key, body || '|' || length(body) as "
                                          "content from item"),
                     0);
    walk_free(&w);
}
END_TEST

SUITE_MAIN("source/key_ranges", keys_of_which_the_server_knows_nothing_are_read_with_one_connection,
           keys_that_begin_alike_are_read_with_one_connection,
           what_is_left_is_divided_when_the_copy_goes_on, rows_without_a_key_come_once,
           a_partitioned_table_is_divided_by_what_is_known_of_all_of_it,
           a_copy_by_keys_that_goes_on_says_how_far_it_had_come,
           a_partition_that_is_dropped_during_the_copy_has_the_index_reconciled,
           a_partition_that_joins_during_the_copy_is_read_by_all_readers,
           a_query_is_divided_by_the_keys_of_its_table)
