/* SPDX-License-Identifier: Apache-2.0 */
/* A table filled by logical replication: rows arrive without statements. */
#include "followed.h"

static const char *const columns[] = {"region", "body"};
static const char *const key[] = {"id"};

#define EVENTS                                                                                     \
    "create table event (id bigint, region text, body text, primary key (id, region)) "            \
    "partition by list (region);"                                                                  \
    "create table event_a partition of event for values in ('a');"                                 \
    "create table event_bcd partition of event default"
#define EVENTS_QUERY "select id::text as key, region || '|' || body as content from event"

static void must_arrive(struct walk *w, const char *question)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    while (sql_int(w->db, "%s", question) != 1) {
        ck_assert_msg(deadline_wait(&deadline), "%s", question);
    }
}

static void must_replicate(struct walk *w, PGconn *publisher, const char *sql, const char *question)
{
    sql_exec(publisher, "%s", sql);
    must_arrive(w, question);
    ck_assert_uint_gt(walk_drain(w), 0);
    ck_assert_msg(walk_differences(w, EVENTS_QUERY) == 0, "%s", sql);
}

static void leave(struct walk *w, PGconn *publisher, const char *slot)
{
    sql_exec(w->db, "alter subscription s disable");
    sql_exec(w->db, "alter subscription s set (slot_name = none)");
    sql_exec(w->db, "drop subscription s");
    must_arrive(&(struct walk){.db = publisher},
                "select (count(*) = 0)::int from pg_replication_slots where active and database = "
                "current_database()");
    sql_exec(publisher, "select pg_drop_replication_slot('%s')", slot);
}

START_TEST(rows_that_logical_replication_applies_are_seen)
{
    struct walk w = {
        .table = "event", .key = key, .key_count = 1, .columns = columns, .column_count = 2};
    char *uri = database_new();
    PGconn *publisher = sql_open(uri);
    char *slot = sql_text(publisher, "select current_database()");
    sql_exec(publisher,
             "create table event (id bigint, region text, body text, primary key (id, region));"
             "insert into event select i, chr(97 + i %% 4), 'old' from generate_series(1, 40) i;"
             "create publication p for table event");
    sql_exec(publisher, "select pg_create_logical_replication_slot('%s', 'pgoutput')", slot);
    walk_new(&w, EVENTS);
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    sql_exec(w.db,
             "create subscription s connection '%s' publication p with (create_slot = false, "
             "slot_name = '%s')",
             uri, slot);
    must_arrive(&w, "select (count(*) = 40)::int from event");
    must_arrive(&w, "select (bool_and(srsubstate = 'r'))::int from pg_subscription_rel");
    ck_assert_uint_eq(walk_drain(&w), 40);

    must_replicate(&w, publisher, "insert into event values (41, 'a', 'new')",
                   "select count(*) from event where id = 41");
    must_replicate(&w, publisher, "update event set body = 'x' where id < 5",
                   "select (count(*) = 4)::int from event where body = 'x'");
    must_replicate(&w, publisher, "update event set region = 'd', id = 100 where id = 1",
                   "select count(*) from event where id = 100");
    must_replicate(&w, publisher, "delete from event where id = 2",
                   "select (count(*) = 0)::int from event where id = 2");
    sql_exec(publisher, "truncate event");
    must_arrive(&w, "select (count(*) = 0)::int from event");
    walk_page(&w);
    ck_assert(w.judged && w.truncated);
    leave(&w, publisher, slot);
    free(slot);
    PQfinish(publisher);
    database_drop(uri);
    walk_free(&w);
}
END_TEST

/* Its rows have the publisher's times, and its transactions are invisible. */
START_TEST(a_cursor_follows_rows_that_logical_replication_applies)
{
    struct walk w = of_notes();
    char *uri = database_new();
    PGconn *publisher = sql_open(uri);
    char *slot = sql_text(publisher, "select current_database()");
    w.overlap_ms = LONG_MS;
    sql_exec(publisher, "%s", NOTES);
    sql_exec(publisher, "create publication p for table note");
    sql_exec(publisher, "select pg_create_logical_replication_slot('%s', 'pgoutput')", slot);
    begin(&w, NOTES);
    sql_exec(w.db,
             "create subscription s connection '%s' publication p with (create_slot = false, "
             "slot_name = '%s', copy_data = false)",
             uri, slot);
    sql_exec(publisher, "insert into note select i, 'new' from generate_series(100, 140) i");
    must_arrive(&w, "select (count(*) = 41)::int from note where id >= 100");
    ck_assert(becomes_equal(&w, NOTES_QUERY, WAIT_MS));
    PGconn *slow = sql_open(uri);
    sql_exec(slow, "begin; insert into note values (200, 'late')");
    sql_exec(publisher, "update note set body = 'x', at = clock_timestamp() where id < 105");
    must_arrive(&w, "select (count(*) = 5)::int from note where body = 'x'");
    ck_assert_uint_gt(walk_drain(&w), 0);
    sql_exec(slow, "commit");
    PQfinish(slow);
    must_arrive(&w, "select count(*) from note where id = 200");
    overlap_is_over(&w);
    ck_assert(becomes_equal(&w, NOTES_QUERY, WAIT_MS));
    leave(&w, publisher, slot);
    free(slot);
    PQfinish(publisher);
    database_drop(uri);
    walk_free(&w);
}
END_TEST

SUITE_MAIN("source/subscription", rows_that_logical_replication_applies_are_seen,
           a_cursor_follows_rows_that_logical_replication_applies)
