/* SPDX-License-Identifier: Apache-2.0 */
/* A cursor over a column that grows with each change: late commits, ties, soft deletes, crashes. */
#include "followed.h"

START_TEST(changes_arrive_before_the_horizon_passes_them)
{
    struct walk w = of_notes();
    w.overlap_ms = 600000;
    begin(&w, NOTES);
    sql_exec(w.db, "update note set body = 'new', at = now() where id <= 3");
    sql_exec(w.db, "insert into note values (50, 'fifty')");
    ck_assert_uint_eq(walk_drain(&w), 4);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    ck_assert_uint_eq(walk_drain(&w), 0);
    walk_free(&w);
}
END_TEST

START_TEST(what_was_delivered_ahead_is_not_delivered_again)
{
    struct walk w = of_notes();
    begin(&w, NOTES);
    pass_all(&w);
    PGconn *slow = sql_open(w.uri);
    sql_exec(slow, "begin; select 1");
    sql_exec(w.db, "update note set body = 'new', at = clock_timestamp()");
    ck_assert_uint_eq(walk_drain(&w), 20);
    sql_exec(slow, "commit");
    struct deadline deadline = deadline_after(WAIT_MS);
    char *before = text_copy(w.position);
    while (strcmp(w.position, before) == 0) {
        ck_assert_uint_eq(walk_drain(&w), 0);
        ck_assert(deadline_wait(&deadline));
    }
    free(before);
    PQfinish(slow);
    walk_free(&w);
}
END_TEST

START_TEST(what_was_pushed_out_of_the_table_is_delivered_twice_at_most)
{
    struct walk w = of_notes();
    w.seen_slots = 4;
    begin(&w, NOTES);
    pass_all(&w);
    PGconn *slow = sql_open(w.uri);
    sql_exec(slow, "begin; select 1");
    sql_exec(w.db, "update note set body = 'new', at = clock_timestamp()");
    size_t came = walk_drain(&w);
    ck_assert_uint_eq(came, 20);
    sql_exec(slow, "commit");
    pass_all(&w);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    PQfinish(slow);
    walk_free(&w);
}
END_TEST

START_TEST(a_transaction_that_commits_late_is_not_missed)
{
    struct walk w = of_notes();
    begin(&w, NOTES);
    pass_all(&w);
    PGconn *slow = sql_open(w.uri);
    sql_exec(slow, "begin; insert into note values (100, 'late')");
    for (int i = 101; i <= 110; i++) {
        sql_exec(w.db, "insert into note values (%d, 'early')", i);
        walk_drain(&w);
    }
    walk_again(&w);
    walk_drain(&w);
    sql_exec(slow, "commit");
    ck_assert(becomes_equal(&w, NOTES_QUERY, WAIT_MS));
    PQfinish(slow);
    walk_free(&w);
}
END_TEST

static struct cursor_look look_of(const struct walk *w)
{
    struct err err = {0};
    struct cursor_look look;
    struct pg *pg = walk_connect(w->uri);
    struct table *table = walk_table(w, pg);
    must(cursor_look(pg, table, w->cursor, &look, &err), &err);
    catalog_table_free(table);
    pg_close(pg);
    return look;
}

/* Its transaction begins and takes time before it writes anything. */
START_TEST(a_writer_that_tracks_no_activities_is_waited_for_and_told)
{
    struct walk w = of_notes();
    w.overlap_ms = 0; /* 5 s if the horizon is exact, else a minute */
    begin(&w, NOTES);
    ck_assert(look_of(&w).tracked);
    PGconn *quiet = sql_open(w.uri);
    sql_exec(quiet, "set track_activities = off; begin; select now()");
    ck_assert(!look_of(&w).tracked);
    sql_exec(w.db, "insert into note values (100, 'early', false, now() - interval '7 seconds')");
    walk_drain(&w);
    sql_exec(quiet, "insert into note values (101, 'late', false, now() - interval '10 seconds'); "
                    "commit");
    ck_assert(becomes_equal(&w, NOTES_QUERY, WAIT_MS));
    PQfinish(quiet);
    walk_free(&w);
}
END_TEST

START_TEST(a_role_that_tracks_no_activities_is_told)
{
    struct walk w = of_notes();
    begin(&w, NOTES);
    char *role = sql_text(w.db, "select 'rowferry_quiet_' || current_database()");
    sql_exec(w.db, "create role \"%s\"; alter role \"%s\" set track_activities = off", role, role);
    bool tracked = look_of(&w).tracked;
    sql_exec(w.db, "drop role \"%s\"", role);
    free(role);
    ck_assert(!tracked);
    walk_free(&w);
}
END_TEST

static bool says_prepared(struct walk *w)
{
    struct cursor_look look = look_of(w);
    ck_assert(look.prepared[0] == '\0' || look.prepared[0] == '2'); /* digit of a year */
    return look.prepared[0] != '\0';
}

