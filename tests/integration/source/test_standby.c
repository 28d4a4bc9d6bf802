/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the change log from a streaming standby, and its promotion. */
#include "cluster.h"
#include "notes.h"
#include "rowferry/source/pg/consumer_lock.h"

static PGconn *standby_db;

/* Starts a walk that reads from the standby, where its table already exists. */
static struct walk reading(void)
{
    struct walk w = notes();
    walk_new(&w, NOTES);
    sql_exec(w.db, "insert into note select i, 'old ' || i from generate_series(1, 20) i");
    cluster_await_replay(&pair.primary, &pair.standby);
    w.reads = cluster_uri(&pair.standby, w.uri);
    standby_db = sql_open(w.reads);
    return w;
}

static void read_free(struct walk *w)
{
    PQfinish(standby_db);
    walk_close(w);
    free(w->position);
    free(w->reads);
    free(w->uri);
    PQfinish(w->db);
}

/* Reads everything that the primary has committed, once. */
static size_t caught_up(struct walk *w)
{
    cluster_await_replay(&pair.primary, &pair.standby);
    return walk_drain(w);
}

START_TEST(changes_come_through_the_standby_and_the_log_is_pruned_on_the_primary)
{
    struct walk w = reading();
    walk_start(&w);
    walk_copy(&w);
    ck_assert_uint_eq(caught_up(&w), 0);
    sql_exec(w.db, "update note set body = 'new' where id = 1; delete from note where id = 2;"
                   "insert into note values (21, 'more')");
    ck_assert_uint_eq(caught_up(&w), 3);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    struct deadline deadline = deadline_after(WAIT_MS);
    do {
        caught_up(&w);
        walk_release(&w);
        ck_assert(deadline_wait(&deadline));
    } while (sql_int(w.db, "select count(*) from rowferry.change") > 0);
    walk_again(&w);
    ck_assert_uint_eq(caught_up(&w), 0);
    read_free(&w);
}
END_TEST

/* A standby's snapshots do not list running transactions. */
START_TEST(what_commits_beside_an_open_transaction_is_read_once_and_not_lost)
{
    struct walk w = reading();
    walk_start(&w);
    walk_copy(&w);
    caught_up(&w);
    PGconn *slow = sql_open(w.uri);
    sql_exec(slow, "begin; update note set body = 'slow' where id = 1");
    sql_exec(w.db, "update note set body = 'quick' where id = 2");
    cluster_await_replay(&pair.primary, &pair.standby);
    size_t seen = 0;
    for (int i = 0; i < 5; i++) {
        walk_page(&w);
        seen += w.rows;
    }
    sql_exec(slow, "commit");
    sql_exec(w.db, "update note set body = 'last' where id = 3");
    seen += caught_up(&w);
    ck_assert_uint_eq(seen, 3);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    PQfinish(slow);
    read_free(&w);
}
END_TEST

START_TEST(a_first_snapshot_of_a_late_standby_leaves_no_gap)
{
    struct walk w = reading();
    struct err err = {0};
    struct buf position;
    buf_init(&position, 4096);
    sql_exec(standby_db, "select pg_wal_replay_pause()");
    sql_exec(w.db, "update note set body = 'before' where id = 1");
    walk_open(&w);
    ck_assert_int_eq(w.capture->ops->start(w.capture, &position, &err), ERR_TRANSIENT);
    ck_assert_ptr_nonnull(strstr(err.message, "has not replayed"));
    sql_exec(w.db, "update note set body = 'between' where id = 2");
    sql_exec(standby_db, "select pg_wal_replay_resume()");
    cluster_await_replay(&pair.primary, &pair.standby);
    walk_begin(&w);
    buf_release(&position);
    sql_exec(w.db, "update note set body = 'after' where id = 3");
    walk_copy(&w);
    caught_up(&w);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    read_free(&w);
}
END_TEST

