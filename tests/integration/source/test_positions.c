/* SPDX-License-Identifier: Apache-2.0 */
/* Positions in the change log: idle, pruned, restarted, lost, locked. */
#include "notes.h"
#include "pg/pg_private.h"
#include "rowferry/base/embed.h"

START_TEST(an_idle_poll_neither_moves_nor_writes)
{
    struct walk w = following(0);
    sql_exec(w.db, "update note set body = 'x' where id = 1");
    walk_settle(&w);
    walk_again(&w);
    char *before = text_copy(w.position);
    char *row = sql_text(w.db, "select ctid || ' ' || xmin from rowferry.consumer");
    for (int i = 0; i < 5; i++) {
        sql_exec(w.db, "select pg_current_xact_id()"); /* another session writes something */
        walk_page(&w);
        ck_assert(w.drained);
        walk_release(&w);
    }
    char *after = sql_text(w.db, "select ctid || ' ' || xmin from rowferry.consumer");
    ck_assert_str_eq(w.position, before);
    ck_assert_str_eq(row, after);
    free(row);
    free(after);
    free(before);
    walk_free(&w);
}
END_TEST

START_TEST(entries_are_pruned_behind_the_slowest_consumer)
{
    struct walk w = following(0);
    sql_exec(w.db, "update note set body = 'x'");
    walk_drain(&w);
    ck_assert_int_ge(sql_int(w.db, "select count(*) from rowferry.change"), 20);
    sql_exec(w.db, "insert into rowferry.consumer select 'slow', capture, position, keep, "
                   "triggers, definition, filenode, versions from rowferry.consumer");
    walk_release(&w);
    ck_assert_int_ge(sql_int(w.db, "select count(*) from rowferry.change"), 20);
    sql_exec(w.db, "delete from rowferry.consumer where name = 'slow'");
    sql_exec(w.db, "update note set body = 'y' where id = 1");
    walk_again(&w);
    walk_settle(&w);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

/* Any transaction of the cluster delays the pruning of its entries. */
START_TEST(what_a_short_run_left_to_prune_the_next_one_prunes)
{
    struct walk w = following(0);
    struct deadline deadline = deadline_after(WAIT_MS);
    sql_exec(w.db, "update note set body = 'x'");
    walk_drain(&w);
    ck_assert_int_ge(sql_int(w.db, "select count(*) from rowferry.change"), 20);
    do {
        sql_exec(w.db,
                 "update rowferry.consumer set keep = pg_snapshot_xmax(pg_current_snapshot())");
        walk_again(&w);
        walk_page(&w);
    } while (sql_int(w.db, "select count(*) from rowferry.change") > 0 && deadline_wait(&deadline));
    ck_assert_int_eq(sql_int(w.db, "select count(*) from rowferry.change"), 0);
    walk_free(&w);
}
END_TEST

/* Returns the number of buffers that one of our statements reads. */
static int looked_at(struct pg *pg, const char *name, const char *const *params, size_t count)
{
    struct err err = {0};
    struct pg_result *r = NULL;
    struct buf sql;
    int hits = -1;
    buf_init(&sql, 65536);
    buf_push_text(&sql, "explain (analyze, buffers, timing off) ");
    buf_push_text(&sql, embed_text(source_sql, name));
    must(pg_query(pg, &r, "any: text", buf_text(&sql), params, count, &err), &err);
    for (size_t i = 0; i < pg_rows(r) && hits < 0; i++) {
        const char *hit = strstr(pg_text(r, i, 0), "shared hit=");
        hits = hit != NULL ? atoi(hit + strlen("shared hit=")) : -1; /* of the whole statement */
    }
    pg_result_release(r);
    buf_release(&sql);
    return hits > 0 ? hits : 0;
}

static char *snapshot_of(const struct walk *w)
{
    char *last = text_copy(w->position + strlen("log "));
    last[strcspn(last, " ")] = '\0';
    return last;
}

START_TEST(a_poll_reads_only_the_index_behind_its_position)
{
    struct walk w = following(0);
    sql_exec(w.db, "insert into rowferry.change (capture, op, key) select 1, 'U', '1' from "
                   "generate_series(1, 20000); analyze rowferry.change");
    walk_drain(&w);
    struct pg *pg = walk_connect(w.uri);
    char *last = snapshot_of(&w);
    const char *const params[] = {"1", last, NULL, "0", "0", "5000"};
    int hits = looked_at(pg, "page_newer", params, 6);
    ck_assert_msg(hits > 0 && hits < 10, "%d buffers", hits);
    free(last);
    pg_close(pg);
    walk_free(&w);
}
END_TEST

/* A dump, or a standby with hot_standby_feedback: dead index entries cannot be removed. */
START_TEST(pruned_entries_are_not_walked_while_another_session_might_see_them)
{
    struct walk w = following(0);
    struct err err = {0};
    PGconn *other = sql_open(w.uri);
    sql_exec(other, "begin isolation level repeatable read");
    ck_assert_int_eq(sql_int(other, "select 1"), 1); /* takes its snapshot here */
    sql_exec(w.db, "insert into rowferry.change (capture, op, key) select 1, 'U', '1' from "
                   "generate_series(1, 20000); analyze rowferry.change");
    walk_settle(&w);
    struct pg *pg = walk_connect(w.uri);
    char *last = snapshot_of(&w);
    char *next = sql_text(w.db, "select pg_snapshot_xmax(pg_current_snapshot())");
    const struct {
        const char *name;
        const char *params[6];
        size_t count;
    } asked[] = {
        {"poll_news", {"{1}", last, "f", "f"}, 4},
        {"page_newer", {"1", last, NULL, "0", "0", "5000"}, 6},
        {"page_waited", {"1", last, NULL, "0", "0", "5000"}, 6},
        {"page_due", {"{1}", last, NULL}, 3},
        {"log_waiting", {"{1}", last, "0", "0", "10000"}, 5},
        {"consumer_look", {"test/one", "1", NULL}, 3},
        {"consumer_entries", {"1", next}, 2},
        {"consumer_prune", {"1", "5000"}, 2},
    };
    must(pg_script(pg, "begin read write", &err), &err);
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        must(pg_query(pg, NULL, NULL, embed_text(source_sql, asked[i].name), asked[i].params,
                      asked[i].count, &err),
             &err); /* fills the catalogue caches of functions */
        int hits = 60;
        for (int tries = 0; tries < 3 && hits >= 60;
             tries++) { /* others make it forget catalogues */
            hits = looked_at(pg, asked[i].name, asked[i].params, asked[i].count);
        }
        ck_assert_msg(hits < 60, "%s: %d buffers", asked[i].name, hits);
    }
    sql_exec(other, "commit");
    PQfinish(other);
    free(last);
    free(next);
    pg_close(pg);
    walk_free(&w);
}
END_TEST

