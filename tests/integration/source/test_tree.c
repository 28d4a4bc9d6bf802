/* SPDX-License-Identifier: Apache-2.0 */
/* Partitioned tables and inheritance: every row is seen, whichever member it is written to. */
#include "events.h"

START_TEST(a_partitioned_table_is_copied_whole)
{
    struct walk w = following(EVENTS);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from mirror"), 40);
    walk_free(&w);
}
END_TEST

START_TEST(writes_by_way_of_the_parent_are_seen)
{
    struct walk w = following(EVENTS);
    must_follow(&w, "insert into event values (41, 'a', 'new'), (42, 'd', 'new')", 2);
    must_follow(&w, "update event set body = 'x' where id in (1, 2, 3)", 3);
    must_follow(&w, "delete from event where id in (4, 42)", 2);
    sql_exec(w.db, "create unique index on event (id, region)");
    must_follow(&w,
                "insert into event values (1, 'b', 'again'), (50, 'c', 'new') "
                "on conflict (id, region) do update set body = excluded.body",
                2);
    walk_free(&w);
}
END_TEST

START_TEST(a_leaf_that_is_written_directly_is_seen)
{
    struct walk w = following(EVENTS);
    must_follow(&w, "insert into event_a values (41, 'a', 'new')", 1);
    must_follow(&w, "update event_c set body = 'x' where id = 2", 1);
    must_follow(&w, "delete from event_d where id = 3", 1);
    must_follow(&w, "update event_cd set body = 'y' where id in (6, 7)", 2);
    walk_free(&w);
}
END_TEST

