/* SPDX-License-Identifier: Apache-2.0 */
/* Runs programs: fork, exec, both streams into memory files, with a deadline. */
#include "program.h"

#include <check.h>
#include <errno.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rowferry/base/text.h"
#include "wait.h"

#define ARGUMENTS_MAX 32

static int memory_file(const char *name)
{
    int fd = memfd_create(name, MFD_CLOEXEC);
    ck_assert_msg(fd >= 0, "no memory file: %s", strerror(errno));
    return fd;
}

/* Runs in the child and never returns. */
static void become(const struct program *p, const char *const *argv, const char *const *env)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(p->out_fd, STDOUT_FILENO);
    dup2(p->err_fd, STDERR_FILENO);
    for (; env != NULL && *env != NULL; env++) {
        putenv(text_copy(*env));
    }
    char *arguments[ARGUMENTS_MAX + 1] = {0};
    for (size_t i = 0; i < ARGUMENTS_MAX && argv[i] != NULL; i++) {
        arguments[i] = text_copy(argv[i]);
    }
    execv(arguments[0], arguments);
    dprintf(STDERR_FILENO, "could not run \"%s\": %s\n", argv[0], strerror(errno));
    _exit(127);
}

void program_start(struct program *p, const char *const *argv, const char *const *env)
{
    p->out_fd = memory_file("out");
    p->err_fd = memory_file("err");
    p->pid = fork();
    ck_assert_msg(p->pid >= 0, "no process: %s", strerror(errno));
    if (p->pid == 0) {
        become(p, argv, env);
    }
}

/* Reads everything written so far, without changing the program's file offset. */
static char *content(int fd)
{
    struct stat status;
    ck_assert_int_eq(fstat(fd, &status), 0);
    size_t size = (size_t)status.st_size;
    char *text = mem_zero(size + 1, 1);
    for (size_t at = 0; at < size;) {
        ssize_t n = pread(fd, text + at, size - at, (off_t)at);
        ck_assert_int_gt(n, 0);
        at += (size_t)n;
    }
    return text;
}

static int exit_code(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool program_ends(struct program *p, int64_t deadline_ms, struct program_result *result)
{
    struct deadline deadline = deadline_after(deadline_ms);
    int status = 0;
    bool late = false;
    while (waitpid(p->pid, &status, WNOHANG) == 0) {
        if (!deadline_wait(&deadline)) {
            late = true;
            kill(p->pid, SIGKILL);
            waitpid(p->pid, &status, 0);
            break;
        }
    }
    *result = (struct program_result){exit_code(status), content(p->out_fd), content(p->err_fd)};
    close(p->out_fd);
    close(p->err_fd);
    return !late;
}

void program_finish(struct program *p, int64_t deadline_ms, struct program_result *result)
{
    bool ended = program_ends(p, deadline_ms, result);
    ck_assert_msg(ended, "did not end within %lld ms; it said: %s%s", (long long)deadline_ms,
                  result->out, result->err);
}

void program_signal(const struct program *p, int number)
{
    ck_assert_int_eq(kill(p->pid, number), 0);
}

bool program_running(const struct program *p)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

static bool said(int fd, const char *text)
{
    char *all = content(fd);
    bool found = strstr(all, text) != NULL;
    free(all);
    return found;
}

#define TOLD_MAX_BYTES 6000 /* Check accepts messages of at most 8 KiB */

static char *last_said(int fd)
{
    char *all = content(fd);
    size_t len = strlen(all);
    return len > TOLD_MAX_BYTES ? all + len - TOLD_MAX_BYTES : all;
}

void program_await(struct program *p, const char *text, int64_t deadline_ms)
{
    struct deadline deadline = deadline_after(deadline_ms);
    for (;;) {
        bool running = program_running(p);
        if (said(p->err_fd, text) || said(p->out_fd, text)) {
            return;
        }
        ck_assert_msg(running && deadline_wait(&deadline), "never said \"%s\" but: %s", text,
                      last_said(p->err_fd));
    }
}

char *program_said(const struct program *p)
{
    return content(p->err_fd);
}

void program_result_release(struct program_result *result)
{
    free(result->out);
    free(result->err);
    *result = (struct program_result){0};
}

void expect_text(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "no \"%s\" in:\n%s", part, text);
}

/* program arguments... null. The configuration is in the environment, so that the commands that
 * are printed are as short as in the manual. */
static void start_rowferry(struct program *p, const char *config, va_list arguments)
{
    const char *argv[ARGUMENTS_MAX + 1] = {getenv("ROWFERRY_PROGRAM")};
    ck_assert_msg(argv[0] != NULL, "$ROWFERRY_PROGRAM names no program");
    size_t count = 1;
    char *named = NULL;
    ck_assert_int_ge(asprintf(&named, "ROWFERRY_CONFIG=%s", config != NULL ? config : ""), 0);
    const char *argument;
    while ((argument = va_arg(arguments, const char *)) != NULL) {
        ck_assert_uint_lt(count, ARGUMENTS_MAX);
        argv[count++] = argument;
    }
    program_start(p, argv, config != NULL ? (const char *const[]){named, NULL} : NULL);
    free(named);
}

void rowferry_start(struct program *p, const char *config, ...)
{
    va_list arguments;
    va_start(arguments, config);
    start_rowferry(p, config, arguments);
    va_end(arguments);
}

void rowferry_run(struct program_result *result, const char *config, ...)
{
    struct program p;
    va_list arguments;
    va_start(arguments, config);
    start_rowferry(&p, config, arguments);
    va_end(arguments);
    program_finish(&p, RUN_MS, result);
}

void rowferry_expect(int expected, const char *config, ...)
{
    struct program p;
    struct program_result result;
    va_list arguments;
    va_start(arguments, config);
    start_rowferry(&p, config, arguments);
    va_end(arguments);
    program_finish(&p, RUN_MS, &result);
    ck_assert_msg(result.exit_code == expected, "exit code %d instead of %d: %s%s",
                  result.exit_code, expected, result.out, result.err);
    program_result_release(&result);
}

static const char *last_line(const char *text)
{
    size_t end = strlen(text);
    while (end > 0 && text[end - 1] == '\n') {
        end--;
    }
    while (end > 0 && text[end - 1] != '\n') {
        end--;
    }
    return text + end;
}

int64_t program_json_int(const struct program_result *result, const char *member)
{
    struct json_object *value = NULL;
    struct json_object *line = json_tokener_parse(last_line(result->out));
    ck_assert_msg(json_object_object_get_ex(line, member, &value), "no \"%s\" in: %s%s", member,
                  result->out, result->err);
    int64_t number = json_object_get_int64(value);
    json_object_put(line);
    return number;
}
