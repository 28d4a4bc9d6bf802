/* SPDX-License-Identifier: Apache-2.0 */
/* The initial load: complete despite concurrent changes, and resumable after any page. */
#include "changelog/position.h"
#include "walk.h"

static const char *const columns[] = {"tenant", "body"};

#define NOTES                                                                                      \
    "create table note (tenant text collate \"C\", id int, body text, primary key (tenant, id))"
#define FILL                                                                                       \
    "insert into note select 't' || i % 7, i, repeat('x', 300) || i from generate_series(1, "      \
    "2000) i"
#define NOTES_QUERY "select tenant || ':' || id as key, tenant || '|' || body as content from note"

static struct walk notes(void)
{
    return (struct walk){
        .table = "note", .columns = columns, .column_count = 2, .page_rows = 300, .page_blocks = 8};
}

static struct walk filled(void)
{
    struct walk w = notes();
    walk_new(&w, NOTES);
    sql_exec(w.db, "%s", FILL);
    walk_start(&w);
    return w;
}

/* The same load by key ranges, as for a table whose rows cannot be addressed by block. */
static struct walk filled_by_keys(const char *range)
{
    struct walk w = filled();
    struct position p = {0};
    struct err err = {0};
    struct buf text;
    buf_init(&text, 4096);
    must(position_parse(&p, w.position, &err), &err);
    buf_printf(&text, "copy keys %s from %s", range, p.last);
    position_release(&p);
    free(w.position);
    w.position = buf_detach(&text);
    walk_again(&w);
    return w;
}

START_TEST(a_copy_by_blocks_is_complete_and_resumed_at_every_page)
{
    if (!server_has(140000)) { /* by keys there */
        return;
    }
    struct walk w = filled();
    struct capture_progress progress;
    size_t pages = 0;
    double share = 0;
    sql_exec(w.db, "analyze note");
    walk_again(&w);
    while (strncmp(w.position, "copy", 4) == 0) {
        walk_page(&w);
        ck_assert(w.copying);
        walk_again(&w);
        w.capture->ops->progress(w.capture, &progress);
        ck_assert(progress.share >= share);
        share = progress.share;
        pages++;
        ck_assert_double_eq_tol((double)progress.rows_read, share < 1 ? share * 2000 : 0, 1);
    }
    ck_assert_uint_gt(pages, 5);
    ck_assert(share == 1);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    ck_assert_uint_eq(walk_drain(&w), 0);
    walk_free(&w);
}
END_TEST

static bool always(void *context)
{
    (void)context;
    return true;
}

/* Breaks off at every safepoint. Nothing before a safepoint is repeated: 2,000 rows are read, not
 * more. */
static size_t copy_broken_at_every_mark(struct walk *w, size_t *breaks)
{
    size_t rows = 0;
    *breaks = 0;
    w->breaks = always;
    while (strncmp(w->position, "copy", 4) == 0) {
        walk_page(w);
        rows += w->rows;
        *breaks += w->broken;
    }
    ck_assert_int_eq(walk_differences(w, NOTES_QUERY), 0);
    return rows;
}

START_TEST(a_copy_by_blocks_that_is_left_at_a_mark_goes_on_there)
{
    struct walk w = notes();
    size_t breaks;
    w.page_blocks = 1000;
    w.chunk_bytes = 30000;
    walk_new(&w, NOTES);
    sql_exec(w.db, "%s", FILL);
    walk_start(&w);
    ck_assert_uint_eq(copy_broken_at_every_mark(&w, &breaks), 2000);
    ck_assert_uint_ge(breaks, 5);
    walk_free(&w);
}
END_TEST

START_TEST(a_copy_by_keys_that_is_left_at_a_mark_goes_on_there)
{
    struct walk w = filled_by_keys("first");
    size_t breaks;
    w.chunk_bytes = 30000;
    walk_again(&w);
    ck_assert_uint_eq(copy_broken_at_every_mark(&w, &breaks), 2000);
    ck_assert_uint_ge(breaks, 15);
    walk_free(&w);
}
END_TEST

