/* SPDX-License-Identifier: Apache-2.0 */
/* The checkpoint backup in the source: written, read after the loss of the state file, and
 * continued. */
#include "notes.h"

#define LETTERS "{\"total\":1,\"letters\":[[\"3\",1,\"gr\\u00fc\\u4e2d\",400,1,2,3,1]]}"

static void tell(struct walk *w, const char *position, int64_t clock, const char *letters)
{
    struct err err = {0};
    struct mirror mirror = {position, clock, letters};
    must(w->capture->ops->release(w->capture, &mirror, true, &err), &err);
}

/* Reads it like another process, by a separate connection that stays usable. */
static struct mirrored ask(const struct walk *w, const char *consumer)
{
    struct err err = {0};
    struct mirrored out;
    struct pg *pg = walk_connect(w->uri);
    struct changelog_options options = {.consumer = consumer,
                                        .table = w->table,
                                        .key = w->key,
                                        .key_count = w->key_count,
                                        .columns = w->columns,
                                        .column_count = w->column_count};
    must(changelog_mirrored(pg, &options, NULL, &out, &err), &err);
    must(pg_query(pg, NULL, NULL, "select 1", NULL, 0, &err), &err);
    pg_close(pg);
    return out;
}

static void mirrored_release(struct mirrored *m)
{
    free(m->position);
    free(m->letters);
}

static void expect_mirror(const struct walk *w, const char *position, int64_t clock,
                          const char *letters)
{
    struct mirrored m = ask(w, "test/one");
    ck_assert_msg(m.usable, "%s", m.why.message);
    ck_assert_str_eq(m.position, position);
    /* it advances with time */
    ck_assert(m.clock >= clock && m.clock < clock + 60 * INT64_C(1000000));
    ck_assert_str_eq(m.letters, letters);
    mirrored_release(&m);
}

static void expect_nothing(const struct walk *w, const char *consumer, const char *why)
{
    struct mirrored m = ask(w, consumer);
    ck_assert(!m.usable);
    ck_assert_msg(strstr(m.why.message, why) != NULL, "%s", m.why.message);
    mirrored_release(&m);
}

/* Follows to the end and writes the backup. */
static struct walk told(void)
{
    struct walk w = following(0);
    sql_exec(w.db, "update note set body = 'told' where id = 1");
    walk_drain(&w);
    tell(&w, w.position, 42, LETTERS);
    return w;
}

START_TEST(what_was_told_is_read_back_and_gone_on_from)
{
    struct walk w = told();
    expect_mirror(&w, w.position, 42, LETTERS);
    struct mirrored m = ask(&w, "test/one");
    sql_exec(w.db, "update note set body = 'after' where id = 2; delete from note where id = 3");
    free(w.position);
    w.position = text_copy(m.position);
    walk_again(&w);
    ck_assert_uint_eq(walk_drain(&w), 2);
    ck_assert_int_eq(walk_differences(&w, NOTES_QUERY), 0);
    mirrored_release(&m);
    walk_free(&w);
}
END_TEST

START_TEST(a_copy_leaves_nothing_to_go_on_from)
{
    struct walk w = notes();
    walk_new(&w, NOTES);
    sql_exec(w.db, "insert into note select i, 'old ' || i from generate_series(1, 20) i");
    walk_start(&w);
    expect_nothing(&w, "test/one", "no checkpoint backup");
    ck_assert_int_eq(strncmp(w.position, "copy", 4), 0);
    tell(&w, w.position, 42, LETTERS);
    expect_nothing(&w, "test/one", "no checkpoint backup");
    walk_free(&w);
}
END_TEST

START_TEST(a_copy_begun_again_takes_the_mirror_away)
{
    struct walk w = told();
    struct err err = {0};
    struct buf position;
    buf_init(&position, 4096);
    must(w.capture->ops->start(w.capture, &position, &err), &err);
    expect_nothing(&w, "test/one", "no checkpoint backup");
    ck_assert_int_eq(sql_int(w.db, "select count(letters) from rowferry.consumer"), 0);
    buf_release(&position);
    walk_free(&w);
}
END_TEST

START_TEST(an_older_state_file_tells_nothing)
{
    struct walk w = told();
    char *old = text_copy(w.position);
    sql_exec(w.db, "update note set body = 'newer' where id = 1");
    walk_drain(&w);
    tell(&w, w.position, 50, "{}");
    tell(&w, old, 60, LETTERS);
    expect_mirror(&w, w.position, 50, "{}");
    free(old);
    walk_free(&w);
}
END_TEST

/* Simulates a server that lost transactions: the position is ahead of the server. */
START_TEST(a_position_of_a_lost_history_is_not_told_once_everything_is_copied_again)
{
    struct walk w = told();
    struct err err = {0};
    struct buf position;
    char lost[512];
    snprintf(lost, sizeof(lost), "log 9000000:9000000:%s", strstr(w.position, " on "));
    buf_init(&position, 4096);
    must(w.capture->ops->start(w.capture, &position, &err), &err);
    char *before = sql_text(w.db, "select keep::text from rowferry.consumer");
    tell(&w, lost, 60, LETTERS);
    char *after = sql_text(w.db, "select keep::text from rowferry.consumer");
    ck_assert_str_eq(before, after);
    expect_nothing(&w, "test/one", "no checkpoint backup");
    free(before);
    free(after);
    buf_release(&position);
    walk_free(&w);
}
END_TEST

