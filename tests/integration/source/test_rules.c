/* SPDX-License-Identifier: Apache-2.0 */
/* Failures that a rule of the change log prevents and that no other test covers. */
#include <pthread.h>

#include "walk.h"

static const char *const columns[] = {"body"};

#define NOTES "create table note (id bigint primary key, body text)"
#define NOTES_QUERY "select id::text as key, body as content from note"

static struct walk following(void)
{
    struct walk w = {
        .table = "note", .columns = columns, .column_count = 1, .lock_timeout_ms = WAIT_MS};
    walk_new(&w, NOTES);
    sql_exec(w.db, "insert into note select i, 'old ' || i from generate_series(1, 20) i");
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    return w;
}

/* Commits when another session waits for its locks. */
static void *commit_when_waited_for(void *context)
{
    PGconn *conn = context;
    struct deadline deadline = deadline_after(WAIT_MS);
    while (sql_int(conn, "select count(*) from pg_stat_activity where pg_backend_pid() = "
                         "any(pg_blocking_pids(pid))") == 0 &&
           deadline_wait(&deadline)) {
    }
    sql_exec(conn, "commit");
    return NULL;
}

/* A snapshot from before the TRUNCATE sees neither the old rows nor the new ones. */
START_TEST(a_table_that_is_filled_anew_while_a_page_begins_does_not_look_empty)
{
    struct walk w = following();
    struct err err = {0};
    pthread_t thread;
    PGconn *other = sql_open(w.uri);
    sql_exec(w.db, "update note set body = 'new' where id in (3, 4)");
    sql_exec(other, "begin; create temp table kept as table note; truncate note; "
                    "insert into note select * from kept");
    ck_assert_int_eq(pthread_create(&thread, NULL, commit_when_waited_for, other), 0);
    int rc = walk_try(&w, &err);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    must(rc, &err);
    ck_assert_uint_eq(w.gone, 0);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from mirror"), 20);
    ck_assert(w.truncated);
    PQfinish(other);
    walk_free(&w);
}
END_TEST

START_TEST(a_prepared_transaction_that_is_committed_by_another_session_is_not_missed)
{
    struct walk w = following();
    char *name = sql_text(w.db, "select 'rule ' || current_database()");
    PGconn *other = sql_open(w.uri);
    sql_exec(other,
             "begin; update note set body = 'late' where id = 7; delete from note where id = 8;"
             "prepare transaction '%s'",
             name);
    PQfinish(other);
    for (int i = 101; i <= 105; i++) {
        sql_exec(w.db, "insert into note values (%d, 'early')", i);
        ck_assert_uint_eq(walk_drain(&w), 1);
        walk_release(&w);
        walk_again(&w);
    }
    sql_exec(w.db, "commit prepared '%s'", name);
    ck_assert_uint_eq(walk_drain(&w), 2);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    free(name);
    walk_free(&w);
}
END_TEST

static const char *const event_key[] = {"id", "region"};

#define EVENTS                                                                                     \
    "create table event (id bigint, region text, body text, primary key (id, region)) "            \
    "partition by list (region); create table event_a partition of event for values in ('a')"
#define EVENTS_QUERY "select id || ':' || region as key, body as content from event"
#define ATTACH(name)                                                                               \
    "create table event_" name " (like event including all); insert into event_" name              \
    " values (1, '" name "', 'came with it'); alter table event attach partition event_" name      \
    " for values in ('" name "')"
#define JOIN "select rowferry.join_members((select id from rowferry.capture))"

