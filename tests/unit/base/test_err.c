/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: filling, context, truncation, and the exit codes on which scripts rely. */
#include "rowferry/base/err.h"

#include <string.h>

#include "suite.h"

START_TEST(the_name_of_the_pipeline_is_put_into_a_hint_that_lacks_it)
{
    struct err e;
    err_set(&e, ERR_STATE, "drift");
    err_hint(&e, "run: rowferry reindex " ERR_PIPELINE "; then look");
    err_name_pipeline(&e, "articles");
    ck_assert_str_eq(e.hint, "run: rowferry reindex articles; then look");
    err_name_pipeline(&e, "authors");
    ck_assert_str_eq(e.hint, "run: rowferry reindex articles; then look");
}
END_TEST

START_TEST(set_fills_class_and_message_and_clears_the_rest)
{
    struct err e;
    memset(&e, 'x', sizeof(e));
    ck_assert_int_eq(err_set(&e, ERR_REJECTED, "cannot find table \"%s\"", "public.t"),
                     ERR_REJECTED);
    ck_assert_int_eq(e.class, ERR_REJECTED);
    ck_assert_str_eq(e.message, "cannot find table \"public.t\"");
    ck_assert_str_eq(e.detail, "");
    ck_assert_str_eq(e.hint, "");
    ck_assert_str_eq(e.sqlstate, "");
    ck_assert_int_eq(e.http_status, 0);
    ck_assert_int_eq(e.sqlite_code, 0);
    ck_assert(!e.drift);
}
END_TEST

START_TEST(drift_is_kept_under_context_and_gone_with_the_next_error)
{
    struct err e;
    err_set(&e, ERR_STATE, "another table");
    ck_assert_int_eq(err_drift(&e), ERR_STATE);
    err_context(&e, "pipeline");
    ck_assert(e.drift);
    err_set(&e, ERR_STATE, "the guard");
    ck_assert(!e.drift);
}
END_TEST

START_TEST(a_caller_that_wants_no_error_gets_the_class)
{
    ck_assert_int_eq(err_set(NULL, ERR_HELD, "held"), ERR_HELD);
    ck_assert_int_lt(err_hint(NULL, "do"), 0);
    ck_assert_int_lt(err_drift(NULL), 0);
    ck_assert_int_lt(err_context(NULL, "here"), 0);
    err_detail(NULL, "x", 1);
}
END_TEST

START_TEST(a_message_of_several_lines_becomes_one)
{
    struct err e;
    err_set(&e, ERR_TRANSIENT, "could not connect:\nrefused\tby \x1b[31mhost\n\n");
    ck_assert_str_eq(e.message, "could not connect: refused by  [31mhost");
}
END_TEST

START_TEST(a_long_message_is_cut_between_characters_and_says_so)
{
    char text[2048] = "a";
    for (size_t i = 1; i + 2 < sizeof(text); i += 2) {
        memcpy(text + i, "\xc3\xa9", 3);
    }
    struct err e;
    err_set(&e, ERR_TRANSIENT, "%s", text);
    size_t len = strlen(e.message);
    ck_assert_uint_lt(len, sizeof(e.message));
    ck_assert_uint_gt(len, sizeof(e.message) - 8);
    ck_assert_str_eq(e.message + len - 3, "...");
    ck_assert_int_eq((unsigned char)e.message[len - 4], 0xa9);
}
END_TEST

START_TEST(context_stands_before_the_message_and_keeps_class_and_evidence)
{
    struct err e;
    err_set(&e, ERR_TRANSIENT, "could not connect");
    err_hint(&e, "start the %s", "server");
    e.http_status = 503;
    ck_assert_int_eq(err_context(&e, "pipeline \"%s\"", "articles"), ERR_TRANSIENT);
    ck_assert_str_eq(e.message, "pipeline \"articles\": could not connect");
    ck_assert_str_eq(e.hint, "start the server");
    ck_assert_int_eq(e.http_status, 503);
}
END_TEST

