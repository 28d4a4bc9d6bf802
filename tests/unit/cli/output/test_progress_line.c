/* SPDX-License-Identifier: Apache-2.0 */
/* Progress on a terminal: what is written, and what others write between. */
#include "output/progress_line.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "output/terminal.h"
#include "rowferry/base/stop.h"
#include "suite.h"

#define ERASE "\r\033[J"
#define BEGIN ERASE "\033[?7l"
#define END "\033[?7h\r"

/* Makes stdout and stderr a terminal of 40 columns and 10 lines. Returns its other end. */
static int terminal_open(void)
{
    struct termios raw;
    const struct winsize size = {.ws_col = 40, .ws_row = 10};
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    ck_assert(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    ck_assert_int_ge(terminal, 0);
    ck_assert_int_eq(tcgetattr(terminal, &raw), 0);
    cfmakeraw(&raw);
    ck_assert_int_eq(tcsetattr(terminal, TCSANOW, &raw), 0);
    ck_assert_int_eq(ioctl(terminal, TIOCSWINSZ, &size), 0);
    ck_assert_int_eq(setenv("TERM", "xterm", 1), 0);
    fflush(NULL);
    dup2(terminal, STDOUT_FILENO);
    dup2(terminal, STDERR_FILENO);
    return master;
}

static void expect_written(int master, const char *wanted)
{
    char got[4096];
    ssize_t len = read(master, got, sizeof(got) - 1);
    ck_assert_int_gt(len, 0);
    got[len] = '\0';
    ck_assert_str_eq(got, wanted);
}

START_TEST(lines_are_drawn_in_place_and_erased_before_anything_else)
{
    struct progress_line p;
    struct progress work = {.pipeline = "a", .stage = "copying", .share = -1, .remaining_ms = -1};
    struct buf out;
    struct err err;
    int master = terminal_open();
    progress_line_init(&p, true);
    progress_line_add(&p, "a");
    progress_line_add(&p, "b");
    progress_line_draw(&p, &work);
    expect_written(master, BEGIN "a      copying\ntotal  0/2 done" END "\033[1A");
    terminal_print("advice");
    expect_written(master, ERASE "rowferry: advice\n");
    buf_init(&out, 100);
    buf_push_literal(&out, "a: nothing to do\n");
    ck_assert_int_eq(terminal_result(&out, &err), 0);
    expect_written(master, ERASE "a: nothing to do\n");
    progress_line_end(&p, "a");
    expect_written(master, ERASE);
    progress_line_release(&p);
    ck_assert_int_eq(terminal_result(&out, &err), 0);
    expect_written(master, "a: nothing to do\n");
    buf_release(&out);
}
END_TEST

START_TEST(a_single_line_shows_each_text_at_once)
{
    struct progress_line p;
    int master = terminal_open();
    progress_line_init(&p, true);
    progress_line_show(&p, "articles", "validating, counts");
    expect_written(master, BEGIN "articles: validating, counts" END);
    progress_line_show(&p, "articles", "validating, queries of forty characters");
    expect_written(master, BEGIN "articles: validating, queries of forty " END);
    progress_line_release(&p);
}
END_TEST

START_TEST(without_leave_nothing_is_written)
{
    struct progress_line p;
    int master = terminal_open();
    progress_line_init(&p, false);
    progress_line_show(&p, "articles", "validating, counts");
    progress_line_end(&p, "articles");
    terminal_print("advice");
    expect_written(master, "rowferry: advice\n");
    progress_line_release(&p);
    ck_assert_int_eq(setenv("TERM", "dumb", 1), 0);
    progress_line_init(&p, true);
    progress_line_show(&p, "articles", "validating, counts");
    terminal_print("advice");
    expect_written(master, "rowferry: advice\n");
    progress_line_release(&p);
}
END_TEST

START_TEST(a_second_interrupt_erases_the_lines)
{
    struct progress_line p;
    int master = terminal_open();
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        progress_line_init(&p, true);
        stop_watch();
        raise(SIGTERM);
        raise(SIGTERM);
        _exit(0);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(WEXITSTATUS(status), 128 + SIGTERM);
    expect_written(master, ERASE);
}
END_TEST

SUITE_MAIN("cli/progress_line", lines_are_drawn_in_place_and_erased_before_anything_else,
           a_single_line_shows_each_text_at_once, without_leave_nothing_is_written,
           a_second_interrupt_erases_the_lines)
