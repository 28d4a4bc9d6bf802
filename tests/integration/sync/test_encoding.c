/* SPDX-License-Identifier: Apache-2.0 */
/* Databases with characters that UTF8 lacks: such a row does not stop others. */
#include <string.h>

#include "http.h"
#include "sql.h"
#include "suite.h"
#include "world.h"

#define FOLLOW "\"capture\": {\"mode\": \"cursor\", \"column\": \"updated_at\"}"
#define REASON "a character of the source that UTF8 does not have, such as 0x81 of WIN1252"
#define ROWS 6000

static void spoil(struct world *w, const char *bytes, const char *rows)
{
    sql_exec(w->conn,
             "update articles set title = 'bad ' || convert_from('%s', getdatabaseencoding()), "
             "updated_at = clock_timestamp() where source_id in (%s)",
             bytes, rows);
}

static void mend(struct world *w)
{
    sql_exec(w->conn, "update articles set title = 'mended', updated_at = clock_timestamp() "
                      "where title like 'bad %%'");
}

static void sync_to(struct world *w, int exit_code)
{
    struct program_result result;
    world_sync(w, exit_code, &result);
    program_result_release(&result);
}

static void expect_said(struct world *w, const char *command, const char *argument,
                        const char *words)
{
    struct program_result result;
    rowferry_run(&result, w->config, command, argument, NULL);
    ck_assert_msg(strstr(result.out, words) != NULL || strstr(result.err, words) != NULL,
                  "no \"%s\" in:\n%s%s", words, result.out, result.err);
    program_result_release(&result);
}

static void expect_count(struct world *w, int count)
{
    struct reply reply;
    reply_get(&reply, "POST", w->service.url, "/shop-articles/_refresh", NULL,
              "ApiKey " WORLD_API_KEY);
    reply_release(&reply);
    struct json_object *body = reply_json(200, "GET", w->service.url, "/shop-articles/_count", NULL,
                                          "ApiKey " WORLD_API_KEY);
    ck_assert_int_eq(json_object_get_int(json_object_object_get(body, "count")), count);
    json_object_put(body);
}

static int64_t letters(struct world *w)
{
    struct program_result result;
    rowferry_run(&result, w->config, "status", "--json", NULL);
    int64_t count = program_json_int(&result, "dead_letters");
    program_result_release(&result);
    return count;
}

/* Checks the initial load, later changes, and then the repaired rows. */
static void rows_are_dead_letters_until_they_are_mended(struct world *w)
{
    sync_to(w, 3);
    expect_count(w, ROWS - 3);
    ck_assert_int_eq(letters(w), 3);
    expect_said(w, "deadletter", "list", REASON);
    spoil(w, "\\x90", "8");
    sql_exec(w->conn, "update articles set title = 'new', updated_at = clock_timestamp() "
                      "where source_id between 9 and 20");
    sync_to(w, 3);
    ck_assert_int_eq(letters(w), 4);
    mend(w);
    sync_to(w, 0);
    ck_assert_int_eq(letters(w), 0);
    world_expect_equal(w);
}

static void spoil_some(struct world *w)
{
    spoil(w, "\\x81", "7, 3000");
    spoil(w, "\\x9d", "5999");
}

START_TEST(a_row_that_utf8_cannot_hold_is_a_dead_letter_of_the_change_log)
{
    struct world w;
    world_start_in(&w, ROWS, "WIN1252");
    spoil_some(&w);
    sql_exec(w.conn, "alter table articles set (fillfactor = 10)");
    sql_exec(w.conn, "vacuum full articles"); /* gives several readers of an initial load blocks */
    world_install(&w);
    rows_are_dead_letters_until_they_are_mended(&w);
    world_stop(&w);
}
END_TEST

START_TEST(a_row_that_utf8_cannot_hold_is_a_dead_letter_of_a_cursor)
{
    struct world w;
    world_start_in(&w, ROWS, "WIN1252");
    world_from(&w, FOLLOW);
    spoil_some(&w);
    rows_are_dead_letters_until_they_are_mended(&w);
    world_stop(&w);
}
END_TEST

