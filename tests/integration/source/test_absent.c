/* SPDX-License-Identifier: Apache-2.0 */
/* Absent consumers, and a new consumer during pruning. */
#include "notes.h"

static int64_t entries(struct walk *w)
{
    return sql_int(w->db, "select count(*) from rowferry.change");
}

START_TEST(an_absent_consumer_expires_and_is_copied_again_when_it_comes_back)
{
    struct walk w = following(0);
    walk_second(&w, "test/one", "test/away");
    sql_exec(w.db, "update note set body = 'x'");
    walk_long_ago(&w, "test/away", "3 days");
    w.retain_age_ms = INT64_C(4) * 86400000;
    walk_again(&w);
    walk_drain(&w);
    walk_release(&w);
    ck_assert_int_ge(entries(&w), 20); /* not yet */
    w.retain_age_ms = INT64_C(2) * 86400000;
    walk_again(&w);
    walk_settle(&w);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from rowferry.consumer where expired_at is not "
                                   "null and name = 'test/away'"),
                     1);
    char *position = sql_text(w.db, "select concat(position, ' on ' || nullif(timeline, 0)) from "
                                    "rowferry.consumer where name = 'test/away'");
    free(w.position);
    w.position = position;
    w.consumer = "test/away";
    walk_again(&w);
    ck_assert_ptr_nonnull(strstr(w.capture->again, "absent for too long and expired"));
    walk_copy(&w);
    walk_free(&w);
}
END_TEST

START_TEST(an_absent_consumer_of_a_large_log_expires_and_one_that_works_does_not)
{
    struct walk w = following(0);
    walk_second(&w, "test/one", "test/away");
    sql_exec(w.db, "update note set body = 'x'");
    sql_exec(w.db, "insert into rowferry.change (capture, op, key) select 1, 'U', '1' from "
                   "generate_series(1, 9000); analyze rowferry.change");
    w.retain_size = 1 << 20;
    walk_again(&w);
    walk_drain(&w);
    walk_release(&w);
    ck_assert_int_ge(entries(&w), 9000);
    walk_long_ago(&w, "test/away", "61 minutes");
    struct deadline deadline = deadline_after(WAIT_MS);
    while (sql_int(w.db, "select pg_stat_get_live_tuples('rowferry.change'::regclass)") < 8500) {
        ck_assert(deadline_wait(&deadline)); /* the server's statistics are delayed */
    }
    walk_again(&w);
    walk_settle(&w);
    walk_free(&w);
}
END_TEST

START_TEST(an_expired_consumer_whose_entries_are_still_there_goes_on)
{
    struct walk w = following(0);
    sql_exec(w.db, "update note set body = 'x' where id = 1");
    sql_exec(w.db, "update rowferry.consumer set expired_at = now()");
    walk_again(&w);
    ck_assert_ptr_null(w.capture->again);
    ck_assert_uint_eq(walk_drain(&w), 1);
    ck_assert_int_eq(
        sql_int(w.db, "select count(*) from rowferry.consumer where expired_at is null"), 1);
    walk_free(&w);
}
END_TEST

START_TEST(a_consumer_that_expires_while_its_process_stands_still_is_looked_at_anew)
{
    struct walk w = following(0);
    struct err err = {0};
    walk_again(&w);
    sql_exec(w.db, "update rowferry.consumer set expired_at = now(); "
                   "update note set body = 'x' where id = 1");
    ck_assert_int_eq(walk_try(&w, &err), ERR_TRANSIENT);
    ck_assert_msg(strstr(err.message, "had expired") != NULL, "%s", err.message);
    walk_again(&w);
    ck_assert_uint_eq(walk_drain(&w), 1);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_dropped_consumer_keeps_nothing)
{
    struct walk w = following(0);
    walk_second(&w, "test/one", "test/away");
    walk_second(&w, "test/one", "test/away on 7");
    sql_exec(w.db, "update note set body = 'x'");
    ck_assert_int_eq(sql_int(w.db, "select rowferry.drop_consumer('test/away')"), 2);
    ck_assert_int_ge(entries(&w), 20);
    ck_assert_int_eq(sql_int(w.db, "select rowferry.drop_consumer('test/one')"), 1);
    struct deadline deadline = deadline_after(WAIT_MS);
    while (entries(&w) > 0) { /* other transactions of the cluster may keep them for a while */
        sql_exec(w.db, "select rowferry.prune(1, 1000)");
        ck_assert(deadline_wait(&deadline));
    }
    walk_free(&w);
}
END_TEST

/* The new consumer's row is written but not committed while others advance and prune. It keeps what
 * begins with its own transaction: an older one, of another test, may end meanwhile. */
