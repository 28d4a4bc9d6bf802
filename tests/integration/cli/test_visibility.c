/* SPDX-License-Identifier: Apache-2.0 */
/* Visibility of the program to people at a terminal and to other processes of its user. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sql.h"
#include "suite.h"
#include "world.h"

/* Shows the document on a terminal made by script(1), or in a pipe. */
static void document_of_a_hostile_row(const struct world *w, bool on_terminal, const char *wanted)
{
    char command[4096];
    struct program p;
    struct program_result result;
    snprintf(command, sizeof(command), "\"%s\" -c \"%s\" document 7", getenv("ROWFERRY_PROGRAM"),
             w->config);
    const char *run = on_terminal ? "exec script -qefc \"$0\" /dev/null" : "eval \"$0\"";
    program_start(&p, (const char *const[]){"/bin/sh", "-c", run, command, NULL}, NULL);
    program_finish(&p, RUN_MS, &result);
    ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
    expect_text(result.out, wanted);
    program_result_release(&result);
}

START_TEST(a_document_on_a_terminal_shows_the_controls_of_a_row_and_a_pipe_gets_its_bytes)
{
    struct world w;
    world_start(&w, 10, NULL);
    world_install(&w);
    sql_exec(w.conn, "update articles set title = U&'a\\009B2J\\202Eb\\2066' || chr(127) "
                     "where source_id = 7");
    document_of_a_hostile_row(&w, true, "\"title\":\"a\\u009b2J\\u202eb\\u2066\\u007f\"");
    document_of_a_hostile_row(&w, false,
                              "\"title\":\"a\xc2\x9b"
                              "2J\xe2\x80\xae"
                              "b\xe2\x81\xa6\x7f\"");
    world_stop(&w);
}
END_TEST

/* A line that wraps, or a line too many, scrolls a screen that is redrawn from its top. */
START_TEST(a_watched_status_stays_within_a_small_terminal)
{
    struct world w;
    struct program p;
    struct program_result result;
    char command[4096];
    world_start(&w, 10, NULL);
    world_install(&w);
    rowferry_expect(0, w.config, "sync", NULL);
    snprintf(command, sizeof(command),
             "stty cols 30 rows 8; exec timeout 2 '%s' -c '%s' status --watch articles",
             getenv("ROWFERRY_PROGRAM"), w.config);
    program_start(
        &p,
        (const char *const[]){"/bin/sh", "-c", "exec script -qefc \"$0\" /dev/null", command, NULL},
        NULL);
    program_finish(&p, RUN_MS, &result);
    const char *at = strstr(result.out, "\033[?7l\033[H"); /* no wrapping, from the top */
    ck_assert_msg(at != NULL && strstr(at, "\033[J\033[?7h") != NULL, "%s", result.out);
    size_t lines = 0;
    for (; strncmp(at, "\033[J", 3) != 0; at++) {
        lines += *at == '\n';
    }
    ck_assert_uint_eq(lines, 7);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

/* If a process may not be attached to, its files in /proc belong to root. The program waits because
 * its configuration is a pipe. */
START_TEST(the_environment_and_the_memory_are_closed_to_processes_of_the_same_user)
{
    char dir[] = "/tmp/rowferry-closed-XXXXXX";
    char path[64];
    char command[4096];
    struct stat at;
    struct program p;
    struct program_result result;
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(chmod(dir, 0755), 0);
    snprintf(
        command, sizeof(command),
        "cp '%s' %s/rowferry && mkfifo -m 0644 %s/pipe && exec %s%s/rowferry -c %s/pipe status",
        getenv("ROWFERRY_PROGRAM"), dir, dir,
        geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "", dir, dir);
    program_start(&p, (const char *const[]){"/bin/sh", "-c", command, NULL}, NULL);
    struct deadline deadline = deadline_after(WAIT_MS);
    snprintf(path, sizeof(path), "%s/pipe", dir);
    int fd = -1;
    while ((fd = open(path, O_WRONLY | O_NONBLOCK)) < 0) { /* until the program opens it */
        ck_assert(deadline_wait(&deadline));
    }
    snprintf(path, sizeof(path), "/proc/%d/environ", (int)p.pid);
    ck_assert_int_eq(stat(path, &at), 0);
    ck_assert(program_running(&p)); /* files of an ended process belong to root too */
    ck_assert_msg(at.st_uid == 0, "/proc is open to user %d", (int)at.st_uid);
    close(fd);
    program_signal(&p, SIGKILL);
    program_finish(&p, WAIT_MS, &result);
    program_result_release(&result);
    snprintf(command, sizeof(command), "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

/* Checks this before the installation: the first row of our tables stops a subscriber without
 * them. */
START_TEST(source_says_whom_the_change_log_concerns)
{
    struct world w;
    struct program_result result;
    world_start(&w, 10, NULL);
    char *owner = sql_text(w.conn, "select 'rowferry_owner_' || current_database()");
    sql_exec(w.conn,
             "create role \"%s\"; alter table articles owner to \"%s\"; "
             "create publication everything for all tables",
             owner, owner);
    rowferry_run(&result, w.config, "source", "print", NULL);
    expect_text(result.out,
                "-- warning: a publication includes all tables, also these: \"everything\"");
    expect_text(result.out, "pg_dump --exclude-schema=rowferry");
    program_result_release(&result);
    rowferry_run(&result, w.config, "source", "install", NULL);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    expect_text(result.err, "the publication \"everything\" includes all tables");
    expect_text(result.out, "dumps its tables by pg_dump --exclude-schema=rowferry");
    program_result_release(&result);
    rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
    expect_text(result.out, "dumps its tables by pg_dump --exclude-schema=rowferry");
    program_result_release(&result);
    sql_exec(w.conn, "drop owned by \"%s\" cascade; drop role \"%s\"", owner, owner);
    free(owner);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("cli/visibility", source_says_whom_the_change_log_concerns,
           a_document_on_a_terminal_shows_the_controls_of_a_row_and_a_pipe_gets_its_bytes,
           a_watched_status_stays_within_a_small_terminal,
           the_environment_and_the_memory_are_closed_to_processes_of_the_same_user)
