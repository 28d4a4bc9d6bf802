/* SPDX-License-Identifier: Apache-2.0 */
/* PostgreSQL errors: temporary or permanent, and displayed on one line. */
#include "pg/sqlstate.h"

#include <string.h>

#include "suite.h"

START_TEST(a_transient_sqlstate_is_recognised)
{
    static const char *const passing[] = {"08006", "40001", "40P01", "53300", "53100",
                                          "55P03", "57014", "57P01", "57P03"};
    static const char *const final[] = {"42501", "42P01", "22P02", "28P01", "3D000", "57000"};
    for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++) {
        ck_assert_msg(sqlstate_class(passing[i]) == ERR_TRANSIENT, "%s", passing[i]);
    }
    for (size_t i = 0; i < sizeof(final) / sizeof(final[0]); i++) {
        ck_assert_msg(sqlstate_class(final[i]) == ERR_REJECTED, "%s", final[i]);
    }
}
END_TEST

START_TEST(a_refused_function_is_recognised)
{
    ck_assert(sqlstate_is_refusal("42501"));
    ck_assert(sqlstate_is_refusal("55000"));
    ck_assert(sqlstate_is_refusal("0A000"));
    ck_assert(!sqlstate_is_refusal("55P03"));
}
END_TEST

START_TEST(an_error_that_may_quote_a_row_is_reported_by_its_name)
{
    ck_assert_str_eq(sqlstate_data_exception("22P02"), "invalid_text_representation");
    ck_assert_str_eq(sqlstate_data_exception("22ZZZ"), "data_exception");
    ck_assert_ptr_null(sqlstate_data_exception("42P01"));
    ck_assert_ptr_null(sqlstate_data_exception("42022"));
}
END_TEST

static const struct {
    const char *message;
    enum err_class class;
    const char *sqlstate;
} connections[] = {
    {"connection to server at \"127.0.0.1\", port 1 failed: Connection refused\n\tIs the server "
     "running on that host and accepting TCP/IP connections?\n",
     ERR_TRANSIENT, ""},
    {"connection to server at \"h\" (10.0.0.1), port 5432 failed: FATAL:  28P01: password "
     "authentication failed for user \"u\"\nLOCATION:  auth_failed, auth.c:341\n",
     ERR_REJECTED, "28P01"},
    {"connection to server failed: FATAL:  57P03: the database system is starting up\n",
     ERR_TRANSIENT, "57P03"},
    {"connection to server failed: FATAL:  53300: sorry, too many clients already\n", ERR_TRANSIENT,
     "53300"},
    {"connection to server failed: FATAL:  3D000: database \"x\" does not exist\n", ERR_REJECTED,
     "3D000"},
    {"connection to server at \"a\" failed: FATAL:  57P03: starting up\nconnection to server at "
     "\"b\" failed: FATAL:  28000: no pg_hba.conf entry\n",
     ERR_REJECTED, "28000"},
    {"FATAL:  password authentication failed for user \"u\"\n", ERR_REJECTED, ""},
    {"connection to server at \"h\" failed: fe_sendauth: no password supplied\n", ERR_REJECTED, ""},
    {"could not translate host name \"h\" to address: Temporary failure in name resolution\n",
     ERR_TRANSIENT, ""},
    {"invalid URI query parameter: \"sslmod\"\n", ERR_CONFIG, ""},
    {"invalid integer value \"x\" for connection option \"port\"\n", ERR_CONFIG, ""},
};

START_TEST(a_failed_connection_is_classified_by_its_code_before_its_text)
{
    for (size_t i = 0; i < sizeof(connections) / sizeof(connections[0]); i++) {
        char sqlstate[6];
        enum err_class class = sqlstate_of_connection(connections[i].message, sqlstate);
        ck_assert_msg(class == connections[i].class, "%s", connections[i].message);
        ck_assert_str_eq(sqlstate, connections[i].sqlstate);
    }
}
END_TEST

START_TEST(a_message_becomes_one_line_without_location_and_secret)
{
    struct buf out;
    buf_init(&out, 4096);
    sqlstate_one_line(&out,
                      "failed: FATAL:  28P01: pa55 pa5 is wrong\nLOCATION:  auth.c:341\n\tIs it "
                      "right?\nFATAL:  too many  clients\n\n",
                      "pa55");
    ck_assert_str_eq(buf_text(&out), "failed: *** pa5 is wrong; too many  clients");
    buf_release(&out);
}
END_TEST

START_TEST(a_message_in_the_middle_of_a_session_does_not_quote_the_password)
{
    struct buf out;
    buf_init(&out, 4096);
    sqlstate_push_masked(&out, "role pa55 has the password pa55:  no", "pa55");
    ck_assert_str_eq(buf_text(&out), "role *** has the password ***:  no");
    buf_reset(&out);
    sqlstate_push_masked(&out, "no password", NULL);
    ck_assert_str_eq(buf_text(&out), "no password");
    buf_release(&out);
}
END_TEST

SUITE_MAIN("source/sqlstate", an_error_that_may_quote_a_row_is_reported_by_its_name,
           a_transient_sqlstate_is_recognised, a_refused_function_is_recognised,
           a_failed_connection_is_classified_by_its_code_before_its_text,
           a_message_becomes_one_line_without_location_and_secret,
           a_message_in_the_middle_of_a_session_does_not_quote_the_password)