START_TEST(changes_that_are_left_at_a_mark_go_on_there)
{
    struct walk w = notes();
    size_t rows = 0;
    size_t gone = 0;
    size_t breaks = 0;
    w.page_rows = 5000;
    w.chunk_bytes = 30000;
    walk_new(&w, NOTES);
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    sql_exec(w.db, "%s", FILL);
    sql_exec(w.db, "delete from note where id %% 3 = 0");
    w.breaks = always;
    do {
        walk_page(&w);
        rows += w.rows;
        gone += w.gone;
        breaks += w.broken;
    } while (!w.drained);
    ck_assert_uint_eq(rows, 1334);
    ck_assert_uint_ge(gone, 666); /* a key with a second entry is reported again */
    ck_assert_uint_ge(breaks, 5);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_copy_by_keys_is_complete_and_resumed_at_every_page)
{
    struct walk w = filled_by_keys("first");
    size_t pages = 0;
    size_t rows = 0;
    while (strncmp(w.position, "copy", 4) == 0) {
        walk_page(&w);
        rows += w.rows;
        walk_again(&w);
        pages++;
    }
    ck_assert_uint_eq(pages, 7);
    ck_assert_uint_eq(rows, 2000);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_copy_by_keys_tells_how_far_it_is_by_the_number_of_rows)
{
    struct walk w = filled_by_keys("first");
    struct capture_progress progress;
    walk_page(&w);
    w.capture->ops->progress(w.capture, &progress);
    ck_assert_int_eq(progress.rows_read, 300);
    ck_assert_double_eq_tol(progress.share, 0, 0.0001); /* the number of rows is unknown */
    sql_exec(w.db, "analyze note");
    walk_again(&w);
    walk_page(&w);
    w.capture->ops->progress(w.capture, &progress);
    ck_assert_int_eq(progress.rows_estimated, 2000);
    ck_assert(progress.rows_read > 0 && progress.rows_read < 2000);
    ck_assert_double_eq_tol(progress.share, (double)progress.rows_read / 2000, 0.0001);
    walk_copy(&w);
    w.capture->ops->progress(w.capture, &progress);
    ck_assert_double_eq_tol(progress.share, 1, 0.0001);
    walk_free(&w);
}
END_TEST

START_TEST(a_copy_by_keys_shows_rows_without_a_key_first)
{
    static const char *const key[] = {"code"};
    static const char *const body[] = {"body"};
    struct walk w = {.table = "note",
                     .key = key,
                     .key_count = 1,
                     .columns = body,
                     .column_count = 1,
                     .page_rows = 2};
    walk_new(&w, "create table note (code text unique, body text); insert into note values "
                 "('b %', 'x'), (null, 'y'), ('', 'z'), ('a', 'q'), (null, 'r')");
    walk_start(&w);
    free(w.position);
    w.position = sql_text(w.db, "select 'copy keys nulls from ' || pg_current_snapshot()");
    walk_again(&w);
    walk_page(&w);
    ck_assert_uint_eq(w.null_keys, 2);
    while (strncmp(w.position, "copy", 4) == 0) {
        walk_again(&w);
        walk_page(&w);
        ck_assert_uint_eq(w.null_keys, 0);
    }
    ck_assert_int_eq(walk_differences(&w, "select code as key, body as content from note where "
                                          "code is not null"),
                     0);
    walk_free(&w);
}
END_TEST

/* Reads one page, then changes rows before and after the current position. */
static void change_meanwhile(struct walk *w)
{
    walk_page(w);
    sql_exec(w->db, "update note set body = 'changed' where id %% 3 = 0;"
                    "delete from note where id %% 5 = 0;"
                    "update note set tenant = 'moved' where id %% 11 = 0;"
                    "insert into note select 'a', 10000 + i, 'new' from generate_series(1, 200) i;"
                    "insert into note select 'z', 20000 + i, 'new' from generate_series(1, 200) i");
    walk_copy(w);
    walk_drain(w);
}

