/* SPDX-License-Identifier: Apache-2.0 */
/* Columns and roles with a guarantee only within the overlap, or with none. */
#include "followed.h"

/* Tests a column whose values are not timestamps: the guarantee holds within the overlap. */
static void late_within_overlap(const char *type, const char *value)
{
    struct walk w = of_notes();
    char ddl[512];
    w.overlap_ms = LONG_MS;
    snprintf(ddl, sizeof(ddl),
             "create sequence s; create table note (id bigint primary key, body text, at %s not "
             "null default %s); create index on note (at, id)",
             type, value);
    walk_new(&w, ddl);
    sql_exec(w.db, "insert into note (id, body) select i, 'old' from generate_series(1, 20) i");
    walk_start(&w);
    walk_drain(&w);
    PGconn *slow = sql_open(w.uri);
    sql_exec(slow, "begin; insert into note (id, body) values (100, 'late')");
    for (int i = 101; i <= 105; i++) {
        sql_exec(w.db, "insert into note (id, body) values (%d, 'early')", i);
        walk_drain(&w);
    }
    sql_exec(slow, "commit");
    overlap_is_over(&w);
    ck_assert(becomes_equal(&w, NOTES_QUERY, WAIT_MS));
    struct deadline deadline = deadline_after(WAIT_MS);
    while (strstr(w.position, " after 105") == NULL) {
        walk_drain(&w);
        ck_assert(deadline_wait(&deadline));
    }
    PQfinish(slow);
    walk_free(&w);
}

START_TEST(a_timestamp_without_zone_is_followed_within_the_overlap)
{
    late_within_overlap("timestamp", "localtimestamp");
}
END_TEST

START_TEST(a_sequence_is_followed_within_the_overlap)
{
    late_within_overlap("bigint", "nextval('s')");
}
END_TEST

START_TEST(a_role_that_cannot_see_the_others_reads_within_the_overlap)
{
    struct walk w = of_notes();
    w.overlap_ms = LONG_MS;
    walk_new(&w, NOTES);
    char *role = sql_text(w.db, "select 'reader_' || current_database()");
    sql_exec(w.db, "create role \"%s\"; grant select on note to \"%s\"", role, role);
    sql_exec(w.db, "grant \"%s\" to current_user", role); /* without it, no set role */
    sql_exec(w.db, "insert into note select i, 'old' from generate_series(1, 20) i");
    char *database = sql_text(w.db, "select current_database()");
    sql_exec(w.db, "alter database \"%s\" set role = \"%s\"", database, role);
    walk_start(&w);
    sql_exec(w.db, "alter database \"%s\" reset role", database);
    walk_drain(&w);
    PGconn *slow = sql_open(w.uri);
    sql_exec(slow, "begin; insert into note values (100, 'late')");
    sql_exec(w.db, "insert into note values (101, 'early')");
    walk_drain(&w);
    sql_exec(slow, "commit");
    sql_exec(w.db, "alter database \"%s\" set role = \"%s\"", database, role);
    overlap_is_over(&w);
    sql_exec(w.db, "alter database \"%s\" reset role", database);
    ck_assert(becomes_equal(&w, NOTES_QUERY, WAIT_MS));
    pass_all(&w);
    sql_exec(slow,
             "begin; select pg_current_xact_id()"); /* invisible, so it does not hold the horizon */
    sql_exec(w.db, "update note set body = 'new', at = now()");
    pass_all(&w);
    walk_close(&w);
    sql_exec(w.db, "drop owned by \"%s\"; drop role \"%s\"", role, role);
    PQfinish(slow);
    free(role);
    free(database);
    walk_free(&w);
}
END_TEST

/* Expects that a column is refused with this reason. */
static void refused(const char *ddl, const char *why)
{
    struct walk w = of_notes();
    struct err err = {0};
    struct buf position;
    buf_init(&position, 4096);
    walk_new(&w, ddl);
    walk_open(&w);
    ck_assert_int_eq(w.capture->ops->start(w.capture, &position, &err), ERR_REJECTED);
    ck_assert_msg(strstr(err.message, why) != NULL, "%s", err.message);
    buf_release(&position);
    walk_free(&w);
}

START_TEST(what_cannot_be_followed_is_refused_by_name)
{
    refused("create table note (id bigint primary key, body text)", "no column \"at\"");
    refused("create table note (id bigint primary key, body text, at text)", "cannot follow");
    refused("create table note (id bigint primary key, body text, at timestamptz);"
            "create table child () inherits (note)",
            "may be NULL");
    refused("create table base (id bigint primary key, body text, at timestamptz);"
            "create view note as select * from base",
            "");
}
END_TEST

SUITE_MAIN("source/overlap", a_timestamp_without_zone_is_followed_within_the_overlap,
           a_sequence_is_followed_within_the_overlap,
           a_role_that_cannot_see_the_others_reads_within_the_overlap,
           what_cannot_be_followed_is_refused_by_name)