/* Such a dead letter has no key, and the neighbouring rows are in the index. */
START_TEST(a_key_that_utf8_cannot_hold_is_a_dead_letter_without_a_key)
{
    struct world w;
    world_start_in(&w, 100, "WIN1252");
    sql_exec(w.conn, "alter table articles alter source_id type text");
    sql_exec(w.conn, "update articles set source_id = 'bad ' || convert_from('\\x81', 'WIN1252') "
                     "where source_id = '7'");
    world_install(&w);
    sync_to(&w, 3);
    ck_assert_int_eq(letters(&w), 1);
    expect_count(&w, 99);
    rowferry_expect(0, w.config, "deadletter", "discard", "--all", "--yes", NULL);
    sql_exec(w.conn, "update articles set title = 'new' where source_id in ('8', '9') "
                     "or source_id like 'bad%%'");
    sync_to(&w, 3);
    ck_assert_int_eq(letters(&w), 1);
    sql_exec(w.conn, "update articles set source_id = '7' where source_id like 'bad%%'");
    sync_to(&w, 3);
    rowferry_expect(0, w.config, "deadletter", "discard", "--all", "--yes", NULL);
    sync_to(&w, 0);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

/* With multi-byte characters each one is detected separately. */
START_TEST(characters_of_several_bytes_are_met_one_after_the_other)
{
    struct world w;
    world_start_in(&w, 100, "EUC_JP");
    spoil(&w, "\\xa9a1", "7");
    spoil(&w, "\\xaaa1", "8");
    spoil(&w, "\\x8fa1a1", "9");
    spoil(&w, "\\xb0a1", "10");
    world_install(&w);
    sync_to(&w, 3);
    ck_assert_int_eq(letters(&w), 3);
    expect_count(&w, 97);
    mend(&w);
    sync_to(&w, 0);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

static void every_reader_goes_on(struct world *w)
{
    sql_exec(w->conn, "update articles set title = 'fine' where true");
    sync_to(w, 0);
    spoil(w, "\\x81", "7");
    sync_to(w, 3);
    rowferry_expect(3, w->config, "deadletter", "retry", NULL);
    rowferry_expect(3, w->config, "resync", "7", "8", NULL);
    rowferry_expect(3, w->config, "reindex", NULL);
    expect_count(w, 99);
    expect_said(w, "verify", NULL, "1 ");
    expect_said(w, "document", "7", REASON);
    mend(w);
    sync_to(w, 0);
    rowferry_expect(0, w->config, "verify", NULL);
    world_expect_equal(w);
}

START_TEST(whatever_reads_rows_passes_one_that_utf8_cannot_hold)
{
    struct world w;
    world_start_in(&w, 100, "WIN1252");
    world_install(&w);
    every_reader_goes_on(&w);
    world_stop(&w);
    world_start_in(&w, 100, "WIN1252");
    world_from(&w, FOLLOW);
    every_reader_goes_on(&w);
    world_stop(&w);
}
END_TEST

START_TEST(check_names_an_encoding_of_which_utf8_lacks_characters)
{
    struct world w;
    world_start_in(&w, 1, "WIN1252");
    expect_said(&w, "check", "--all", "WIN1252 has characters that UTF8 does not have");
    world_stop(&w);
    world_start_in(&w, 1, "LATIN1");
    struct program_result result;
    rowferry_run(&result, w.config, "check", "--all", NULL);
    ck_assert_ptr_null(strstr(result.out, "characters that UTF8 does not have"));
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("integration/encoding", a_row_that_utf8_cannot_hold_is_a_dead_letter_of_the_change_log,
           a_row_that_utf8_cannot_hold_is_a_dead_letter_of_a_cursor,
           characters_of_several_bytes_are_met_one_after_the_other,
           a_key_that_utf8_cannot_hold_is_a_dead_letter_without_a_key,
           whatever_reads_rows_passes_one_that_utf8_cannot_hold,
           check_names_an_encoding_of_which_utf8_lacks_characters)
