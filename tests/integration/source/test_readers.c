/* SPDX-License-Identifier: Apache-2.0 */
/* An initial load with several readers: the same result as with one, despite concurrent changes. */
#include "copy/snapshot_worker.h"
#include "walk.h"

static const char *const columns[] = {"tenant", "body"};

#define NOTES                                                                                      \
    "create table note (tenant text collate \"C\", id int, body text, primary key (tenant, id))"
#define FILL                                                                                       \
    "insert into note select 't' || i %% 7, i, repeat('x', 300) || i from generate_series(1, "     \
    "2000) i"
#define NOTES_QUERY "select tenant || ':' || id as key, tenant || '|' || body as content from note"
#define ROWS 2000
#define CHUNK_ROWS 100 /* a reader leaves at most about 30,000 bytes unsettled */

static struct walk notes(size_t readers)
{
    return (struct walk){.table = "note",
                         .columns = columns,
                         .column_count = 2,
                         .page_rows = 300,
                         .page_blocks = 30,
                         .chunk_bytes = 30000,
                         .readers = readers};
}

static struct walk filled(size_t readers)
{
    struct walk w = notes(readers);
    walk_new(&w, NOTES);
    sql_exec(w.db, FILL);
    sql_exec(w.db, "analyze note");
    walk_start(&w);
    return w;
}

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