START_TEST(a_position_behind_the_pruning_is_named_and_copied_again)
{
    struct walk w = following(0);
    struct err err = {0};
    char *old = text_copy(w.position);
    sql_exec(w.db, "update note set body = 'x'");
    walk_settle(&w);
    must(w.capture->ops->resume(w.capture, old, &err), &err);
    ck_assert_ptr_nonnull(strstr(w.capture->again, "was pruned"));
    sql_exec(w.db, "truncate mirror");
    walk_page(&w);
    ck_assert(w.copying);
    walk_page(&w);
    ck_assert(w.judged && w.again); /* lost changes have no entry, so the index must be checked */
    walk_again(&w);                 /* a crash before the answer */
    walk_page(&w);
    ck_assert(w.judged && w.again);
    walk_page(&w);
    ck_assert(w.drained && strstr(w.position, "again") == NULL);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    free(old);
    walk_free(&w);
}
END_TEST

/* Pretends that the server has restarted or recovered since the position was recorded. */
static void of_another_life(struct walk *w)
{
    char *life = strstr(w->position, " at ");
    ck_assert_ptr_nonnull(life);
    life[4] = life[4] == '1' ? '2' : '1';
}

START_TEST(after_a_restart_of_the_server_reading_goes_on_from_the_mirror)
{
    struct walk w = following(0);
    sql_exec(w.db, "update note set body = 'once' where id = 1");
    walk_drain(&w); /* not released: the source knows an older position */
    of_another_life(&w);
    walk_again(&w);
    ck_assert_uint_eq(walk_drain(&w), 1);
    walk_free(&w);
}
END_TEST

/* The changes are settled now, but were read before the server lost its memory. */
START_TEST(what_was_read_before_a_restart_is_not_told_after_it)
{
    struct walk w = following(0);
    sql_exec(w.db, "update note set body = 'once' where id = 1");
    walk_drain(&w);
    of_another_life(&w);
    walk_again(&w);
    char *before = sql_text(w.db, "select position from rowferry.consumer");
    walk_release(&w);
    char *after = sql_text(w.db, "select position from rowferry.consumer");
    ck_assert_str_eq(before, after);
    ck_assert_uint_eq(walk_drain(&w), 1);
    walk_release(&w);
    free(after);
    after = sql_text(w.db, "select position from rowferry.consumer");
    ck_assert_str_ne(before, after);
    free(before);
    free(after);
    walk_free(&w);
}
END_TEST

