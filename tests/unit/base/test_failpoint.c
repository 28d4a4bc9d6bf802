/* SPDX-License-Identifier: Apache-2.0 */
/* Failpoints: syntax of the setting, counting, the kill. */
#undef NDEBUG /* a release build has no failpoints */
#include "rowferry/base/failpoint.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

START_TEST(nothing_set_means_nothing_happens)
{
    ck_assert(failpoint_load(NULL));
    ck_assert(!failpoint_armed);
    ck_assert(failpoint_load(""));
    ck_assert(!failpoint_armed);
    ck_assert(!FAILPOINT("send_batch"));
}
END_TEST

START_TEST(an_error_without_a_number_fails_each_time)
{
    ck_assert(failpoint_load("other=kill@9,send_batch=error"));
    ck_assert(FAILPOINT("send_batch"));
    ck_assert(FAILPOINT("send_batch"));
    ck_assert(!FAILPOINT("send"));
    ck_assert(!FAILPOINT("send_batch_more"));
    ck_assert(!FAILPOINT("other"));
}
END_TEST

START_TEST(an_error_with_a_number_fails_that_time_only)
{
    ck_assert(failpoint_load("p=error@3"));
    ck_assert(!FAILPOINT("p"));
    ck_assert(!FAILPOINT("p"));
    ck_assert(FAILPOINT("p"));
    ck_assert(!FAILPOINT("p"));
}
END_TEST

/* Passes the failpoint in a child. Returns how often it succeeded before the child was killed. */
static int passes_before_kill(const char *setting)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        bool loaded = failpoint_load(setting);
        for (int i = 0; loaded && i < 10; i++) {
            if (FAILPOINT("p") || write(ends[1], "x", 1) != 1) {
                _exit(1);
            }
        }
        _exit(0);
    }
    close(ends[1]);
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    char passed[16];
    ssize_t n = read(ends[0], passed, sizeof(passed));
    close(ends[0]);
    return (int)n;
}

START_TEST(a_kill_ends_the_process_at_the_pass_that_was_named)
{
    ck_assert_int_eq(passes_before_kill("p=kill"), 0);
    ck_assert_int_eq(passes_before_kill("p=kill@1"), 0);
    ck_assert_int_eq(passes_before_kill("q=error,p=kill@3"), 2);
}
END_TEST

START_TEST(a_malformed_setting_is_refused_and_arms_nothing)
{
    static const char *const bad[] = {
        "p",        "p=",        "=kill",     "p=crash",   "p=kill@",
        "p=kill@0", "p=kill@x",  "p=kill@-1", "p=kill@1x", "p=killer",
        ",",        "p=error,",  ",p=error",  "p=kill@ 1", "p=error,,q=error",
        "p=kill 3", "p,q=error",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_msg(!failpoint_load(bad[i]), "%s", bad[i]);
        ck_assert(!failpoint_armed);
        ck_assert(!FAILPOINT("p"));
    }
}
END_TEST

START_TEST(more_points_than_there_is_room_for_are_refused)
{
    char setting[17 * 8 + 1] = "";
    for (int i = 0; i < 17; i++) {
        ck_assert(i == 0 || failpoint_load(setting));
        strcat(setting, i == 0 ? "a=error" : ",a=error");
    }
    ck_assert(!failpoint_load(setting));
}
END_TEST

SUITE_MAIN("base/failpoint", nothing_set_means_nothing_happens,
           an_error_without_a_number_fails_each_time, an_error_with_a_number_fails_that_time_only,
           a_kill_ends_the_process_at_the_pass_that_was_named,
           a_malformed_setting_is_refused_and_arms_nothing,
           more_points_than_there_is_room_for_are_refused)