START_TEST(changes_made_during_a_copy_by_blocks_arrive)
{
    struct walk w = filled();
    change_meanwhile(&w);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(changes_made_during_a_copy_by_keys_arrive)
{
    struct walk w = filled_by_keys("first");
    change_meanwhile(&w);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_transaction_open_since_before_the_copy_is_not_lost)
{
    struct walk w = notes();
    walk_new(&w, NOTES);
    sql_exec(w.db, "%s", FILL);
    PGconn *late = sql_open(w.uri);
    sql_exec(late, "begin; delete from note where id <= 100; insert into note values ('l', 1, "
                   "'late')");
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    sql_exec(late, "commit");
    walk_drain(&w);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    PQfinish(late);
    walk_free(&w);
}
END_TEST

START_TEST(a_table_rewritten_between_two_ranges_is_copied_again)
{
    struct walk w = filled();
    walk_page(&w);
    sql_exec(w.db, "delete from note where id < 500");
    sql_exec(w.db, "insert into note select 'b', 30000 + i, 'new' from generate_series(1, 50) i");
    sql_exec(w.db, "cluster note using note_pkey");
    walk_page(&w);
    sql_exec(w.db, "vacuum full note");
    walk_again(&w);
    walk_copy(&w);
    walk_drain(&w);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(rows_that_alter_table_changes_during_a_copy_by_blocks_are_copied_again)
{
    if (!server_has(140000)) { /* by keys there */
        return;
    }
    struct walk w = filled();
    walk_page(&w);
    sql_exec(w.db, "alter table note alter column body type text using 'rewritten'");
    walk_page(&w);
    walk_again(&w);
    walk_copy(&w);
    walk_drain(&w);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(rows_that_alter_table_changes_during_a_copy_by_keys_are_copied_again)
{
    struct walk w = filled_by_keys("first");
    walk_page(&w);
    sql_exec(w.db, "alter table note alter column body type text using 'rewritten'");
    walk_expect_lost(&w, "was rewritten by ALTER TABLE");
    walk_expect_again(&w, "was rewritten by ALTER TABLE");
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(an_empty_table_is_copied_at_once_and_then_followed)
{
    struct walk w = notes();
    walk_new(&w, NOTES);
    walk_start(&w);
    walk_page(&w);
    ck_assert_uint_eq(w.rows, 0);
    ck_assert(w.copying);
    ck_assert_int_eq(strncmp(w.position, "log ", 4), 0);
    sql_exec(w.db, "insert into note values ('a', 1, 'x')");
    ck_assert_uint_eq(walk_drain(&w), 1);
    walk_free(&w);
}
END_TEST

START_TEST(only_rows_that_match_the_condition_are_copied)
{
    struct walk w = notes();
    w.where = "id <= 50";
    walk_new(&w, NOTES);
    sql_exec(w.db, "%s", FILL);
    walk_start(&w);
    walk_copy(&w);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from mirror"), 50);
    walk_free(&w);
}
END_TEST

START_TEST(a_text_that_is_no_position_is_refused)
{
    struct walk w = filled();
    struct err err = {0};
    ck_assert_int_eq(w.capture->ops->resume(w.capture, "wal 0/16B3748", &err), ERR_STATE);
    ck_assert_ptr_nonnull(strstr(err.message, "not a position"));
    walk_free(&w);
}
END_TEST

START_TEST(starting_again_begins_at_the_present)
{
    struct walk w = filled();
    struct err err = {0};
    struct buf position;
    sql_exec(w.db, "truncate note");
    sql_exec(w.db, "insert into note values ('a', 1, 'x')");
    buf_init(&position, 4096);
    must(w.capture->ops->start(w.capture, &position, &err), &err);
    free(w.position);
    w.position = buf_detach(&position);
    walk_copy(&w);
    walk_drain(&w);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

/* The server reads the second chunk while only one row of the first was taken. */
START_TEST(the_server_works_at_the_next_rows_while_some_are_handed_out)
{
    if (!server_has(140000)) { /* by keys there */
        return;
    }
    struct walk w = notes();
    struct change change = {0};
    struct err err = {0};
    struct deadline deadline = deadline_after(WAIT_MS);
    w.where = "pg_advisory_xact_lock(id) is not null";
    w.chunk_bytes = 1; /* a block each */
    walk_new(&w, NOTES);
    sql_exec(w.db, "%s", FILL);
    int64_t second = sql_int(w.db, "select min(id) from note where ctid >= '(1,0)'");
    walk_start(&w);
    must(w.capture->ops->begin(w.capture, &err), &err);
    while (change.kind != CHANGE_UPSERT) {
        must(w.capture->ops->next(w.capture, &change, &err), &err);
        ck_assert(deadline_wait(&deadline));
    }
    while (sql_int(w.db,
                   "select count(*) from pg_locks where locktype = 'advisory' and classid = 0 and "
                   "objid = %lld and database = (select oid from pg_database where datname = "
                   "current_database())",
                   (long long)second) == 0) {
        ck_assert(deadline_wait(&deadline));
    }
    walk_free(&w);
}
END_TEST

START_TEST(what_is_longer_than_a_chunk_is_read_by_itself)
{
    struct walk w = notes();
    w.chunk_bytes = 1;
    walk_new(&w, NOTES);
    sql_exec(w.db,
             "insert into note select 't', i, repeat('x', 3000) from generate_series(1, 9) i");
    walk_start(&w);
    walk_copy(&w);
    sql_exec(w.db, "update note set body = body || 'y'");
    ck_assert_uint_eq(walk_drain(&w), 9);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    walk_free(&w);
}
END_TEST

SUITE_MAIN("source/copy", what_is_longer_than_a_chunk_is_read_by_itself,
           a_copy_by_blocks_is_complete_and_resumed_at_every_page,
           a_copy_by_blocks_that_is_left_at_a_mark_goes_on_there,
           a_copy_by_keys_that_is_left_at_a_mark_goes_on_there,
           changes_that_are_left_at_a_mark_go_on_there,
           a_copy_by_keys_is_complete_and_resumed_at_every_page,
           a_copy_by_keys_tells_how_far_it_is_by_the_number_of_rows,
           a_copy_by_keys_shows_rows_without_a_key_first,
           changes_made_during_a_copy_by_blocks_arrive, changes_made_during_a_copy_by_keys_arrive,
           a_transaction_open_since_before_the_copy_is_not_lost,
           a_table_rewritten_between_two_ranges_is_copied_again,
           rows_that_alter_table_changes_during_a_copy_by_blocks_are_copied_again,
           rows_that_alter_table_changes_during_a_copy_by_keys_are_copied_again,
           an_empty_table_is_copied_at_once_and_then_followed,
           only_rows_that_match_the_condition_are_copied, a_text_that_is_no_position_is_refused,
           starting_again_begins_at_the_present,
           the_server_works_at_the_next_rows_while_some_are_handed_out)
