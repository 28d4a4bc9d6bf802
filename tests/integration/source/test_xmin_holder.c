/* SPDX-License-Identifier: Apache-2.0 */
/* The session that holds back the watermark, and the backlog of the change log. */
#include "notes.h"

static struct xmin_holder hold_of(struct walk *w)
{
    struct err err = {0};
    struct xmin_holder hold;
    must(w->capture->ops->hold(w->capture, &hold, &err), &err);
    return hold;
}

/* Waits until this session is named; transactions of other tests are younger. */
static struct xmin_holder await_hold(struct walk *w, int64_t pid)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    struct xmin_holder hold = hold_of(w);
    while (!hold.any || hold.pid != pid) {
        ck_assert_msg(deadline_wait(&deadline), "never %lld, but \"%s\"", (long long)pid,
                      hold.any ? hold.who : "nobody");
        hold = hold_of(w);
    }
    return hold;
}

static int64_t waiting(struct walk *w)
{
    struct err err = {0};
    int64_t changes = -2;
    must(w->capture->ops->waiting(w->capture, &changes, &err), &err);
    return changes;
}

static int64_t backend(PGconn *conn)
{
    return sql_int(conn, "select pg_backend_pid()");
}

START_TEST(a_session_idle_in_transaction_is_named_with_pid_age_and_state)
{
    struct walk w = following(0);
    PGconn *idle = sql_open(w.uri);
    sql_exec(idle, "set application_name = 'forgotten'; begin; select 1");
    struct xmin_holder hold = await_hold(&w, backend(idle));
    ck_assert_int_gt(hold.age_us, 0);
    ck_assert_msg(strstr(hold.who, "\"forgotten\" of ") != NULL &&
                      strstr(hold.who, "idle in transaction") != NULL,
                  "%s", hold.who);
    int64_t before = hold.age_us;
    hold = await_hold(&w, backend(idle));
    ck_assert_int_gt(hold.age_us, before);
    sql_exec(idle, "rollback");
    struct deadline deadline = deadline_after(WAIT_MS);
    while (hold.any && hold.pid == backend(idle)) {
        ck_assert(deadline_wait(&deadline));
        hold = hold_of(&w);
    }
    PQfinish(idle);
    walk_free(&w);
}
END_TEST

START_TEST(a_writer_in_another_database_holds_the_log_and_no_cursor)
{
    struct walk log = following(0);
    struct walk cursor = {
        .table = "public.note", .columns = note_columns, .column_count = 1, .cursor = "at"};
    char *elsewhere = database_new();
    walk_new(&cursor, "create table note (id bigint primary key, body text, at timestamptz not "
                      "null default now())");
    walk_start(&cursor);
    PGconn *idle = sql_open(elsewhere);
    sql_exec(idle, "begin; select pg_current_xact_id()");
    struct xmin_holder hold = await_hold(&log, backend(idle));
    ck_assert_int_gt(hold.age_us, 0);
    hold = hold_of(&cursor);
    ck_assert(!hold.any || hold.pid != backend(idle));
    PQfinish(idle);
    walk_free(&cursor);
    walk_free(&log);
    database_drop(elsewhere);
}
END_TEST

START_TEST(a_prepared_transaction_is_named_though_it_has_no_session)
{
    struct walk w = following(0);
    char *gid = sql_text(w.db, "select 'held in ' || current_database()");
    sql_exec(w.db, "begin; insert into note values (900, 'p'); prepare transaction '%s'", gid);
    struct deadline deadline = deadline_after(WAIT_MS);
    struct xmin_holder hold = hold_of(&w);
    while (!hold.any || strstr(hold.who, gid) == NULL) {
        ck_assert_msg(deadline_wait(&deadline), "%s", hold.who);
        hold = hold_of(&w);
    }
    ck_assert_int_eq(hold.pid, 0);
    ck_assert_int_gt(hold.age_us, 0);
    sql_exec(w.db, "rollback prepared '%s'", gid);
    free(gid);
    walk_free(&w);
}
END_TEST

/* A role that sees of other sessions only that they exist. */
START_TEST(without_privileges_a_writer_is_seen_and_its_age_counts_from_then)
{
    struct walk w = following(0);
    PGconn *idle = sql_open(w.uri);
    char *role = sql_text(w.db, "select 'poor_' || pg_backend_pid()");
    sql_exec(w.db, "create role %s login; grant select on all tables in schema public to %s", role,
             role);
    sql_exec(idle, "begin; select pg_current_xact_id()");
    sql_exec(w.db, "set role %s", role);
    char *seen = sql_text(w.db, "select xact_start from pg_stat_activity where pid = %lld",
                          (long long)backend(idle));
    sql_exec(w.db, "reset role");
    ck_assert_ptr_null(seen);
    struct err err = {0};
    struct pg *pg = walk_connect(w.uri);
    char set[96];
    snprintf(set, sizeof(set), "set role %s", role);
    must(pg_script(pg, set, &err), &err);
    struct changelog_options options = {
        .consumer = "test/one", .table = "public.note", .columns = note_columns, .column_count = 1};
    struct capture *poor;
    must(changelog_open(&poor, pg, &options, &err), &err);
    struct deadline deadline = deadline_after(WAIT_MS);
    struct xmin_holder hold = {0};
    while (!hold.any || hold.pid != backend(idle) || hold.age_us == 0) {
        must(poor->ops->hold(poor, &hold, &err), &err);
        ck_assert_msg(deadline_wait(&deadline), "%s", hold.who);
    }
    ck_assert_ptr_null(strstr(hold.who, "idle"));
    poor->ops->free(poor);
    PQfinish(idle);
    sql_exec(w.db, "drop owned by %s; drop role %s", role, role);
    free(role);
    walk_free(&w);
}
END_TEST