START_TEST(letters_are_told_where_the_position_stays)
{
    struct walk w = told();
    tell(&w, w.position, 43, "{}");
    expect_mirror(&w, w.position, 43, "{}");
    walk_free(&w);
}
END_TEST

START_TEST(what_is_known_is_not_written_again)
{
    struct walk w = told();
    char *before = sql_text(w.db, "select ctid || ' ' || xmin from rowferry.consumer");
    walk_again(&w);
    tell(&w, w.position, 99, LETTERS);
    char *after = sql_text(w.db, "select ctid || ' ' || xmin from rowferry.consumer");
    ck_assert_str_eq(before, after);
    free(before);
    free(after);
    walk_free(&w);
}
END_TEST

START_TEST(the_clock_never_goes_back)
{
    struct walk w = told();
    tell(&w, w.position, 7, "{}");
    expect_mirror(&w, w.position, 42, "{}");
    walk_free(&w);
}
END_TEST

START_TEST(nobody_else_has_a_mirror_here)
{
    struct walk w = told();
    expect_nothing(&w, "test/two", "no checkpoint backup");
    walk_free(&w);
}
END_TEST

START_TEST(a_restored_or_promoted_source_is_not_gone_on_from)
{
    struct walk w = told();
    sql_exec(w.db, "update rowferry.consumer set timeline = timeline + 1");
    expect_nothing(&w, "test/one", "restored or promoted");
    walk_free(&w);
}
END_TEST

START_TEST(a_rewritten_table_is_not_gone_on_from)
{
    struct walk w = told();
    sql_exec(w.db, "alter table note alter column body type text using body || '!'");
    expect_nothing(&w, "test/one", "was rewritten");
    walk_free(&w);
}
END_TEST

START_TEST(a_mirror_behind_the_pruning_is_not_gone_on_from)
{
    struct walk w = told();
    char *old = text_copy(w.position);
    sql_exec(w.db, "update note set body = 'pruned' where id = 1");
    walk_settle(&w);
    sql_exec(w.db, "update rowferry.consumer set position = '%s'", old);
    expect_nothing(&w, "test/one", "was pruned");
    free(old);
    walk_free(&w);
}
END_TEST

/* The state file stops there, so its backup must stop too. */
START_TEST(what_stops_a_page_spoils_the_mirror_until_it_is_told_again)
{
    struct walk w = told();
    struct err err = {0};
    sql_exec(w.db, "alter table note disable trigger all; update note set body = 'unseen'");
    ck_assert_int_eq(walk_try(&w, &err), ERR_TRANSIENT);
    expect_nothing(&w, "test/one", "no checkpoint backup");
    walk_free(&w);
}
END_TEST

/* Text with characters that the database's encoding lacks, such as the service's reasons. */
START_TEST(letters_are_kept_in_a_database_of_another_encoding)
{
    struct walk w = notes();
    w.uri = database_new();
    w.db = sql_open(w.uri);
    char *name = sql_text(w.db, "select current_database()");
    PQfinish(w.db);
    char *server = text_copy(w.uri);
    strcpy(strrchr(server, '/'), "/postgres");
    w.db = sql_open(server);
    sql_exec(w.db, "drop database %s; ", name);
    sql_exec(w.db, "create database %s template template0 encoding 'LATIN1' locale 'C'", name);
    PQfinish(w.db);
    w.db = sql_open(w.uri);
    sql_exec(w.db, "%s", NOTES);
    sql_exec(w.db, "create table mirror (key text collate \"C\" primary key, content text)");
    walk_install(&w);
    sql_exec(w.db, "insert into note values (1, 'gr\xc3\xbc\xc3\x9f')");
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    tell(&w, w.position, 42, LETTERS);
    expect_mirror(&w, w.position, 42, LETTERS);
    free(server);
    free(name);
    walk_free(&w);
}
END_TEST

SUITE_MAIN("integration/checkpoint_backup", what_was_told_is_read_back_and_gone_on_from,
           a_copy_leaves_nothing_to_go_on_from, a_copy_begun_again_takes_the_mirror_away,
           an_older_state_file_tells_nothing,
           a_position_of_a_lost_history_is_not_told_once_everything_is_copied_again,
           letters_are_told_where_the_position_stays, what_is_known_is_not_written_again,
           the_clock_never_goes_back, nobody_else_has_a_mirror_here,
           a_restored_or_promoted_source_is_not_gone_on_from, a_rewritten_table_is_not_gone_on_from,
           a_mirror_behind_the_pruning_is_not_gone_on_from,
           what_stops_a_page_spoils_the_mirror_until_it_is_told_again,
           letters_are_kept_in_a_database_of_another_encoding)