START_TEST(a_prepared_transaction_is_not_missed)
{
    struct walk w = of_notes();
    begin(&w, NOTES);
    pass_all(&w);
    PGconn *slow = sql_open(w.uri);
    char *name = sql_text(w.db, "select 'late ' || current_database()");
    ck_assert(!says_prepared(&w));
    sql_exec(slow, "begin; insert into note values (100, 'late'); prepare transaction '%s'", name);
    ck_assert(says_prepared(&w));
    for (int i = 101; i <= 105; i++) {
        sql_exec(w.db, "insert into note values (%d, 'early')", i);
        walk_again(&w);
        walk_drain(&w);
    }
    sql_exec(slow, "commit prepared '%s'", name);
    ck_assert(becomes_equal(&w, NOTES_QUERY, WAIT_MS));
    pass_all(&w);
    free(name);
    PQfinish(slow);
    walk_free(&w);
}
END_TEST

START_TEST(a_prepared_transaction_that_waits_at_the_first_load_is_not_missed)
{
    struct walk w = of_notes();
    walk_new(&w, NOTES);
    char *name = sql_text(w.db, "select 'first ' || current_database()");
    sql_exec(w.db, "insert into note select i, 'old' from generate_series(1, 20) i");
    PGconn *slow = sql_open(w.uri);
    sql_exec(slow, "begin; insert into note values (100, 'late'); prepare transaction '%s'", name);
    sql_exec(w.db, "insert into note values (101, 'early')");
    walk_start(&w);
    walk_drain(&w);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    sql_exec(slow, "commit prepared '%s'", name);
    ck_assert(becomes_equal(&w, NOTES_QUERY, WAIT_MS));
    free(name);
    PQfinish(slow);
    walk_free(&w);
}
END_TEST

START_TEST(a_transaction_of_another_database_holds_nothing_up)
{
    struct walk w = of_notes();
    begin(&w, NOTES);
    char *other = database_new();
    PGconn *slow = sql_open(other);
    sql_exec(slow, "begin; select pg_current_xact_id()");
    sql_exec(w.db, "update note set body = 'new', at = now()");
    pass_all(&w);
    PQfinish(slow);
    database_drop(other);
    walk_free(&w);
}
END_TEST

