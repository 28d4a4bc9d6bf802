/* SPDX-License-Identifier: Apache-2.0 */
/* The log: the same event as text and as JSON, and content that must never be logged. */
#include "rowferry/base/log.h"

#include <json-c/json.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"
#include "suite.h"

#define AT 1795255200123456 /* 2026-11-21T10:00:00.123456Z */

static struct buf line;

static const char *render(enum log_format format, const struct log_field *fields)
{
    buf_release(&line);
    buf_init(&line, 1 << 20);
    log_render(&line, format, LOG_INFO, AT, "batch_settled", fields);
    ck_assert(!line.failed);
    return buf_text(&line);
}

/* Captures what log_fields or log_err write to stderr. */
static int saved_stderr;
static int pipe_end;

/* On an abort, prints the captured output to the real stderr. */
static void tell_end(int number)
{
    char said[4096];
    (void)number;
    dup2(saved_stderr, STDERR_FILENO);
    ssize_t n = read(pipe_end, said, sizeof(said));
    if (n > 0) {
        (void)!write(STDERR_FILENO, said, (size_t)n);
    }
}

static void capture_begin(void)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    saved_stderr = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    pipe_end = ends[0];
    signal(SIGABRT, tell_end);
}

static const char *capture_end(void)
{
    signal(SIGABRT, SIG_DFL);
    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
    buf_release(&line);
    buf_init(&line, 1 << 20);
    char chunk[4096];
    ssize_t n;
    while ((n = read(pipe_end, chunk, sizeof(chunk))) > 0) {
        buf_push(&line, chunk, (size_t)n);
    }
    close(pipe_end);
    return buf_text(&line);
}

START_TEST(text_and_json_say_the_same)
{
    const struct log_field fields[] = {
        F_TEXT("pipeline", "articles"), F_INT("done", -4981), F_REAL("share", 0.25), {0}};
    ck_assert_str_eq(render(LOG_TEXT, fields),
                     "2026-11-21T10:00:00.123Z info event=batch_settled pipeline=articles "
                     "done=-4981 share=0.25");
    ck_assert_str_eq(render(LOG_JSON, fields),
                     "{\"time\":\"2026-11-21T10:00:00.123Z\",\"level\":\"info\","
                     "\"event\":\"batch_settled\",\"pipeline\":\"articles\",\"done\":-4981,"
                     "\"share\":0.25}");
    buf_release(&line);
}
END_TEST