static void expect_locker(struct walk *w, int64_t pid)
{
    struct err err = {0};
    char process[48];
    snprintf(process, sizeof(process), "process %lld (\"", (long long)pid);
    ck_assert_int_eq(walk_try(w, &err), ERR_TRANSIENT);
    ck_assert_str_eq(err.sqlstate, "55P03");
    ck_assert_msg(strstr(err.message, process) != NULL &&
                      strstr(err.message, "idle in transaction, for ") != NULL &&
                      strstr(err.message, "\"note\"") != NULL,
                  "%s", err.message);
}

START_TEST(who_locks_the_table_is_named)
{
    struct walk w = following(0);
    sql_exec(w.db, "begin; lock table note in access exclusive mode");
    struct err err = {0};
    char process[48];
    snprintf(process, sizeof(process), "process %lld (\"", (long long)backend(w.db));
    ck_assert_int_eq(walk_try(&w, &err), ERR_TRANSIENT);
    ck_assert_msg(strstr(err.message, process) != NULL, "%s", err.message);
    sql_exec(w.db, "rollback");
    must(w.capture->ops->resume(w.capture, w.position, &err), &err);
    ck_assert_uint_eq(walk_drain(&w), 0);
    walk_free(&w);
}
END_TEST

/* A reader forgot its transaction, and an ALTER TABLE waits for it: all other statements queue
 * behind. */
START_TEST(whom_the_one_waits_for_who_wants_the_lock_is_named)
{
    struct walk w = following(0);
    PGconn *reader = sql_open(w.uri);
    PGconn *altering = sql_open(w.uri);
    sql_exec(reader, "begin; select count(*) from note");
    ck_assert_int_eq(PQsendQuery(altering, "alter table note add column more text"), 1);
    struct deadline deadline = deadline_after(WAIT_MS);
    while (sql_int(w.db,
                   "select count(*) from pg_locks where mode = 'AccessExclusiveLock' and not "
                   "granted and pid = %d",
                   PQbackendPID(altering)) == 0) {
        ck_assert(deadline_wait(&deadline));
    }
    expect_locker(&w, backend(reader));
    sql_exec(reader, "rollback");
    PQfinish(altering);
    PQfinish(reader);
    walk_free(&w);
}
END_TEST

START_TEST(what_waits_is_counted_from_the_position_on)
{
    struct walk w = following(10);
    ck_assert_int_eq(waiting(&w), 0);
    sql_exec(w.db, "update note set body = 'new'");
    ck_assert_int_eq(waiting(&w), 20);
    walk_page(&w); /* the first ten of a window */
    ck_assert_int_eq(waiting(&w), 10);
    walk_drain(&w);
    ck_assert_int_eq(waiting(&w), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_transaction_that_was_waited_for_counts_when_it_commits)
{
    struct walk w = following(0);
    PGconn *slow = sql_open(w.uri);
    sql_exec(slow, "begin; update note set body = 'slow' where id <= 3");
    sql_exec(w.db, "update note set body = 'fast' where id = 9");
    walk_drain(&w);
    sql_exec(slow, "commit");
    ck_assert_int_eq(waiting(&w), 3);
    walk_drain(&w);
    ck_assert_int_eq(waiting(&w), 0);
    PQfinish(slow);
    walk_free(&w);
}
END_TEST

START_TEST(a_long_queue_is_estimated)
{
    struct walk w = following(0);
    sql_exec(w.db, "insert into note select i, 'new' from generate_series(1001, 31000) i");
    ck_assert_int_eq(waiting(&w), 30000);
    walk_free(&w);
}
END_TEST

START_TEST(a_copy_does_not_say_what_waits)
{
    struct walk w = notes();
    walk_new(&w, NOTES);
    sql_exec(w.db, "insert into note select i, 'old' from generate_series(1, 20) i");
    walk_start(&w);
    ck_assert_int_eq(waiting(&w), -1);
    walk_free(&w);
}
END_TEST

SUITE_MAIN("source/xmin_holder", a_session_idle_in_transaction_is_named_with_pid_age_and_state,
           a_writer_in_another_database_holds_the_log_and_no_cursor,
           a_prepared_transaction_is_named_though_it_has_no_session,
           without_privileges_a_writer_is_seen_and_its_age_counts_from_then,
           what_waits_is_counted_from_the_position_on, who_locks_the_table_is_named,
           whom_the_one_waits_for_who_wants_the_lock_is_named,
           a_transaction_that_was_waited_for_counts_when_it_commits, a_long_queue_is_estimated,
           a_copy_does_not_say_what_waits)