/* Counts the appearances of each key. All keys have one timestamp, and pages end between them. */
START_TEST(equal_timestamps_at_the_edge_of_a_page_are_neither_lost_nor_doubled)
{
    struct walk w = of_notes();
    w.page_rows = 10;
    w.chunk_bytes = (size_t)1 << 20;
    walk_new(&w, NOTES);
    sql_exec(w.db, "insert into note select i, 'b' || i, false, '2020-01-01 00:00:00.123456+00' "
                   "from generate_series(1, 1000) i");
    walk_start(&w);
    ck_assert_uint_eq(walk_drain(&w), 1000);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    expect_text(w.position, " \"2020-01-01 00:00:00.123456+00\" after 1000");
    sql_exec(w.db, "update note set body = 'n' || id, at = now()");
    size_t came = walk_drain(&w);
    ck_assert_uint_eq(came, 1000);
    pass_all(&w);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(microseconds_part_two_pages)
{
    struct walk w = of_notes();
    w.page_rows = 1;
    walk_new(&w, NOTES);
    sql_exec(w.db, "insert into note select i, 'b', false, timestamptz '2020-01-01 00:00:00+00' + "
                   "(21 - i) * interval '1 microsecond' from generate_series(1, 20) i");
    walk_start(&w);
    ck_assert_uint_eq(walk_drain(&w), 20);
    expect_text(w.position, " \"2020-01-01 00:00:00.00002+00\" after 1");
    walk_free(&w);
}
END_TEST

START_TEST(rows_without_a_value_are_in_the_first_load)
{
    struct walk w = of_notes();
    w.page_rows = 3;
    walk_new(&w, "create table note (id bigint primary key, body text, at timestamptz)");
    sql_exec(w.db, "insert into note select i, 'b' || i, case when i %% 2 = 0 then '2020-01-01' "
                   "::timestamptz end from generate_series(1, 20) i");
    walk_start(&w);
    while (strncmp(w.position, "cursor copy", 11) == 0) {
        walk_page(&w);
        walk_again(&w);
    }
    walk_drain(&w);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    sql_exec(w.db, "update note set body = 'now with one', at = now() where id = 1");
    ck_assert(becomes_equal(&w, NOTES_QUERY, WAIT_MS));
    walk_free(&w);
}
END_TEST

static bool breaks_always(void *context)
{
    (void)context;
    return true;
}

START_TEST(a_crash_after_any_page_or_mark_goes_on_where_it_was)
{
    struct walk w = of_notes();
    w.page_rows = 7;
    w.chunk_bytes = 20;
    w.breaks = breaks_always;
    walk_new(&w, NOTES);
    sql_exec(w.db, "insert into note select i, 'b' || i, false, timestamptz '2020-01-01 UTC' + "
                   "i / 3 * interval '1 s' from generate_series(1, 100) i");
    walk_start(&w);
    size_t came = 0;
    struct deadline deadline = deadline_after(WAIT_MS);
    do {
        walk_page(&w);
        came += w.rows;
        ck_assert(deadline_wait(&deadline));
    } while (!w.drained);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    ck_assert_uint_eq(came, 100);
    walk_free(&w);
}
END_TEST

START_TEST(an_idle_poll_does_not_move)
{
    struct walk w = of_notes();
    begin(&w, NOTES);
    pass_all(&w);
    char *before = text_copy(w.position);
    for (int i = 0; i < 5; i++) {
        ck_assert_uint_eq(walk_drain(&w), 0);
        ck_assert_str_eq(w.position, before);
    }
    free(before);
    walk_free(&w);
}
END_TEST

START_TEST(keys_are_read_again_and_their_deletes_are_told)
{
    struct walk w = of_notes();
    struct err err = {0};
    const struct span keys[] = {span_make("3", 1), span_make("4", 1), span_make("77", 2)};
    begin(&w, NOTES);
    sql_exec(w.db, "update note set body = 'unseen' where id = 3; delete from note where id = 4");
    walk_drain(&w);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 3);
    must(w.capture->ops->begin_keys(w.capture, keys, 3, false, &err), &err);
    must(walk_rest(&w, &err), &err);
    ck_assert_uint_eq(w.rows, 1);
    ck_assert_uint_eq(w.gone, 2);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

/* Another writer may have put such a document into the index. */
START_TEST(a_document_whose_id_is_no_uuid_stops_no_reconcile)
{
    struct walk w = of_notes();
    struct err err = {0};
    const struct span keys[] = {span_make("00000000-0000-0000-0000-000000000001", 36),
                                span_make("stray", 5)};
    walk_new(&w, "create table note (id uuid primary key, body text, at timestamptz not null)");
    sql_exec(w.db, "insert into note values ('00000000-0000-0000-0000-000000000001', 'b', now())");
    walk_start(&w);
    walk_drain(&w);
    must(w.capture->ops->begin_keys(w.capture, keys, 2, true, &err), &err);
    must(walk_rest(&w, &err), &err);
    ck_assert_uint_eq(w.rows, 0);
    ck_assert_uint_eq(w.gone, 1);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_slow_read_leaves_the_process_its_time)
{
    struct walk w = of_notes();
    struct err err = {0};
    struct change change = {0};
    w.where = "pg_advisory_xact_lock_shared(1) is not null";
    begin(&w, NOTES);
    sql_exec(w.db, "insert into note values (50, 'fifty'); select pg_advisory_lock(1)");
    must(w.capture->ops->begin(w.capture, &err), &err);
    must(w.capture->ops->next(w.capture, &change, &err), &err);
    ck_assert_int_eq(change.kind, CHANGE_WAIT);
    sql_exec(w.db, "select pg_advisory_unlock(1)");
    must(walk_rest(&w, &err), &err);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

static void expect_drift(struct walk *w, int rc, const struct err *err, const char *reason)
{
    ck_assert_int_eq(rc, ERR_STATE);
    ck_assert_msg(strstr(err->message, reason) != NULL, "%s", err->message);
    ck_assert(err->drift);
    ck_assert_int_eq(sql_int(w->db, "select count(*) from mirror where content ~ 'new'"), 0);
}

START_TEST(a_re_created_table_between_two_pages_is_not_read_as_if_it_were_the_old_one)
{
    struct walk w = of_notes();
    struct err err = {0};
    begin(&w, NOTES);
    sql_exec(w.db, "alter table note rename to was; " NOTES);
    sql_exec(w.db, "insert into note values (1, 'new')");
    expect_drift(&w, walk_try(&w, &err), &err, "was re-created or renamed");
    walk_free(&w);
}
END_TEST

START_TEST(a_re_created_table_between_two_syncs_is_not_read_as_if_it_were_the_old_one)
{
    struct walk w = of_notes();
    struct err err = {0};
    begin(&w, NOTES);
    sql_exec(w.db, "alter table note rename to was; " NOTES);
    sql_exec(w.db, "insert into note values (1, 'new')");
    walk_close(&w);
    walk_open(&w);
    int rc = w.capture->ops->resume(w.capture, w.position, &err);
    expect_drift(&w, rc, &err, "was re-created since the load of the index began");
    expect_text(err.hint, "rowferry reindex");
    walk_free(&w);
}
END_TEST

START_TEST(a_position_of_an_earlier_version_is_read_on_and_learns_its_table)
{
    struct walk w = of_notes();
    struct err err = {0};
    begin(&w, NOTES);
    char *earlier = sql_text(w.db, "select regexp_replace('%s', ' in [0-9]+', '')", w.position);
    ck_assert_str_ne(earlier, w.position);
    ck_assert_int_eq(w.capture->ops->resume(w.capture, earlier, &err), 0);
    sql_exec(w.db, "update note set body = 'later', at = now() where id = 1");
    ck_assert_uint_ge(walk_drain(&w), 1);
    expect_text(w.position, "cursor in ");
    free(earlier);
    walk_free(&w);
}
END_TEST

START_TEST(rows_of_a_column_that_got_another_type_are_not_read_as_if_it_had_the_old_one)
{
    struct walk w = of_notes();
    struct err err = {0};
    begin(&w, NOTES);
    sql_exec(w.db, "alter table note alter body type text[] using array[body]");
    sql_exec(w.db, "update note set body = '{new}', at = now() where id = 1");
    expect_drift(&w, walk_try(&w, &err), &err, "table definition changed: column \"body\"");
    walk_free(&w);
}
END_TEST

START_TEST(a_definition_that_the_plan_does_not_know_is_told)
{
    struct walk w = of_notes();
    walk_new(&w, NOTES);
    walk_expect_changed(&w);
    walk_free(&w);
}
END_TEST

START_TEST(a_key_of_another_schemas_type_is_read_in_its_own_order)
{
    static const char *const key[] = {"id"};
    struct walk w = of_notes();
    w.key = key;
    w.key_count = 1;
    w.page_rows = 3;
    walk_new(&w, "create schema x; create extension citext schema x;"
                 "create table note (id x.citext primary key, body text, at timestamptz not null)");
    sql_exec(w.db, "insert into note select case when i %% 2 = 0 then 'k' else 'K' end || "
                   "lpad(i::text, 2, '0'), 'b', '2020-01-01' from generate_series(1, 20) i");
    walk_start(&w);
    ck_assert_uint_eq(walk_drain(&w), 20);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_first_load_tells_how_far_it_is)
{
    struct walk w = of_notes();
    struct capture_progress progress;
    w.page_rows = 10;
    w.chunk_bytes = (size_t)1 << 20;
    walk_new(&w, NOTES);
    sql_exec(w.db, "insert into note select i, 'b' || i from generate_series(1, 1000) i");
    sql_exec(w.db, "analyze note");
    walk_start(&w);
    walk_page(&w);
    w.capture->ops->progress(w.capture, &progress);
    ck_assert_int_eq(progress.rows_estimated, 1000);
    ck_assert_int_eq(progress.rows_read, 10);
    ck_assert_double_eq_tol(progress.share, 0.01, 0.0001);
    walk_drain(&w);
    pass_all(&w);
    w.capture->ops->progress(w.capture, &progress);
    ck_assert_double_eq_tol(progress.share, 1, 0.0001);
    sql_exec(w.db, "update note set body = 'new', at = now() where id = 1");
    ck_assert_uint_eq(walk_drain(&w), 1);
    w.capture->ops->progress(w.capture, &progress);
    ck_assert_int_eq(progress.rows_read, 1000);
    walk_free(&w);
}
END_TEST

SUITE_MAIN("source/cursor", a_writer_that_tracks_no_activities_is_waited_for_and_told,
           a_role_that_tracks_no_activities_is_told, a_first_load_tells_how_far_it_is,
           changes_arrive_before_the_horizon_passes_them,
           what_was_delivered_ahead_is_not_delivered_again,
           what_was_pushed_out_of_the_table_is_delivered_twice_at_most,
           a_transaction_that_commits_late_is_not_missed, a_prepared_transaction_is_not_missed,
           a_prepared_transaction_that_waits_at_the_first_load_is_not_missed,
           a_transaction_of_another_database_holds_nothing_up,
           equal_timestamps_at_the_edge_of_a_page_are_neither_lost_nor_doubled,
           microseconds_part_two_pages, rows_without_a_value_are_in_the_first_load,
           a_crash_after_any_page_or_mark_goes_on_where_it_was, an_idle_poll_does_not_move,
           keys_are_read_again_and_their_deletes_are_told,
           a_document_whose_id_is_no_uuid_stops_no_reconcile,
           a_slow_read_leaves_the_process_its_time,
           a_re_created_table_between_two_pages_is_not_read_as_if_it_were_the_old_one,
           a_re_created_table_between_two_syncs_is_not_read_as_if_it_were_the_old_one,
           a_position_of_an_earlier_version_is_read_on_and_learns_its_table,
           rows_of_a_column_that_got_another_type_are_not_read_as_if_it_had_the_old_one,
           a_definition_that_the_plan_does_not_know_is_told,
           a_key_of_another_schemas_type_is_read_in_its_own_order)
