/* SPDX-License-Identifier: Apache-2.0 */
/* resync and deadletter: requested from the holder, or carried out by the command itself. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "http.h"
#include "sql.h"
#include "suite.h"
#include "world.h"

#define ROWS 3000

/* Makes the index equal to the table, except row 7, whose title is not a number. */
static void start(struct world *w, long rows)
{
    struct program_result result;
    world_start(w, rows, NULL);
    world_configure(w, "\"title\":{\"type\":\"long\"}",
                    "\"batch_operations\": 50, \"in_flight\": 4");
    sql_exec(w->conn, "update articles set title = source_id");
    sql_exec(w->conn, "update articles set title = 'words' where source_id = 7");
    world_install(w);
    world_sync(w, 3, &result);
    program_result_release(&result);
}

/* Starts a sync that does not end before world_unfault. */
static void start_holder(struct world *w, struct program *holder)
{
    sql_exec(w->conn, "update articles set title = source_id + 1 where source_id <> 7");
    world_hold(w, "_bulk");
    rowferry_start(holder, w->config, "sync", NULL);
    world_await_held(w);
}

static void expect_letters(const struct world *w, const char *text)
{
    struct program_result result;
    rowferry_run(&result, w->config, "deadletter", "list", NULL);
    ck_assert_int_eq(result.exit_code, 0);
    expect_text(result.out, text);
    program_result_release(&result);
}