START_TEST(rows_that_are_copied_into_a_leaf_are_seen)
{
    struct walk w = following(EVENTS);
    static const char *const into[] = {"event", "event_b", "event_cd"};
    static const char *const rows[] = {"60\tb\tx\n", "61\tb\tx\n", "62\tc\tx\n"};
    for (size_t i = 0; i < 3; i++) {
        char sql[64];
        snprintf(sql, sizeof(sql), "copy %s from stdin", into[i]);
        PQclear(PQexec(w.db, sql));
        ck_assert_int_eq(PQputCopyData(w.db, rows[i], (int)strlen(rows[i])), 1);
        ck_assert_int_eq(PQputCopyEnd(w.db, NULL), 1);
        for (PGresult *r = PQgetResult(w.db); r != NULL; r = PQgetResult(w.db)) {
            ck_assert_int_eq(PQresultStatus(r), PGRES_COMMAND_OK);
            PQclear(r);
        }
        ck_assert_uint_eq(walk_drain(&w), 1);
    }
    ck_assert_int_eq(walk_differences(&w, EVENTS_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_row_that_moves_to_another_partition_is_not_lost)
{
    struct walk w = following(EVENTS);
    must_follow(&w, "update event set region = 'a' where id = 1", 1);
    must_follow(&w, "update event set region = 'd', id = 100 where id = 2", 2);
    must_follow(&w, "update event_cd set region = 'c' where id = 3", 1);
    walk_free(&w);
}
END_TEST

START_TEST(a_cascade_reaches_the_leaves_and_is_seen)
{
    struct walk w = following(
        EVENTS "; create table owner (id bigint primary key); insert into owner select "
               "generate_series(1, 200);"
               "alter table event add foreign key (id) references owner on delete cascade on "
               "update cascade;"
               "create table owner_c (id bigint primary key); insert into owner_c select "
               "generate_series(1, 200);"
               "alter table event_c add foreign key (id) references owner_c on delete cascade");
    must_follow(&w, "delete from owner where id in (1, 2, 3)", 3);
    must_follow(&w, "delete from owner_c where id in (6, 10)", 2);
    must_follow(&w, "update owner set id = 300 where id = 7", 2);
    walk_free(&w);
}
END_TEST

START_TEST(a_merge_is_seen)
{
    struct walk w = following(EVENTS);
    if (PQserverVersion(w.db) >= 150000) {
        must_follow(&w,
                    "merge into event e using (values (1, 'b'), (2, 'c'), (70, 'd')) v(id, region) "
                    "on e.id = v.id when matched and e.id = 1 then delete "
                    "when matched then update set body = 'merged' "
                    "when not matched then insert values (v.id, v.region, 'merged')",
                    3);
    }
    walk_free(&w);
}
END_TEST

START_TEST(a_truncate_of_a_leaf_is_a_truncate)
{
    struct walk w = following(EVENTS);
    sql_exec(w.db, "truncate event_c");
    walk_page(&w);
    ck_assert(w.judged && w.truncated);
    walk_free(&w);
}
END_TEST

START_TEST(a_truncate_of_the_parent_is_a_truncate)
{
    struct walk w = following(EVENTS);
    sql_exec(w.db, "truncate event");
    walk_page(&w);
    ck_assert(w.judged && w.truncated);
    walk_free(&w);
}
END_TEST

/* Resumes like the engine: after a transient error everything is read again. */
static void must_join(struct walk *w, const char *sql, const char *who, size_t changes)
{
    struct err err = {0};
    sql_exec(w->db, "%s", sql);
    ck_assert_int_eq(walk_try(w, &err), ERR_TRANSIENT);
    ck_assert_msg(strstr(err.message, who) != NULL, "%s", err.message);
    must(w->capture->ops->resume(w->capture, w->position, &err), &err);
    ck_assert_uint_eq(walk_drain(w), changes);
    ck_assert_int_eq(walk_differences(w, EVENTS_QUERY), 0);
}

START_TEST(a_new_partition_is_taken_in_while_the_sync_runs)
{
    struct walk w = following(EVENTS);
    must_join(&w, "create table event_e partition of event for values in ('e')", "event_e", 0);
    must_follow(&w, "insert into event_e values (41, 'e', 'new')", 1);
    must_follow(&w, "update event set body = 'x' where id = 41", 1);
    walk_again(&w);
    must_follow(&w, "delete from event_e", 1);
    walk_free(&w);
}
END_TEST

START_TEST(rows_that_were_written_before_the_partition_was_noticed_are_not_lost)
{
    struct walk w = following(EVENTS);
    must_join(
        &w,
        "create table event_e partition of event for values in ('e');"
        "insert into event_e values (41, 'e', 'new'); insert into event values (42, 'e', 'x')",
        "event_e", 2);
    walk_free(&w);
}
END_TEST

START_TEST(the_rows_of_an_attached_partition_arrive)
{
    struct walk w = following(EVENTS);
    must_join(&w,
              "create table later (body text, region text not null, id bigint not null);"
              "insert into later select 'filled', 'e', i from generate_series(100, 130) i;"
              "alter table event attach partition later for values in ('e')",
              "later", 31);
    must_follow(&w, "update later set id = 200 where id = 100", 2);
    must_follow(&w, "update event set region = 'a' where id = 200", 1);
    walk_free(&w);
}
END_TEST

START_TEST(a_partition_with_partitions_of_its_own_is_attached)
{
    struct walk w = following(EVENTS);
    must_join(&w,
              "create table ef (like event) partition by list (region);"
              "create table e partition of ef for values in ('e');"
              "create table f partition of ef for values in ('f');"
              "insert into ef values (100, 'e', 'x'), (101, 'f', 'x');"
              "alter table event attach partition ef for values in ('e', 'f')",
              "has just become part", 2);
    must_follow(&w, "insert into f values (102, 'f', 'y')", 1);
    must_follow(&w, "update ef set region = 'e' where id = 102", 1);
    walk_free(&w);
}
END_TEST

START_TEST(a_partition_that_was_attached_between_two_syncs_is_taken_in)
{
    struct walk w = following(EVENTS);
    walk_close(&w);
    sql_exec(w.db, "create table later (like event); insert into later values (99, 'e', 'x');"
                   "alter table event attach partition later for values in ('e')");
    struct err err = {0};
    walk_open(&w);
    must(w.capture->ops->resume(w.capture, w.position, &err), &err);
    ck_assert_uint_eq(walk_drain(&w), 1);
    ck_assert_int_eq(walk_differences(&w, EVENTS_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_partition_that_joins_during_the_copy_is_copied_too)
{
    struct walk w = events();
    struct err err = {0};
    w.page_rows = 7;
    walk_new(&w, EVENTS);
    walk_start(&w);
    walk_page(&w);
    sql_exec(w.db, "create table later (like event); insert into later values (0, 'e', 'x');"
                   "alter table event attach partition later for values in ('e')");
    ck_assert_int_eq(walk_try(&w, &err), ERR_TRANSIENT);
    must(w.capture->ops->resume(w.capture, w.position, &err), &err);
    walk_drain(&w);
    ck_assert_int_eq(walk_differences(&w, EVENTS_QUERY), 0);
    walk_free(&w);
}
END_TEST

/* The look-up of another table waits for the commit of the member, after that of the tree. */
START_TEST(a_partition_that_joins_before_the_consumer_is_registered_is_news)
{
    char table[] = "other";
    char column[] = "id";
    char keys[] = "select unnest($1::bigint[])";
    const struct dependency other = {table, (char *[]){column}, 1, keys};
    struct deadline deadline = deadline_after(WAIT_MS);
    struct walk w = events();
    struct err err = {0};
    struct buf position;
    w.query = "select id, region, body from public.event";
    w.dependencies = &other;
    w.dependency_count = 1;
    walk_new(&w, EVENTS "; create table other (id bigint primary key); create table later (like "
                        "event); insert into later values (99, 'e', 'x')");
    walk_open(&w);
    ck_assert(PQsendQuery(w.db, "begin; lock table other; alter table event attach partition later "
                                "for values in ('e'); select pg_sleep(1); commit"));
    PGconn *watcher = sql_open(w.uri);
    while (sql_int(watcher, "select count(*) from pg_stat_activity where wait_event = 'PgSleep' "
                            "and datname = current_database()") == 0) {
        ck_assert(deadline_wait(&deadline));
    }
    PQfinish(watcher);
    buf_init(&position, 4096);
    ck_assert_int_eq(w.capture->ops->start(w.capture, &position, &err), ERR_TRANSIENT);
    ck_assert_str_eq(err.message, "public.later has just become part of \"public\".\"event\"");
    ck_assert_int_eq(w.capture->adapted, CAPTURE_ADAPTED_MEMBER);
    buf_release(&position);
    for (PGresult *r; (r = PQgetResult(w.db)) != NULL;) {
        PQclear(r);
    }
    walk_begin(&w);
    walk_copy(&w);
    ck_assert_int_eq(walk_differences(&w, EVENTS_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_reader_without_rights_on_the_table_takes_a_partition_in)
{
    struct walk w = events();
    struct err err = {0};
    walk_new(&w, EVENTS);
    char *role = sql_text(w.db, "select 'rowferry_' || current_database()");
    sql_exec(w.db, "create role \"%s\" login password 'pw'", role);
    struct pg *pg = walk_connect(w.uri);
    struct table *table = walk_table(&w, pg);
    must(install_apply(pg, table, role, &err), &err);
    catalog_table_free(table);
    pg_close(pg);
    char *plain = w.uri;
    w.uri = uri_as(plain, role);
    ck_assert_int_eq(setenv("PGPASSWORD", "pw", 1), 0);
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    must_join(&w, "create table event_e partition of event for values in ('e')", "event_e", 0);
    must_follow(&w, "insert into event_e values (41, 'e', 'new')", 1);
    walk_close(&w);
    unsetenv("PGPASSWORD");
    free(w.uri);
    w.uri = plain;
    sql_exec(w.db, "drop owned by \"%s\"; drop role \"%s\"", role, role);
    free(role);
    walk_free(&w);
}
END_TEST

START_TEST(a_partition_that_was_away_and_changed_meanwhile_goes_on)
{
    struct walk w = following(EVENTS);
    must_follow(&w,
                "alter table event detach partition event_b;"
                "update event_b set body = 'meanwhile' where id = 1;"
                "alter table event attach partition event_b for values in ('b')",
                1);
    walk_free(&w);
}
END_TEST

START_TEST(a_leaf_whose_trigger_was_disabled_stops_the_sync)
{
    struct walk w = following(EVENTS);
    struct err err = {0};
    sql_exec(w.db, "alter table event_b disable trigger rowferry_1_update");
    walk_expect_lost(&w, "the triggers of \"public\".\"event\" were changed");
    ck_assert_int_eq(w.capture->ops->resume(w.capture, w.position, &err), ERR_STATE);
    ck_assert_msg(strstr(err.message, "in its member public.event_b") != NULL, "%s", err.message);
    walk_free(&w);
}
END_TEST

START_TEST(a_leaf_that_is_stored_anew_is_not_read_again)
{
    struct walk w = following(EVENTS);
    must_follow(&w, "vacuum full event_b", 0);
    must_follow(&w, "alter table event alter column body set default 'x'", 0);
    must_follow(&w, "insert into event_b values (41, 'b', 'new')", 1);
    sql_exec(w.db, "alter table event alter column body type text using body || '!'");
    walk_expect_lost(&w, "was rewritten by ALTER TABLE");
    walk_expect_again(&w, "was rewritten by ALTER TABLE");
    walk_free(&w);
}
END_TEST

#define HEIRS                                                                                      \
    "create table event (id bigint primary key, region text not null, body text);"                 \
    "create table heir (extra int) inherits (event); create index on heir (id);"                   \
    "create table grandheir () inherits (heir); create index on grandheir (id);"                   \
    "insert into event select i, 'a', 'old' from generate_series(1, 10) i;"                        \
    "insert into heir select i, 'b', 'old', 1 from generate_series(11, 20) i;"                     \
    "insert into grandheir select i, 'c', 'old', 1 from generate_series(21, 30) i"

START_TEST(tables_that_inherit_are_part_of_the_table)
{
    struct walk w = following(HEIRS);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from mirror"), 30);
    must_follow(&w, "update event set body = 'x' where id in (1, 11, 21)", 3);
    must_follow(&w, "update heir set body = 'y', extra = 2 where id in (12, 22)", 2);
    must_follow(&w, "insert into grandheir values (31, 'c', 'new', 3)", 1);
    must_follow(&w, "delete from only heir where id = 13", 1);
    must_join(&w, "create table late () inherits (event); insert into late values (40, 'd', 'x')",
              "late", 1);
    sql_exec(w.db, "alter table late no inherit event");
    must_leave(&w);
    walk_free(&w);
}
END_TEST

START_TEST(removing_leaves_nothing_in_any_member)
{
    struct walk w = following(EVENTS);
    struct err err = {0};
    sql_exec(w.db, "alter table event detach partition event_b");
    struct pg *pg = walk_connect(w.uri);
    struct table *table = walk_table(&w, pg);
    must(install_remove(pg, table, &err), &err);
    ck_assert_int_eq(
        sql_int(w.db, "select count(*) from pg_trigger where tgname like 'rowferry%%'"), 0);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from pg_namespace where nspname = 'rowferry'"),
                     0);
    catalog_table_free(table);
    pg_close(pg);
    walk_free(&w);
}
END_TEST

START_TEST(what_is_brought_up_to_date_is_relied_on_as_before)
{
    struct walk w = following(EVENTS);
    sql_exec(w.db, "delete from rowferry.migration; insert into rowferry.migration values (0);"
                   "create or replace function rowferry.capture_1() returns trigger language "
                   "plpgsql as $$ begin return null; end $$;"
                   "update rowferry.consumer set triggers = rowferry.members(1)");
    walk_close(&w);
    walk_install(&w);
    struct err err = {0};
    walk_open(&w);
    must(w.capture->ops->resume(w.capture, w.position, &err), &err);
    must_follow(&w, "update event set body = 'x' where id < 4", 3);
    walk_free(&w);
}
END_TEST

/* The options have the type of the configuration's, which are not const. */
#define TEXT(text) ((char[]){text})

static char *guest_key[] = {TEXT("event_id")};
static const struct dependency guests[] = {
    {TEXT("public.guest"), guest_key, 1, TEXT("select unnest($1)")}};

#define GUESTS                                                                                     \
    "select e.id, e.region, (select string_agg(g.name, ',' order by g.name) from public.guest g "  \
    "where g.event_id = e.id) as body from public.event e"

START_TEST(a_query_of_partitioned_tables_follows_their_members)
{
    struct walk w = events();
    struct err err = {0};
    w.query = GUESTS;
    w.dependencies = guests;
    w.dependency_count = 1;
    walk_new(&w,
             EVENTS "; create table guest (event_id bigint, name text) partition by list (name);"
                    "create table guest_ann partition of guest for values in ('ann');"
                    "create index on guest (event_id)");
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    sql_exec(w.db, "insert into guest_ann values (1, 'ann'), (2, 'ann'); delete from event_d");
    ck_assert_uint_eq(walk_drain(&w), 12);
    sql_exec(w.db, "create table guest_bob partition of guest for values in ('bob');"
                   "insert into guest_bob values (1, 'bob')");
    ck_assert_int_eq(walk_try(&w, &err), ERR_TRANSIENT);
    must(w.capture->ops->resume(w.capture, w.position, &err), &err);
    ck_assert_uint_eq(walk_drain(&w), 1);
    ck_assert_int_eq(
        walk_differences(&w, "select id::text as key, region || '|' || coalesce(body, '~') as "
                             "content from (" GUESTS ") q"),
        0);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from mirror where content = 'b|ann,bob'"), 1);
    walk_free(&w);
}
END_TEST

START_TEST(what_the_application_writes_is_not_logged_twice)
{
    struct walk w = following(EVENTS);
    sql_exec(w.db, "delete from rowferry.change");
    sql_exec(w.db, "update event_a set body = 'x'; update event set body = 'y' where region = 'b'");
    ck_assert_int_eq(sql_int(w.db, "select count(*) from rowferry.change"), 20);
    sql_exec(w.db, "set session_replication_role = replica; update event_a set body = 'z'");
    ck_assert_int_eq(sql_int(w.db, "select count(distinct key) from rowferry.change where xid = "
                                   "(select xid from rowferry.change order by seq desc limit 1)"),
                     10);
    walk_free(&w);
}
END_TEST

SUITE_MAIN("source/tree", a_partitioned_table_is_copied_whole, writes_by_way_of_the_parent_are_seen,
           a_leaf_that_is_written_directly_is_seen, rows_that_are_copied_into_a_leaf_are_seen,
           a_row_that_moves_to_another_partition_is_not_lost,
           a_cascade_reaches_the_leaves_and_is_seen, a_merge_is_seen,
           a_truncate_of_a_leaf_is_a_truncate, a_truncate_of_the_parent_is_a_truncate,
           a_new_partition_is_taken_in_while_the_sync_runs,
           rows_that_were_written_before_the_partition_was_noticed_are_not_lost,
           the_rows_of_an_attached_partition_arrive,
           a_partition_with_partitions_of_its_own_is_attached,
           a_partition_that_was_attached_between_two_syncs_is_taken_in,
           a_partition_that_joins_during_the_copy_is_copied_too,
           a_partition_that_joins_before_the_consumer_is_registered_is_news,
           a_reader_without_rights_on_the_table_takes_a_partition_in,
           a_partition_that_was_away_and_changed_meanwhile_goes_on,
           a_leaf_whose_trigger_was_disabled_stops_the_sync,
           a_leaf_that_is_stored_anew_is_not_read_again, tables_that_inherit_are_part_of_the_table,
           a_query_of_partitioned_tables_follows_their_members,
           what_the_application_writes_is_not_logged_twice, removing_leaves_nothing_in_any_member,
           what_is_brought_up_to_date_is_relied_on_as_before)