START_TEST(a_consumer_that_the_source_does_not_know_is_copied_again)
{
    struct walk w = following(0);
    sql_exec(w.db, "delete from rowferry.consumer; update note set body = 'unseen'; "
                   "delete from rowferry.change");
    walk_expect_again(&w, "does not know the consumer \"test/one\"");
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

/* Others may have pruned entries that the consumer has not read. */
START_TEST(a_consumer_that_is_dropped_while_it_reads_is_told_so)
{
    struct walk w = following(0);
    struct err err = {0};
    sql_exec(w.db, "select rowferry.drop_consumer('test/one')");
    sql_exec(w.db, "update note set body = 'x' where id = 1");
    walk_drain(&w);
    struct mirror mirror = {w.position, 1, "{}"};
    ck_assert_int_eq(w.capture->ops->release(w.capture, &mirror, true, &err), ERR_TRANSIENT);
    walk_expect_again(&w, "does not know the consumer");
    walk_free(&w);
}
END_TEST

START_TEST(a_definition_that_the_plan_does_not_know_is_told)
{
    struct walk w = notes();
    walk_new(&w, NOTES);
    walk_expect_changed(&w);
    walk_free(&w);
}
END_TEST

START_TEST(a_lost_connection_is_made_anew_by_resume)
{
    struct walk w = following(0);
    struct err err = {0};
    sql_exec(w.db, "select pg_terminate_backend(pid) from pg_stat_activity where datname = "
                   "current_database() and application_name = 'rowferry test'");
    ck_assert_int_eq(walk_try(&w, &err), ERR_TRANSIENT);
    sql_exec(w.db, "update note set body = 'after' where id = 1");
    must(w.capture->ops->resume(w.capture, w.position, &err), &err);
    ck_assert_uint_eq(walk_drain(&w), 1);
    walk_free(&w);
}
END_TEST

START_TEST(a_locked_table_is_temporary_and_named)
{
    struct walk w = following(0);
    struct err err = {0};
    sql_exec(w.db, "begin; lock table note in access exclusive mode");
    ck_assert_int_eq(walk_try(&w, &err), ERR_TRANSIENT);
    ck_assert_str_eq(err.sqlstate, "55P03");
    ck_assert_ptr_nonnull(strstr(err.message, "\"note\""));
    sql_exec(w.db, "rollback");
    must(w.capture->ops->resume(w.capture, w.position, &err), &err);
    ck_assert_uint_eq(walk_drain(&w), 0);
    walk_free(&w);
}
END_TEST

START_TEST(what_is_not_yet_read_can_be_counted)
{
    struct walk w = following(0);
    struct err err = {0};
    int64_t entries = 0;
    struct pg *pg = walk_connect(w.uri);
    sql_exec(w.db, "update note set body = 'x'");
    must(changelog_pending(pg, (const char *const[]){"public.note"}, 1, w.position, &entries, &err),
         &err);
    ck_assert_int_eq(entries, 20);
    walk_drain(&w);
    must(changelog_pending(pg, (const char *const[]){"note"}, 1, w.position, &entries, &err), &err);
    ck_assert_int_eq(entries, 0);
    must(changelog_pending(pg, (const char *const[]){"note", "absent"}, 2, w.position, &entries,
                           &err),
         &err);
    ck_assert_int_eq(entries, -1);
    pg_close(pg);
    walk_free(&w);
}
END_TEST

SUITE_MAIN("source/positions", an_idle_poll_neither_moves_nor_writes,
           entries_are_pruned_behind_the_slowest_consumer,
           what_a_short_run_left_to_prune_the_next_one_prunes,
           a_poll_reads_only_the_index_behind_its_position,
           pruned_entries_are_not_walked_while_another_session_might_see_them,
           a_position_behind_the_pruning_is_named_and_copied_again,
           after_a_restart_of_the_server_reading_goes_on_from_the_mirror,
           what_was_read_before_a_restart_is_not_told_after_it,
           a_consumer_that_the_source_does_not_know_is_copied_again,
           a_consumer_that_is_dropped_while_it_reads_is_told_so,
           a_definition_that_the_plan_does_not_know_is_told,
           a_lost_connection_is_made_anew_by_resume, a_locked_table_is_temporary_and_named,
           what_is_not_yet_read_can_be_counted)
