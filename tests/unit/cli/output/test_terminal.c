/* SPDX-License-Identifier: Apache-2.0 */
/* Untrusted bytes: what is written to a terminal, and what to a pipe. */
#include "output/terminal.h"

#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <sys/wait.h>
#include <termios.h>

#include "suite.h"

/* An escape sequence with C1, a right-to-left override, DEL, an invalid UTF-8 byte. */
#define EVIL                                                                                       \
    "a\xc2\x9b"                                                                                    \
    "2J\xe2\x80\xae"                                                                               \
    "b\x7f\x9b"

static void shown(const char *bytes, const char *wanted)
{
    struct buf out;
    buf_init(&out, 4096);
    terminal_push_shown(&out, bytes, strlen(bytes));
    ck_assert_str_eq(buf_text(&out), wanted);
    buf_release(&out);
}

START_TEST(a_terminal_gets_lines_and_colours_of_ours_and_nothing_else_that_moves_it)
{
    shown("one\ttwo\n\xc3\xa9\n", "one\ttwo\n\xc3\xa9\n");
    shown("\033[32mPASS\033[0m", "\033[32mPASS\033[0m");
    shown("\033[H\033[2J\033]0;x\a\r", "\\u001b[H\\u001b[2J\\u001b]0;x\\u0007\\u000d");
    shown(EVIL, "a\\u009b2J\\u202eb\\u007f\xef\xbf\xbd");
    shown("\033[3", "\\u001b[3");
}
END_TEST

START_TEST(json_that_is_shown_means_what_it_meant)
{
    static const char document[] = "{\"title\":\"a\xc2\x9b"
                                   "2J\xe2\x80\xae\x7f\xe2\x81\xa6\"}";
    struct buf out;
    buf_init(&out, 4096);
    terminal_push_shown(&out, document, strlen(document));
    struct json_object *before = json_tokener_parse(document);
    struct json_object *after = json_tokener_parse(buf_text(&out));
    ck_assert_ptr_nonnull(after);
    ck_assert_str_eq(json_object_get_string(json_object_object_get(after, "title")),
                     json_object_get_string(json_object_object_get(before, "title")));
    json_object_put(before);
    json_object_put(after);
    buf_release(&out);
}
END_TEST

/* Runs `write_out` with standard output and error set to fd. Returns what `other` received. */
static char *written(int fd, int other, void (*write_out)(void))
{
    static char got[4096];
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        dup2(fd, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
        write_out();
        _exit(0);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    close(fd); /* so that the other end is read to its end: a terminal gives it in parts */
    size_t len = 0;
    for (ssize_t n; (n = read(other, got + len, sizeof(got) - 1 - len)) > 0;) {
        len += (size_t)n;
    }
    close(other);
    ck_assert_uint_gt(len, 0);
    got[len] = '\0';
    return got;
}

static void write_result(void)
{
    struct err err;
    struct buf out;
    buf_init(&out, 4096);
    buf_push_literal(&out, EVIL "\n");
    _exit(terminal_result(&out, &err));
}

/* Runs `write_out` with a terminal as standard output and error. Returns what it received. */
static char *written_to_terminal(void (*write_out)(void))
{
    struct termios raw;
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    ck_assert(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    ck_assert_int_ge(terminal, 0);
    ck_assert_int_eq(tcgetattr(terminal, &raw), 0);
    cfmakeraw(&raw);
    ck_assert_int_eq(tcsetattr(terminal, TCSANOW, &raw), 0);
    return written(terminal, master, write_out);
}

START_TEST(a_result_is_escaped_on_a_terminal_and_is_what_it_is_in_a_pipe)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_str_eq(written(ends[1], ends[0], write_result), EVIL "\n");
    ck_assert_str_eq(written_to_terminal(write_result), "a\\u009b2J\\u202eb\\u007f\xef\xbf\xbd\n");
}
END_TEST

static void write_error(void)
{
    struct err err;
    err_set(&err, ERR_REJECTED, "message %s", EVIL);
    err_detail(&err, "detail " EVIL, strlen("detail " EVIL));
    err_hint(&err, "hint %s", EVIL);
    terminal_error(NULL, &err);
    terminal_print("advice %s", EVIL);
}

#define MESSAGE_SHOWN "rowferry: message a\\u009b2J\\u202eb \\x9b\n"
#define REST_SHOWN                                                                                 \
    "hint: hint a\\u009b2J\\u202eb \\x9b\n"                                                        \
    "rowferry: advice a\\u009b2J\\u202eb\\x7f\\x9b\n"

START_TEST(an_error_and_its_hint_say_nothing_that_moves_a_terminal)
{
    setenv("NO_COLOR", "1", 1);
    ck_assert_str_eq(written_to_terminal(write_error),
                     MESSAGE_SHOWN "detail: detail a\\u009b2J\\u202eb\\x7f\\x9b\n" REST_SHOWN);
}
END_TEST

START_TEST(what_is_no_terminal_gets_the_detail_with_its_label_too)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_str_eq(written(ends[1], ends[0], write_error),
                     MESSAGE_SHOWN "detail: detail a\\u009b2J\\u202eb\\x7f\\x9b\n" REST_SHOWN);
}
END_TEST

SUITE_MAIN("cli/terminal", a_terminal_gets_lines_and_colours_of_ours_and_nothing_else_that_moves_it,
           json_that_is_shown_means_what_it_meant,
           a_result_is_escaped_on_a_terminal_and_is_what_it_is_in_a_pipe,
           an_error_and_its_hint_say_nothing_that_moves_a_terminal,
           what_is_no_terminal_gets_the_detail_with_its_label_too)