START_TEST(a_value_that_could_be_misread_is_quoted)
{
    static const struct {
        const char *value;
        const char *shown;
    } rows[] = {
        {"plain", "plain"},
        {"two words", "\"two words\""},
        {"a=b", "\"a=b\""},
        {"a\"b", "\"a\\\"b\""},
        {"a\nb event=x", "\"a\\nb event=x\""},
        {"a\\b", "\"a\\\\b\""},
        {"\x1b", "\"\\u001b\""},
        {"caf\xc3\xa9", "caf\xc3\xa9"},
        {"\x7f", "\"\\u007f\""},
        {"a\xc2\x9b"
         "2J",
         "\"a\\u009b2J\""},
        {"\xe2\x80\xae", "\"\\u202e\""},
        {"\x9b", "\xef\xbf\xbd"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct log_field fields[] = {F_TEXT("v", rows[i].value), {0}};
        const char *at = strstr(render(LOG_TEXT, fields), " v=");
        ck_assert_str_eq(at + 3, rows[i].shown);
    }
    buf_release(&line);
}
END_TEST

START_TEST(any_bytes_give_a_line_of_json_that_parses)
{
    char bytes[256];
    for (int i = 0; i < 255; i++) {
        bytes[i] = (char)(i + 1);
    }
    bytes[255] = '\0';
    const struct log_field fields[] = {F_TEXT("v", bytes), F_REAL("nan", NAN), {0}};
    const char *text = render(LOG_JSON, fields);
    ck_assert_ptr_null(strchr(text, '\n'));
    json_tokener *tokener = json_tokener_new();
    ck_assert_ptr_nonnull(tokener);
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    json_object *parsed = json_tokener_parse_ex(tokener, text, (int)strlen(text) + 1);
    ck_assert_ptr_nonnull(parsed);
    json_object *value = NULL;
    ck_assert(json_object_object_get_ex(parsed, "v", &value));
    ck_assert_int_eq(strncmp(json_object_get_string(value), bytes, 127), 0);
    ck_assert(json_object_object_get_ex(parsed, "nan", &value));
    ck_assert_ptr_null(value);
    json_object_put(parsed);
    json_tokener_free(tokener);
    buf_release(&line);
}
END_TEST

START_TEST(a_field_without_a_value_is_left_out)
{
    const struct log_field fields[] = {
        F_TEXT("absent", NULL), F_TEXT("absent", ""), F_INT("here", 1), {0}};
    ck_assert_ptr_null(strstr(render(LOG_JSON, fields), "absent"));
    ck_assert_ptr_nonnull(strstr(render(LOG_TEXT, fields), "event=batch_settled here=1"));
    buf_release(&line);
}
END_TEST

START_TEST(a_huge_value_is_cut)
{
    static char huge[200000];
    memset(huge, 'x', sizeof(huge) - 1);
    const struct log_field fields[] = {F_TEXT("v", huge), F_INT("after", 1), {0}};
    const char *text = render(LOG_TEXT, fields);
    ck_assert_uint_lt(strlen(text), 1200);
    ck_assert_ptr_nonnull(strstr(text, "xxx... after=1"));
    buf_release(&line);
}
END_TEST

START_TEST(events_below_the_level_are_not_written)
{
    log_configure(LOG_WARN, LOG_TEXT);
    capture_begin();
    log_event(LOG_INFO, "quiet", F_INT("n", 1));
    log_plain(LOG_WARN, "loud");
    const char *text = capture_end();
    ck_assert_ptr_null(strstr(text, "quiet"));
    const char *end = strstr(text, " warn event=loud\n");
    ck_assert_ptr_nonnull(end);
    ck_assert_str_eq(end, " warn event=loud\n");
    ck_assert(log_enabled(LOG_ERROR));
    ck_assert(!log_enabled(LOG_INFO));
    buf_release(&line);
}
END_TEST

START_TEST(an_error_is_logged_with_evidence_and_without_detail)
{
    log_configure(LOG_INFO, LOG_JSON);
    struct err e;
    err_set(&e, ERR_REJECTED, "cannot read table \"t\"");
    err_hint(&e, "grant select; rowferry check %s", ERR_PIPELINE);
    err_detail(&e, "secret row", 10);
    memcpy(e.sqlstate, "42501", 6);
    e.http_status = 403;
    e.sqlite_code = 11;
    capture_begin();
    log_err(LOG_ERROR, "sync_failed", "articles", &e);
    const char *text = capture_end();
    ck_assert_ptr_nonnull(
        strstr(text, "\"level\":\"error\",\"event\":\"sync_failed\",\"pipeline\":\"articles\","
                     "\"class\":\"rejected\",\"sqlstate\":\"42501\",\"http_status\":403,"
                     "\"sqlite_code\":11,\"message\":\"cannot read table \\\"t\\\"\",\"hint\":"
                     "\"grant select; rowferry check articles\"}\n"));
    ck_assert_ptr_null(strstr(text, "secret"));
    err_set(&e, ERR_TRANSIENT, "could not connect");
    capture_begin();
    log_err(LOG_WARN, "retry", NULL, &e);
    ck_assert_ptr_nonnull(strstr(capture_end(), "\"event\":\"retry\",\"class\":\"transient\","
                                                "\"message\":\"could not connect\"}\n"));
    buf_release(&line);
}
END_TEST

START_TEST(an_event_of_too_many_fields_still_gives_a_whole_line)
{
    static char value[1000];
    memset(value, 'x', sizeof(value) - 1);
    struct log_field fields[101] = {{0}};
    for (size_t i = 0; i < 100; i++) {
        fields[i] = F_TEXT("v", value);
    }
    log_configure(LOG_INFO, LOG_JSON);
    capture_begin();
    log_fields(LOG_INFO, "huge", fields);
    const char *end = strstr(capture_end(), "\"event\":\"huge\"");
    ck_assert_pstr_eq(end, "\"event\":\"huge\",\"fields_cut\":true}\n");
    buf_release(&line);
}
END_TEST

SUITE_MAIN("base/log", text_and_json_say_the_same, a_value_that_could_be_misread_is_quoted,
           any_bytes_give_a_line_of_json_that_parses, a_field_without_a_value_is_left_out,
           a_huge_value_is_cut, events_below_the_level_are_not_written,
           an_error_is_logged_with_evidence_and_without_detail,
           an_event_of_too_many_fields_still_gives_a_whole_line)