START_TEST(context_that_leaves_no_room_is_cut)
{
    struct err e;
    char text[1000];
    memset(text, 'm', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    err_set(&e, ERR_STATE, "%s", text);
    err_context(&e, "here");
    ck_assert_uint_eq(strlen(e.message), sizeof(e.message) - 1);
    ck_assert_int_eq(strncmp(e.message, "here: mmm", 9), 0);
    ck_assert_str_eq(e.message + sizeof(e.message) - 4, "...");
}
END_TEST

START_TEST(detail_escapes_control_characters)
{
    struct err e;
    err_set(&e, ERR_REJECTED, "refused");
    err_detail(&e, "a\x1b[2J\n\0b", 8);
    ck_assert_str_eq(e.detail, "a\\x1b[2J\\n\\x00b");
    ck_assert_str_eq(e.message, "refused");
    err_detail(&e,
               "\xc2\x9b"
               "31m\xe2\x80\xae\x9b\xc3\xa9",
               11);
    ck_assert_str_eq(e.detail, "\\u009b31m\\u202e\\x9b\xc3\xa9");
    err_detail(&e, "", 0);
    ck_assert_str_eq(e.detail, "");
}
END_TEST

START_TEST(detail_keeps_the_first_kib_whatever_the_bytes)
{
    static char body[100000];
    struct err e;
    err_set(&e, ERR_REJECTED, "refused");
    const unsigned char fills[] = {'x', 0x01, 0xc3, 0xa9, 0xff};
    for (size_t i = 0; i < sizeof(fills); i++) {
        memset(body, fills[i], sizeof(body));
        err_detail(&e, body, sizeof(body));
        size_t len = strlen(e.detail);
        ck_assert_uint_ge(len, 1000);
        ck_assert_uint_lt(len, 1024 + 4);
        ck_assert_str_eq(e.detail + len - 3, "...");
    }
}
END_TEST

START_TEST(every_class_has_its_name_and_exit_code)
{
    static const struct {
        enum err_class class;
        const char *name;
        int exit_code;
    } rows[] = {
        {ERR_NONE, "none", 0},         {ERR_TRANSIENT, "transient", 6},
        {ERR_REJECTED, "rejected", 1}, {ERR_CONFIG, "config", 2},
        {ERR_STATE, "state", 1},       {ERR_HELD, "held", 5},
        {ERR_INTERNAL, "internal", 1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ck_assert_str_eq(err_class_name(rows[i].class), rows[i].name);
        ck_assert_int_eq((int)err_exit_code(rows[i].class), rows[i].exit_code);
    }
    ck_assert_int_eq((int)err_exit_code((enum err_class)(-99)), 1);
}
END_TEST

START_TEST(of_two_exit_codes_the_one_that_counts_wins_in_both_orders)
{
    static const int order[] = {2, 1, 5, 6, 4, 3, 0};
    const size_t n = sizeof(order) / sizeof(order[0]);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            enum exit_code worse =
                err_exit_code_worse((enum exit_code)order[i], (enum exit_code)order[j]);
            ck_assert_int_eq((int)worse, order[i < j ? i : j]);
        }
    }
}
END_TEST

SUITE_MAIN("base/err", the_name_of_the_pipeline_is_put_into_a_hint_that_lacks_it,
           set_fills_class_and_message_and_clears_the_rest,
           drift_is_kept_under_context_and_gone_with_the_next_error,
           a_caller_that_wants_no_error_gets_the_class, a_message_of_several_lines_becomes_one,
           a_long_message_is_cut_between_characters_and_says_so,
           context_stands_before_the_message_and_keeps_class_and_evidence,
           context_that_leaves_no_room_is_cut, detail_escapes_control_characters,
           detail_keeps_the_first_kib_whatever_the_bytes, every_class_has_its_name_and_exit_code,
           of_two_exit_codes_the_one_that_counts_wins_in_both_orders)