/* Its rows are older than those in the index. */
START_TEST(a_standby_behind_the_position_is_waited_for)
{
    struct walk w = reading();
    struct err err = {0};
    sql_exec(standby_db, "select pg_wal_replay_pause()");
    char *reads = w.reads;
    w.reads = NULL;
    walk_start(&w); /* on the primary */
    walk_copy(&w);
    sql_exec(w.db, "update note set body = 'new' where id = 1");
    walk_drain(&w);
    walk_release(&w);
    walk_close(&w);
    w.reads = reads;
    walk_open(&w);
    ck_assert_int_eq(w.capture->ops->resume(w.capture, w.position, &err), ERR_TRANSIENT);
    sql_exec(standby_db, "select pg_wal_replay_resume()");
    cluster_await_replay(&pair.primary, &pair.standby);
    walk_again(&w);
    caught_up(&w);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    read_free(&w);
}
END_TEST

static void refused(const char *uri, const char *primary, const char *says)
{
    struct err err = {0};
    struct pg *pg = walk_connect_to(uri, primary);
    struct walk w = notes();
    struct table *table = walk_table(&w, pg);
    ck_assert_int_eq(installed_require_current(pg, table, &err), ERR_REJECTED);
    ck_assert_msg(strstr(err.message, says) != NULL, "%s", err.message);
    catalog_table_free(table);
    pg_close(pg);
}

START_TEST(a_standby_without_its_primary_is_refused_by_name)
{
    struct walk w = reading();
    struct err err = {0};
    char *other = cluster_uri(&pair.primary, "/postgres");
    refused(w.reads, NULL, "the source is a standby");
    refused(w.reads, w.reads, "source.primary is not a primary");
    refused(w.reads, other, "source.primary is another database");
    struct pg *first = walk_connect_to(w.reads, w.uri);
    struct pg *second = walk_connect(w.uri);
    must(consumer_lock_hold(first, "test/one", &err), &err);
    ck_assert_int_eq(consumer_lock_hold(second, "test/one", &err), ERR_HELD);
    pg_close(first);
    pg_close(second);
    free(other);
    walk_open(&w);
    read_free(&w);
}
END_TEST

/* The standby never received changes that the primary committed and the pipeline read. */
START_TEST(a_promotion_under_a_reader_is_named_and_everything_is_copied_again)
{
    struct walk w = reading();
    struct err err = {0};
    walk_start(&w);
    walk_copy(&w);
    caught_up(&w);
    walk_release(&w);
    cluster_promote(&pair.standby);
    ck_assert_int_eq(walk_try(&w, &err), ERR_TRANSIENT);
    ck_assert_ptr_nonnull(strstr(err.message, "has been promoted"));
    must(w.capture->ops->resume(w.capture, w.position, &err), &err);
    ck_assert_ptr_nonnull(strstr(w.capture->again, "timeline 2"));
    sql_exec(standby_db, "update note set body = 'promoted' where id = 1");
    walk_copy(&w);
    walk_page(&w);
    ck_assert_msg(w.copying, "%s", w.position);
    walk_page(&w);
    ck_assert(w.judged && w.again);
    walk_drain(&w);
    ck_assert_ptr_nonnull(strstr(w.position, " on 2"));
    walk_again(&w);
    ck_assert_ptr_null(w.capture->again);
    char *body = sql_text(w.db, "select content from mirror where key = '1'");
    ck_assert_str_eq(body, "promoted");
    free(body);
    read_free(&w);
}
END_TEST

static bool news(struct walk *w)
{
    struct err err = {0};
    bool any = false;
    must(w->capture->ops->news(w->capture, &any, &err), &err);
    return any;
}

/* Between two pages there may be no other sign of it for a while: the sessions survive. */
START_TEST(an_idle_poll_notices_the_promotion)
{
    struct walk w = reading();
    struct deadline deadline = deadline_after(WAIT_MS);
    walk_start(&w);
    walk_copy(&w);
    do {
        caught_up(&w);
        walk_release(&w);
        ck_assert(deadline_wait(&deadline));
    } while (news(&w));
    cluster_promote(&pair.standby);
    ck_assert(news(&w));
    walk_expect_lost(&w, "has been promoted");
    read_free(&w);
}
END_TEST

PAIR_MAIN("source/standby", changes_come_through_the_standby_and_the_log_is_pruned_on_the_primary,
          what_commits_beside_an_open_transaction_is_read_once_and_not_lost,
          a_first_snapshot_of_a_late_standby_leaves_no_gap,
          a_standby_behind_the_position_is_waited_for,
          a_standby_without_its_primary_is_refused_by_name,
          a_promotion_under_a_reader_is_named_and_everything_is_copied_again,
          an_idle_poll_notices_the_promotion)
