/* SPDX-License-Identifier: Apache-2.0 */
/* A shell command: its input and output, its end, and what is left of it. */
#include "rowferry/base/child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "suite.h"

#define LONG_MS 60000

static int run(const char *command, const char *input, int64_t timeout_ms, int stop_fd,
               struct buf *output)
{
    int status = -1;
    int cause =
        child_run(command, span_make(input, strlen(input)), timeout_ms, stop_fd, output, &status);
    return cause != 0 ? -cause : status;
}

START_TEST(a_command_gets_its_input_and_gives_its_output)
{
    struct buf output;
    buf_init(&output, 65536);
    ck_assert_int_eq(run("cat; echo end", "one\ntwo\n", LONG_MS, -1, &output), 0);
    ck_assert_str_eq(buf_text(&output), "one\ntwo\nend\n");
    buf_reset(&output);
    ck_assert_int_eq(run("cat", "", LONG_MS, -1, &output), 0);
    ck_assert_uint_eq(output.len, 0);
    buf_release(&output);
    ck_assert_int_eq(run("echo dropped; exit 7", "", LONG_MS, -1, NULL), 7);
    ck_assert_int_eq(run("kill -TERM $$", "", LONG_MS, -1, NULL), 128 + SIGTERM);
    ck_assert_int_eq(run("exit 0", "never read", LONG_MS, -1, NULL), 0);
}
END_TEST

/* The shell writes the id of a child that would outlive it. */
static void expect_ended(const char *file)
{
    char text[32] = "";
    FILE *f = fopen(file, "re");
    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_nonnull(fgets(text, sizeof(text), f));
    fclose(f);
    pid_t child = (pid_t)strtol(text, NULL, 10);
    ck_assert_int_gt(child, 1);
    for (int i = 0; i < 500 && kill(child, 0) == 0; i++) {
        usleep(10000); /* until init has reaped it */
    }
    ck_assert(kill(child, 0) != 0 && errno == ESRCH);
    unlink(file);
}

START_TEST(a_command_that_hangs_is_ended_with_its_children)
{
    char file[] = "/tmp/rowferry-child-XXXXXX";
    char command[128];
    close(mkstemp(file));
    snprintf(command, sizeof(command), "trap '' TERM; sleep 600 & echo $! > %s; wait; wait", file);
    ck_assert_int_eq(run(command, "", 300, -1, NULL), -ETIMEDOUT);
    expect_ended(file);
}
END_TEST

START_TEST(a_command_inherits_no_connection)
{
    int open_fd = dup(STDIN_FILENO); /* as libraries open theirs: without O_CLOEXEC */
    char command[64];
    ck_assert_int_gt(open_fd, STDERR_FILENO);
    snprintf(command, sizeof(command), "test -e /proc/$$/fd/%d", open_fd);
    ck_assert_int_eq(run(command, "", LONG_MS, -1, NULL), 1);
    close(open_fd);
}
END_TEST

START_TEST(a_stop_ends_a_command_at_once)
{
    int stop = eventfd(1, EFD_CLOEXEC);
    ck_assert_int_ge(stop, 0);
    ck_assert_int_eq(run("sleep 600", "", LONG_MS, stop, NULL), -ECANCELED);
    close(stop);
}
END_TEST

SUITE_MAIN("base/child", a_command_gets_its_input_and_gives_its_output,
           a_command_that_hangs_is_ended_with_its_children, a_command_inherits_no_connection,
           a_stop_ends_a_command_at_once)