static struct walk filled_by_keys(size_t readers)
{
    struct walk w = filled(readers);
    go_by_keys(&w, "first");
    return w;
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

static void must_be_equal(struct walk *w)
{
    walk_drain(w);
    ck_assert_int_eq(walk_differences(w, NOTES_QUERY), 0);
}

/* --- breaking off and resuming --------------------------------------------------------------- */

struct leaving {
    struct walk *walk;
    size_t left;
    const size_t *readers; /* numbers of readers to resume with, in turn; null: the same number */
    size_t readers_count;
};

static bool leave(void *context)
{
    struct leaving *l = context;
    if (l->readers != NULL) {
        l->walk->readers = l->readers[l->left % l->readers_count];
    }
    l->left++;
    return true;
}

/* Breaks off at each safepoint; returns the number of rows. Rows after the other readers'
 * safepoints may be repeated, but no more than that. */
static size_t copy_left_at_every_mark(struct walk *w, struct leaving *l)
{
    size_t rows = 0;
    l->walk = w;
    w->breaks = leave;
    w->context = l;
    while (copying(w)) {
        struct position before = {0};
        struct position after = {0};
        struct err err = {0};
        must(position_parse(&before, w->position, &err), &err);
        walk_page(w);
        must(position_parse(&after, w->position, &err), &err);
        if (before.kind == POSITION_BLOCKS) {
            ck_assert_int_gt(position_compare(&after, &before), 0);
        }
        position_release(&before);
        position_release(&after);
        rows += w->rows;
    }
    w->breaks = NULL;
    ck_assert_int_eq(walk_differences(w, NOTES_QUERY), 0);
    return rows;
}

static void must_leave_and_go_on(struct walk w, const size_t *readers, size_t readers_count)
{
    struct leaving l = {.readers = readers, .readers_count = readers_count};
    size_t rows = copy_left_at_every_mark(&w, &l);
    ck_assert_uint_ge(l.left, 10);
    ck_assert_uint_ge(rows, ROWS);
    ck_assert_uint_le(rows, ROWS + l.left * CHUNK_ROWS);
    walk_free(&w);
}

START_TEST(two_readers_of_blocks_that_are_left_at_a_mark_go_on_there)
{
    must_leave_and_go_on(filled(2), NULL, 0);
}
END_TEST

START_TEST(two_readers_of_keys_that_are_left_at_a_mark_go_on_there)
{
    must_leave_and_go_on(filled_by_keys(2), NULL, 0);
}
END_TEST

static const size_t fewer_and_more[] = {1, 3, 2, 1, 1, 2};

START_TEST(a_copy_by_blocks_goes_on_with_fewer_or_more_readers)
{
    must_leave_and_go_on(filled(2), fewer_and_more, 6);
}
END_TEST

START_TEST(a_copy_by_keys_goes_on_with_fewer_or_more_readers)
{
    must_leave_and_go_on(filled_by_keys(2), fewer_and_more, 6);
}
END_TEST

/* --- connections ----------------------------------------------------------------------------- */

static bool count_connections(void *context)
{
    const struct walk *w = context;
    await_connections(w, 2);
    return false;
}

static void must_use_two(struct walk w)
{
    w.breaks = count_connections;
    w.context = &w;
    walk_page(&w);
    ck_assert_uint_ge(w.marks, 2);
    w.breaks = NULL;
    walk_copy(&w);
    await_connections(&w, 1);
    must_be_equal(&w);
    walk_free(&w);
}

START_TEST(two_readers_of_blocks_are_two_connections_until_the_copy_is_over)
{
    must_use_two(filled(2));
}
END_TEST

START_TEST(two_readers_of_keys_are_two_connections_until_the_copy_is_over)
{
    must_use_two(filled_by_keys(2));
}
END_TEST

START_TEST(a_small_table_is_read_with_one_connection)
{
    struct walk w = notes(4);
    walk_new(&w, NOTES);
    sql_exec(w.db, "insert into note select 'a', i, 'x' from generate_series(1, 200) i");
    sql_exec(w.db, "analyze note");
    walk_start(&w);
    walk_page(&w);
    await_connections(&w, 1);
    ck_assert(!copying(&w));
    must_be_equal(&w);
    walk_free(&w);
}
END_TEST

struct ending {
    struct walk *walk;
    bool ended;
};

/* Terminates the newest connection while it has more to read. */
static bool end_newest(void *context)
{
    struct ending *e = context;
    if (!e->ended) {
        e->ended = true;
        ck_assert_int_eq(sql_int(e->walk->db,
                                 "select pg_terminate_backend(pid)::int from pg_stat_activity "
                                 "where datname = current_database() and "
                                 "application_name = 'rowferry test' "
                                 "order by backend_start desc limit 1"),
                         1);
    }
    return false;
}

static void must_survive_the_end_of_one(struct walk w)
{
    struct ending e = {.walk = &w};
    struct err err = {0};
    w.breaks = end_newest;
    w.context = &e;
    int rc = 0;
    while (rc == 0 && copying(&w)) {
        rc = walk_try(&w, &err);
    }
    ck_assert(e.ended);
    ck_assert_int_eq(rc, ERR_TRANSIENT);
    ck_assert(copying(&w));
    walk_again(&w);
    walk_copy(&w);
    must_be_equal(&w);
    walk_free(&w);
}

START_TEST(two_readers_of_blocks_of_which_one_loses_its_connection_go_on_at_the_last_mark)
{
    must_survive_the_end_of_one(filled(2));
}
END_TEST

START_TEST(two_readers_of_keys_of_which_one_loses_its_connection_go_on_at_the_last_mark)
{
    must_survive_the_end_of_one(filled_by_keys(2));
}
END_TEST

/* --- concurrent changes ---------------------------------------------------------------------- */

/* Moves rows to other blocks, and across the readers' positions. */
static bool move_rows(void *context)
{
    struct ending *e = context;
    static int turn;
    turn++;
    sql_exec(e->walk->db, "update note set body = 'changed ' || %d where id %% 5 = %d", turn,
             turn % 5);
    sql_exec(e->walk->db, "update note set tenant = 't' || (id + %d) %% 9 where id %% 17 = %d",
             turn, turn % 17);
    sql_exec(e->walk->db, "delete from note where id %% 101 = %d", turn % 101);
    sql_exec(e->walk->db, "insert into note values ('t%d', %d, 'new')", turn % 9, 10000 + turn);
    return false;
}

static void must_see_all_that_moves(struct walk w)
{
    struct ending e = {.walk = &w};
    w.breaks = move_rows;
    w.context = &e;
    walk_copy(&w);
    w.breaks = NULL;
    must_be_equal(&w);
    walk_free(&w);
}

START_TEST(rows_that_move_between_the_block_ranges_of_two_readers_arrive)
{
    must_see_all_that_moves(filled(2));
}
END_TEST

START_TEST(rows_that_move_between_the_key_ranges_of_two_readers_arrive)
{
    must_see_all_that_moves(filled_by_keys(2));
}
END_TEST

START_TEST(a_table_rewritten_between_two_pages_of_two_readers_is_copied_again)
{
    if (!server_has(140000)) { /* by keys there */
        return;
    }
    struct walk w = filled(2);
    struct capture_progress progress;
    walk_page(&w);
    sql_exec(w.db, "delete from note where id < 500");
    sql_exec(w.db, "insert into note select 'b', 30000 + i, 'new' from generate_series(1, 50) i");
    sql_exec(w.db, "vacuum full note");
    walk_page(&w);
    ck_assert_uint_gt(w.rows, 0);
    w.capture->ops->progress(w.capture, &progress);
    ck_assert_int_eq(progress.rows_read, (int64_t)w.rows);
    sql_exec(w.db, "cluster note using note_pkey");
    walk_again(&w);
    walk_copy(&w);
    must_be_equal(&w);
    walk_free(&w);
}
END_TEST

/* An ALTER TABLE waits for the first reader, and the second reader would wait behind it. */
START_TEST(a_second_reader_does_not_queue_behind_who_waits_for_the_first)
{
    if (!server_has(140000)) { /* by keys there */
        return;
    }
    struct walk w = filled(2);
    struct err err = {0};
    walk_close(&w);
    const struct changelog_options options = {.consumer = "test/one",
                                              .table = w.table,
                                              .columns = w.columns,
                                              .column_count = w.column_count,
                                              .page_blocks = 20,
                                              .chunk_bytes = w.chunk_bytes};
    struct changelog *first = changelog_new(walk_connect(w.uri), &options);
    struct changelog *second = NULL;
    must(first->capture.ops->resume(&first->capture, w.position, &err), &err);
    must(snapshot_worker_open(&second, first, &err), &err);
    position_copy(&second->position.at, &first->position.at);
    must(first->capture.ops->begin(&first->capture, &err), &err);
    PGconn *altering = sql_open(w.uri);
    ck_assert_int_eq(PQsendQuery(altering, "begin; lock table note in access exclusive mode"), 1);
    struct deadline deadline = deadline_after(WAIT_MS);
    while (sql_int(w.db,
                   "select count(*) from pg_locks where not granted and "
                   "mode = 'AccessExclusiveLock' and pid = %d",
                   PQbackendPID(altering)) == 0) {
        ck_assert(deadline_wait(&deadline));
    }
    ck_assert_int_eq(snapshot_worker_begin(second, &err), 1);
    second->capture.ops->free(&second->capture);
    first->capture.ops->free(&first->capture);
    PQfinish(altering);
    walk_free(&w);
}
END_TEST

START_TEST(rows_that_alter_table_changes_during_a_copy_by_two_readers_are_copied_again)
{
    if (!server_has(140000)) { /* by keys there */
        return;
    }
    struct walk w = filled(2);
    walk_page(&w);
    sql_exec(w.db, "alter table note alter column body type text using 'rewritten'");
    walk_page(&w);
    walk_again(&w);
    walk_copy(&w);
    must_be_equal(&w);
    walk_free(&w);
}
END_TEST

START_TEST(progress_only_grows_and_is_the_same_after_a_restart)
{
    if (!server_has(140000)) { /* by keys there */
        return;
    }
    struct walk w = filled(2);
    struct capture_progress progress;
    double share = 0;
    while (copying(&w)) {
        walk_page(&w);
        w.capture->ops->progress(w.capture, &progress);
        ck_assert(progress.share > share);
        share = progress.share;
        walk_again(&w);
        w.capture->ops->progress(w.capture, &progress);
        ck_assert(progress.share == share);
    }
    ck_assert(share == 1);
    walk_free(&w);
}
END_TEST

SUITE_MAIN("source/readers", two_readers_of_blocks_that_are_left_at_a_mark_go_on_there,
           two_readers_of_keys_that_are_left_at_a_mark_go_on_there,
           a_copy_by_blocks_goes_on_with_fewer_or_more_readers,
           a_copy_by_keys_goes_on_with_fewer_or_more_readers,
           two_readers_of_blocks_are_two_connections_until_the_copy_is_over,
           two_readers_of_keys_are_two_connections_until_the_copy_is_over,
           a_small_table_is_read_with_one_connection,
           two_readers_of_blocks_of_which_one_loses_its_connection_go_on_at_the_last_mark,
           two_readers_of_keys_of_which_one_loses_its_connection_go_on_at_the_last_mark,
           rows_that_move_between_the_block_ranges_of_two_readers_arrive,
           rows_that_move_between_the_key_ranges_of_two_readers_arrive,
           a_table_rewritten_between_two_pages_of_two_readers_is_copied_again,
           a_second_reader_does_not_queue_behind_who_waits_for_the_first,
           rows_that_alter_table_changes_during_a_copy_by_two_readers_are_copied_again,
           progress_only_grows_and_is_the_same_after_a_restart)