START_TEST(rows_are_sent_again_where_nobody_holds_the_pipeline)
{
    struct world w;
    struct program_result result;
    start(&w, 20);
    sql_exec(w.conn, "update articles set title = '3000' where source_id = 3;"
                     "delete from articles where source_id = 4");
    rowferry_run(&result, w.config, "resync", "3", "4", "5", NULL);
    ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
    expect_text(result.out, "articles: 3 operations (2 upserts, 1 delete), 0 rejected, ");
    program_result_release(&result);
    rowferry_run(&result, w.config, "resync", "7", "--json", NULL);
    ck_assert_int_eq(result.exit_code, 3);
    ck_assert_int_eq(program_json_int(&result, "rejected"), 1);
    ck_assert_int_eq(program_json_int(&result, "dead_letters"), 1);
    program_result_release(&result);
    rowferry_run(&result, w.config, "status", NULL);
    expect_text(result.out, "resync: 2 upserts, 1 delete");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(a_corrected_row_is_retried_without_a_sync)
{
    struct world w;
    struct program_result result;
    start(&w, 20);
    expect_letters(&w, "upsert of \"7\"");
    rowferry_run(&result, w.config, "deadletter", "retry", NULL);
    ck_assert_int_eq(result.exit_code, 3);
    program_result_release(&result);
    expect_letters(&w, "2 attempts");
    sql_exec(w.conn, "update articles set title = '77' where source_id = 7");
    rowferry_run(&result, w.config, "deadletter", "retry", "7", NULL);
    ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
    expect_text(result.out, "articles: 1 operation (1 upsert, 0 deletes), 0 rejected");
    program_result_release(&result);
    expect_letters(&w, "no dead letters");
    rowferry_run(&result, w.config, "deadletter", "retry", NULL);
    ck_assert_str_eq(result.out, "articles: no dead letters\n");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(the_dead_letter_of_a_row_that_is_gone_is_cleared_by_a_retry)
{
    struct world w;
    struct program_result result;
    start(&w, 20);
    sql_exec(w.conn, "delete from articles where source_id = 7");
    rowferry_run(&result, w.config, "deadletter", "retry", NULL);
    ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
    expect_text(result.out, "1 operation (0 upserts, 1 delete)");
    program_result_release(&result);
    expect_letters(&w, "no dead letters");
    world_stop(&w);
}
END_TEST

START_TEST(more_dead_letters_than_one_request_holds_are_retried_and_discarded)
{
    struct world w;
    struct program_result result;
    start(&w, 2500);
    sql_exec(w.conn, "update articles set title = 'more words'");
    world_sync(&w, 1, &result); /* too many to be accidental */
    program_result_release(&result);
    rowferry_run(&result, w.config, "sync", "--json", "--allow-rejections", NULL);
    ck_assert_int_eq(result.exit_code, 3);
    ck_assert_int_eq(program_json_int(&result, "dead_letters"), 2500);
    program_result_release(&result);
    sql_exec(w.conn, "update articles set title = source_id where source_id > 200");
    rowferry_run(&result, w.config, "deadletter", "retry", "--json", NULL);
    ck_assert_int_eq(result.exit_code, 3);
    ck_assert_int_eq(program_json_int(&result, "upserts"), 2300);
    ck_assert_int_eq(program_json_int(&result, "rejected"), 200);
    ck_assert_int_eq(program_json_int(&result, "dead_letters"), 200);
    program_result_release(&result);
    rowferry_run(&result, w.config, "deadletter", "discard", "--all", "--yes", "--json", NULL);
    ck_assert_int_eq(result.exit_code, 0);
    ck_assert_int_eq(program_json_int(&result, "discarded"), 200);
    ck_assert_int_eq(program_json_int(&result, "dead_letters"), 0);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(a_dead_letter_is_shown_filtered_and_forgotten)
{
    struct world w;
    struct program_result result;
    start(&w, 20);
    rowferry_run(&result, w.config, "deadletter", "show", "7", NULL);
    ck_assert_int_eq(result.exit_code, 0);
    expect_text(result.out, "key        7\n");
    expect_text(result.out, "reason     mapper_parsing_exception: ");
    program_result_release(&result);
    rowferry_expect(1, w.config, "deadletter", "show", "8", NULL);
    rowferry_run(&result, w.config, "deadletter", "list", "--reason", "no such words", NULL);
    ck_assert_str_eq(result.out, "no dead letters\n");
    program_result_release(&result);
    rowferry_run(&result, w.config, "deadletter", "list", "--reason", "parsing_exc", NULL);
    expect_text(result.out, "upsert of \"7\"");
    program_result_release(&result);
    rowferry_expect(2, w.config, "deadletter", "discard", "--all", NULL);
    rowferry_expect(2, w.config, "deadletter", "discard", "--yes", NULL);
    rowferry_expect(1, w.config, "deadletter", "discard", "--yes", "8", NULL);
    expect_letters(&w, "upsert of \"7\"");
    rowferry_run(&result, w.config, "deadletter", "discard", "--all", "--yes", NULL);
    ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
    ck_assert_str_eq(result.out, "articles: 1 dead letter discarded\n");
    program_result_release(&result);
    expect_letters(&w, "no dead letters");
    world_stop(&w);
}
END_TEST

/* Runs deadletter discard --all on a terminal and types the answer. */
static void discard_typing(const struct world *w, const char *answer, int code, const char *text)
{
    static const char script[] = "printf '%s\\n' \"$3\" | exec script -qec "
                                 "\"'$1' -c '$2' deadletter discard --all\" /dev/null";
    struct program program;
    struct program_result result;
    program_start(&program,
                  (const char *const[]){"/bin/bash", "-c", script, "discard",
                                        getenv("ROWFERRY_PROGRAM"), w->config, answer, NULL},
                  NULL);
    program_finish(&program, WAIT_MS, &result);
    expect_text(result.out, "articles: discard 1 dead letter? [y/N] ");
    expect_text(result.out, text);
    ck_assert_int_eq(result.exit_code, code);
    program_result_release(&result);
}

START_TEST(a_discard_on_a_terminal_asks_and_forgets_only_after_yes)
{
    struct world w;
    start(&w, 20);
    discard_typing(&w, "", 1, "nothing was discarded");
    discard_typing(&w, "n", 1, "nothing was discarded");
    expect_letters(&w, "upsert of \"7\"");
    discard_typing(&w, "yes", 0, "1 dead letter discarded");
    expect_letters(&w, "no dead letters");
    world_stop(&w);
}
END_TEST

/* Expects the text from a command, and its exit code. */
static void expect_said(const struct world *w, int exit_code, const char *text,
                        const char *const words[6])
{
    struct program_result result;
    rowferry_run(&result, w->config, "deadletter", words[0], words[1], words[2], words[3], words[4],
                 NULL);
    ck_assert_msg(result.exit_code == exit_code, "%s %s: %d, %s%s", words[0], words[1],
                  result.exit_code, result.out, result.err);
    expect_text(exit_code == 2 ? result.err : result.out, text);
    program_result_release(&result);
}

/* The service refuses row 7; rows 8 and 9 are refused before they are sent. */
static void start_two_reasons(struct world *w)
{
    struct program_result result;
    world_start(w, 20, NULL);
    world_configure(w, "\"title\":{\"type\":\"long\"},\"updated_at\":{\"type\":\"date\"}", "");
    sql_exec(w->conn, "update articles set title = source_id");
    sql_exec(w->conn, "update articles set title = 'words' where source_id = 7");
    sql_exec(w->conn, "update articles set updated_at = 'infinity' where source_id in (8, 9)");
    world_install(w);
    world_sync(w, 3, &result);
    program_result_release(&result);
}

START_TEST(dead_letters_are_chosen_by_reason_type_and_age)
{
    struct world w;
    start_two_reasons(&w);
    static const struct {
        const char *words[6];
        int exit_code;
        const char *text;
    } lines[] = {
        {{"list", "--by-reason"}, 0, "articles: 2 never sent, first "},
        {{"list", "--by-reason"}, 0, "articles: 1 mapper_parsing_exception, first "},
        {{"list", "--by-reason", "--json", "--reason", "mapper_parsing_exception"},
         0,
         "{\"pipeline\":\"articles\",\"error_type\":\"mapper_parsing_exception\",\"never_sent\":"
         "false,\"count\":1,\"first\":"},
        {{"list", "--json", "--reason", "infin"}, 0, "\"error_type\":null,\"reason\":\"column "},
        {{"list", "--json", "--limit=1", "--newer", "1h"}, 0, "\"key\":\""},
        {{"list", "--older", "1h"}, 0, "no dead letters\n"},
        {{"list", "--older", "soon"}, 2, "option \"--older\": \"soon\" is not a duration"},
        {{"list", "--limit", "0"}, 2, "option \"--limit\": \"0\" is not a positive integer"},
        {{"show", "7"}, 0, "type       mapper_parsing_exception\n"},
        {{"show", "8"}, 0, "type       never sent\n"},
        {{"retry", "--reason", "x", "7"}, 2, "takes either KEY"},
        {{"retry", "--older", "1d"}, 0, "articles: no dead letters\n"},
        {{"retry", "--reason", "mapper_parsing_exception"}, 3, "0 operations"},
        {{"discard", "--reason", "x"}, 2, "needs --yes"},
        {{"discard", "--yes", "--reason", "x", "7"}, 2, "needs either KEY"},
        {{"discard", "--yes", "--older", "1h"}, 0, "articles: no dead letters\n"},
        {{"discard", "--yes", "--reason", "infin"}, 0, "articles: 2 dead letters discarded\n"},
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        expect_said(&w, lines[i].exit_code, lines[i].text, lines[i].words);
    }
    expect_letters(&w, "upsert of \"7\"");
    expect_letters(&w, "2 attempts");
    world_stop(&w);
}
END_TEST

/* Configures ports without a listener, and a missing secret. */
static void servers_away(struct world *w)
{
    char *uri = w->uri;
    char url[64];
    char away[128];
    snprintf(url, sizeof(url), "%s", w->service.url);
    snprintf(away, sizeof(away), "postgresql://nobody@127.0.0.1:%d/x", free_port());
    snprintf(w->service.url, sizeof(w->service.url), "http://127.0.0.1:%d", free_port());
    w->uri = away;
    world_configure(w, "\"title\":{\"type\":\"long\"}", "\"retry_budget\": \"300ms\"");
    w->uri = uri;
    snprintf(w->service.url, sizeof(w->service.url), "%s", url);
    char *key = scratch_path(w->dir, "key");
    ck_assert_int_eq(unlink(key), 0);
    free(key);
}

START_TEST(dead_letters_are_discarded_while_both_servers_are_away)
{
    struct world w;
    struct program_result result;
    start(&w, 20);
    sql_exec(w.conn, "update articles set title = 'words' where source_id in (8, 9)");
    world_sync(&w, 3, &result);
    program_result_release(&result);
    servers_away(&w);
    rowferry_run(&result, w.config, "deadletter", "discard", "--yes", "8", NULL);
    ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
    ck_assert_str_eq(result.out, "articles: 1 dead letter discarded\n");
    program_result_release(&result);
    expect_letters(&w, "upsert of \"9\"");
    rowferry_run(&result, w.config, "deadletter", "discard", "--yes", "--all", "--json", NULL);
    ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
    ck_assert_int_eq(program_json_int(&result, "discarded"), 2);
    ck_assert_int_eq(program_json_int(&result, "dead_letters"), 0);
    program_result_release(&result);
    expect_letters(&w, "no dead letters");
    world_stop(&w);
}
END_TEST

START_TEST(a_request_before_the_first_sync_fails_and_is_not_kept)
{
    struct world w;
    struct program_result result;
    world_start(&w, 20, NULL);
    world_install(&w);
    rowferry_run(&result, w.config, "resync", "3", NULL);
    ck_assert_int_eq(result.exit_code, 1);
    expect_text(result.err, "has not been synced yet");
    expect_text(result.err, "hint: run: rowferry sync articles");
    program_result_release(&result);
    world_sync(&w, 0, &result);
    ck_assert_ptr_null(strstr(result.err, "request_done"));
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(the_holder_carries_out_what_others_ask)
{
    static const struct {
        const char *words[4];
        int exit_code;
        const char *out;
    } asks[] = {
        {{"resync", "1", "2", "999999"},
         0,
         "articles: 3 operations (2 upserts, 1 delete), 0 rejected, "},
        {{"deadletter", "retry"}, 3, "articles: 0 operations (0 upserts, 0 deletes), 1 rejected, "},
        {{"deadletter", "discard", "--yes", "7"}, 0, "articles: 1 dead letter discarded\n"},
    };
    struct world w;
    struct program holder;
    struct program pending_replies[3];
    struct program_result result;
    start(&w, ROWS);
    start_holder(&w, &holder);
    for (size_t i = 0; i < 3; i++) {
        const char *const *words = asks[i].words;
        rowferry_start(&pending_replies[i], w.config, words[0], words[1], words[2], words[3], NULL);
        program_await(&pending_replies[i], "request_filed", WAIT_MS); /* defines their order */
    }
    world_unfault(&w);
    for (size_t i = 0; i < 3; i++) {
        program_finish(&pending_replies[i], WAIT_MS, &result);
        /* the dead letter may be discarded before the retry counts it */
        bool discarded = i == 1 && result.exit_code == 0;
        ck_assert_msg(discarded || result.exit_code == asks[i].exit_code, "%s%s", result.out,
                      result.err);
        expect_text(result.out, asks[i].out);
        program_result_release(&result);
    }
    program_finish(&holder, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
    expect_text(result.err, "event=request_done pipeline=articles command=resync keys=3");
    expect_text(result.err, "event=request_done pipeline=articles command=resync keys=1");
    expect_text(result.err, "event=request_done pipeline=articles command=discard keys=1");
    program_result_release(&result);
    expect_letters(&w, "no dead letters");
    world_stop(&w);
}
END_TEST

START_TEST(a_key_that_is_no_number_is_refused_before_the_holder_is_asked)
{
    struct world w;
    struct program holder;
    struct program asker;
    struct program_result result;
    start(&w, ROWS);
    start_holder(&w, &holder);
    rowferry_run(&result, w.config, "resync", "1", "abc", NULL);
    ck_assert_int_eq(result.exit_code, 1);
    expect_text(result.err, "can have the key \"abc\"");
    program_result_release(&result);
    rowferry_start(&asker, w.config, "resync", "2", NULL);
    program_await(&asker, "request_filed", WAIT_MS);
    world_unfault(&w);
    program_finish(&asker, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
    expect_text(result.err, "is held by process");
    program_result_release(&result);
    program_finish(&holder, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 3, "%s%s", result.out, result.err);
    ck_assert_msg(strstr(result.err, "event=request_failed") == NULL, "%s", result.err);
    expect_text(result.err, "event=request_done pipeline=articles command=resync keys=1");
    program_result_release(&result);
    sql_exec(w.conn, "update articles set title = '7' where source_id = 7");
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "operations"), 1);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(the_one_who_asked_finishes_what_a_dead_holder_leaves)
{
    struct world w;
    struct program holder;
    struct program asker;
    struct program_result result;
    start(&w, ROWS);
    start_holder(&w, &holder);
    rowferry_start(&asker, w.config, "resync", "1", "2", "999999", NULL);
    program_await(&asker, "request_filed", WAIT_MS);
    program_signal(&holder, SIGKILL);
    program_finish(&holder, WAIT_MS, &result);
    ck_assert_int_eq(result.exit_code, 128 + SIGKILL);
    program_result_release(&result);
    world_unfault(&w);
    program_finish(&asker, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
    expect_text(result.out, "articles: 3 operations (2 upserts, 1 delete), 0 rejected");
    expect_text(result.err, "event=request_done");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(who_stops_waiting_leaves_the_request_to_the_holder)
{
    struct world w;
    struct program holder;
    struct program asker;
    struct program_result result;
    start(&w, ROWS);
    start_holder(&w, &holder);
    rowferry_start(&asker, w.config, "resync", "1", NULL);
    program_await(&asker, "request_filed", WAIT_MS);
    program_signal(&asker, SIGINT);
    program_finish(&asker, WAIT_MS, &result);
    ck_assert_int_eq(result.exit_code, 6);
    expect_text(result.err, "the request stays filed");
    program_result_release(&result);
    world_unfault(&w);
    program_finish(&holder, WAIT_MS, &result);
    expect_text(result.err, "event=request_done pipeline=articles command=resync keys=1");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("sync/requests", rows_are_sent_again_where_nobody_holds_the_pipeline,
           a_corrected_row_is_retried_without_a_sync,
           the_dead_letter_of_a_row_that_is_gone_is_cleared_by_a_retry,
           more_dead_letters_than_one_request_holds_are_retried_and_discarded,
           a_dead_letter_is_shown_filtered_and_forgotten,
           dead_letters_are_chosen_by_reason_type_and_age,
           a_discard_on_a_terminal_asks_and_forgets_only_after_yes,
           dead_letters_are_discarded_while_both_servers_are_away,
           a_request_before_the_first_sync_fails_and_is_not_kept,
           the_holder_carries_out_what_others_ask,
           a_key_that_is_no_number_is_refused_before_the_holder_is_asked,
           the_one_who_asked_finishes_what_a_dead_holder_leaves,
           who_stops_waiting_leaves_the_request_to_the_holder)
