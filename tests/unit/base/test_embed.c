/* SPDX-License-Identifier: Apache-2.0 */
/* Embedded files: found by name; a missing one aborts. */
#include "rowferry/base/embed.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

static const struct embedded table[] = {{"0001_first", "select 1;\n"}, {"0002", "x"}, {0, 0}};

START_TEST(a_file_is_found_by_its_whole_name)
{
    ck_assert_str_eq(embed_text(table, "0001_first"), "select 1;\n");
    ck_assert_str_eq(embed_text(table, "0002"), "x");
}
END_TEST

START_TEST(a_file_that_is_not_there_aborts)
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        close(STDERR_FILENO);
        embed_text(table, "0001");
        _exit(0);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
END_TEST

SUITE_MAIN("base/embed", a_file_is_found_by_its_whole_name, a_file_that_is_not_there_aborts)