START_TEST(pruning_against_a_new_consumer_leaves_it_all_that_it_needs)
{
    struct walk w = following(0);
    PGconn *other = sql_open(w.uri);
    sql_exec(other,
             "begin; insert into rowferry.consumer (name, capture, position, keep, triggers, "
             "definition, filenode, versions) select 'test/new', capture, "
             "'log ' || pg_current_snapshot(), pg_current_xact_id(), "
             "triggers, definition, filenode, versions from rowferry.consumer");
    sql_exec(w.db, "update note set body = 'x'");
    walk_drain(&w);
    walk_release(&w);
    sql_exec(other, "commit");
    sql_exec(w.db, "update note set body = 'y'");
    walk_drain(&w);
    walk_release(&w);
    ck_assert_int_ge(sql_int(w.db, "select count(*) from rowferry.change e, rowferry.consumer c "
                                   "where c.name = 'test/new' and e.xid >= c.keep"),
                     20);
    ck_assert_int_eq(sql_int(w.db, "select (p.horizon <= c.keep)::integer from rowferry.capture p "
                                   "join rowferry.consumer c on c.capture = p.id "
                                   "where c.name = 'test/new'"),
                     1);
    PQfinish(other);
    walk_free(&w);
}
END_TEST

START_TEST(a_renamed_table_goes_on_without_a_copy)
{
    struct walk w = following(0);
    sql_exec(w.db, "update note set body = 'before' where id = 1; alter table note rename to memo;"
                   "update memo set body = 'after' where id = 2");
    w.table = "public.memo";
    walk_again(&w);
    ck_assert_ptr_null(w.capture->again);
    ck_assert_uint_eq(walk_drain(&w), 2);
    ck_assert_int_eq(walk_differences(&w, "select id::text, coalesce(body, '~') from memo"), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_disabled_trigger_is_named_and_what_it_missed_is_copied_again)
{
    struct walk w = following(0);
    struct err err = {0};
    sql_exec(w.db, "alter table note disable trigger rowferry_1_update");
    sql_exec(w.db, "update note set body = 'unseen' where id = 1");
    walk_expect_lost(&w, "the triggers of \"public\".\"note\" were changed");
    ck_assert_int_eq(w.capture->ops->resume(w.capture, w.position, &err), ERR_STATE);
    ck_assert_msg(strstr(err.message, "rowferry_1_update") != NULL, "%s", err.message);
    sql_exec(w.db, "alter table note enable always trigger rowferry_1_update");
    walk_expect_again(&w, "the triggers of"); /* the fingerprint reveals it */
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_re_created_table_is_not_read_as_if_it_were_the_old_one)
{
    struct walk w = following(0);
    struct err err = {0};
    sql_exec(w.db, "drop table note; " NOTES);
    ck_assert_int_lt(walk_try(&w, &err), 0);
    ck_assert_int_ne(w.capture->ops->resume(w.capture, w.position, &err), 0);
    ck_assert_msg(strstr(err.message, "no triggers are installed") != NULL, "%s", err.message);
    walk_install(&w);
    ck_assert_int_eq(w.capture->ops->resume(w.capture, w.position, &err), ERR_STATE);
    ck_assert_msg(strstr(err.message, "was re-created") != NULL, "%s", err.message);
    ck_assert_msg(strstr(err.hint, "rowferry reindex") != NULL, "%s", err.hint);
    ck_assert(err.drift);
    walk_free(&w);
}
END_TEST

START_TEST(a_re_created_database_is_not_read_as_if_it_were_the_old_one)
{
    struct walk w = following(0);
    struct err err = {0};
    char *name = sql_text(w.db, "select current_database()");
    char *server = text_copy(w.uri);
    strcpy(strrchr(server, '/'), "/postgres");
    walk_close(&w);
    PQfinish(w.db);
    w.db = sql_open(server);
    sql_exec(w.db, "drop database %s with (force)", name);
    sql_exec(w.db, "create database %s", name);
    PQfinish(w.db);
    w.db = sql_open(w.uri);
    sql_exec(w.db, "%s", NOTES);
    walk_install(&w);
    walk_open(&w);
    ck_assert_int_eq(w.capture->ops->resume(w.capture, w.position, &err), ERR_STATE);
    ck_assert_msg(strstr(err.message, "was re-created") != NULL, "%s", err.message);
    free(server);
    free(name);
    walk_free(&w);
}
END_TEST

SUITE_MAIN("source/absent", an_absent_consumer_expires_and_is_copied_again_when_it_comes_back,
           an_absent_consumer_of_a_large_log_expires_and_one_that_works_does_not,
           an_expired_consumer_whose_entries_are_still_there_goes_on,
           a_consumer_that_expires_while_its_process_stands_still_is_looked_at_anew,
           a_dropped_consumer_keeps_nothing,
           pruning_against_a_new_consumer_leaves_it_all_that_it_needs,
           a_renamed_table_goes_on_without_a_copy,
           a_disabled_trigger_is_named_and_what_it_missed_is_copied_again,
           a_re_created_table_is_not_read_as_if_it_were_the_old_one,
           a_re_created_database_is_not_read_as_if_it_were_the_old_one)