/* Regression: the second one was recorded without triggers, which only a person could repair. */
START_TEST(a_partition_that_joins_while_another_is_taken_in_is_taken_in_too)
{
    struct walk w = {
        .table = "event", .key = event_key, .key_count = 2, .columns = columns, .column_count = 1};
    struct err err = {0};
    walk_new(&w, EVENTS);
    sql_exec(w.db, "insert into event select i, 'a', 'old' from generate_series(1, 20) i");
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    PGconn *holder = sql_open(w.uri);
    PGconn *joiner = sql_open(w.uri);
    sql_exec(w.db, ATTACH("b"));
    ck_assert_int_eq(sql_int(w.db, JOIN), 1);
    sql_exec(holder, "begin; lock table event_b in access exclusive mode");
    ck_assert_int_eq(PQsendQuery(joiner, JOIN), 1);
    struct deadline deadline = deadline_after(WAIT_MS);
    while (sql_int(w.db, "select cardinality(pg_blocking_pids(%d))", PQbackendPID(joiner)) == 0) {
        ck_assert(deadline_wait(&deadline));
    }
    sql_exec(w.db, ATTACH("c"));
    sql_exec(holder, "commit");
    PQclear(PQgetResult(joiner));
    ck_assert_int_eq(walk_try(&w, &err), ERR_TRANSIENT);
    must(w.capture->ops->resume(w.capture, w.position, &err), &err);
    walk_drain(&w);
    ck_assert_int_eq(walk_differences(&w, EVENTS_QUERY), 0);
    PQfinish(holder);
    PQfinish(joiner);
    walk_free(&w);
}
END_TEST

struct starting {
    struct walk *w;
    struct buf position;
    struct err err;
    int rc;
};

static void *start(void *context)
{
    struct starting *s = context;
    s->rc = s->w->capture->ops->start(s->w->capture, &s->position, &s->err);
    return NULL;
}

static void await_blocked_by(PGconn *conn, PGconn *holder)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    while (sql_int(conn,
                   "select count(*) from pg_stat_activity where %d = any(pg_blocking_pids(pid))",
                   PQbackendPID(holder)) == 0) {
        ck_assert(deadline_wait(&deadline));
    }
}

/* Attaches event_c after the change log was checked and before the table is read. */
static void start_while_one_joins(struct starting *s)
{
    pthread_t thread;
    PGconn *log = sql_open(s->w->uri);
    PGconn *joiner = sql_open(s->w->uri);
    sql_exec(log, "begin; lock table rowferry.migration in access exclusive mode");
    ck_assert_int_eq(pthread_create(&thread, NULL, start, s), 0);
    await_blocked_by(s->w->db, log);
    sql_exec(joiner, "begin; lock table event in access exclusive mode");
    sql_exec(log, "commit");
    await_blocked_by(s->w->db, joiner);
    sql_exec(joiner, ATTACH("c") "; commit");
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    PQfinish(joiner);
    PQfinish(log);
}

/* Regression: the consumer was recorded with a member without triggers, and every later sync
 * stopped. */
START_TEST(a_partition_that_joins_while_a_pipeline_is_registered_is_taken_in)
{
    struct walk w = {
        .table = "event", .key = event_key, .key_count = 2, .columns = columns, .column_count = 1};
    w.lock_timeout_ms = WAIT_MS;
    struct starting s = {.w = &w};
    buf_init(&s.position, 4096);
    walk_new(&w, EVENTS);
    sql_exec(w.db, "insert into event select i, 'a', 'old' from generate_series(1, 20) i");
    walk_open(&w);
    start_while_one_joins(&s);
    ck_assert_msg(s.rc == ERR_TRANSIENT, "%d: %s", s.rc, s.err.message);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from rowferry.consumer"), 0);
    must(w.capture->ops->start(w.capture, &s.position, &s.err), &s.err);
    w.position = buf_detach(&s.position);
    walk_copy(&w);
    sql_exec(w.db, "update event set body = 'new' where id < 4");
    walk_drain(&w);
    ck_assert_int_eq(walk_differences(&w, EVENTS_QUERY), 0);
    walk_free(&w);
}
END_TEST

SUITE_MAIN("source/rules", a_table_that_is_filled_anew_while_a_page_begins_does_not_look_empty,
           a_prepared_transaction_that_is_committed_by_another_session_is_not_missed,
           a_partition_that_joins_while_another_is_taken_in_is_taken_in_too,
           a_partition_that_joins_while_a_pipeline_is_registered_is_taken_in)
