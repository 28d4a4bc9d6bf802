/* SPDX-License-Identifier: Apache-2.0 */
/* A secret from a shell command: its first line, within a time limit. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/text.h"
#include "secret.h"

extern char **environ;

/* Starts the command with its output into the pipe and nothing to read; returns errno. */
static int start(const char *command, int output, pid_t *pid)
{
    char shell[] = "sh";
    char flag[] = "-c";
    char *text = text_copy(command);
    char *argv[] = {shell, flag, text, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    int cause = posix_spawn_file_actions_init(&actions);
    if (cause == 0) {
        cause = posix_spawnattr_init(&attributes);
    }
    if (cause == 0) {
        sigemptyset(&none); /* our own are blocked where they are waited for */
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        cause = posix_spawn(pid, "/bin/sh", &actions, &attributes, argv, environ);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
    }
    free(text);
    return cause;
}

/* Reads until the end of the output or the deadline: 0, ETIMEDOUT, or another errno. */
static int read_until(int fd, struct buf *out, int64_t timeout_ms)
{
    struct clock clock = clock_system();
    int64_t deadline_us = clock_monotonic_us(&clock) + timeout_ms * 1000;
    for (;;) {
        int64_t left_ms = (deadline_us - clock_monotonic_us(&clock)) / 1000;
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        int ready = left_ms > 0 ? poll(&wait, 1, (int)left_ms) : 0;
        if (ready == 0) {
            return ETIMEDOUT;
        }
        if (ready < 0 && errno != EINTR) {
            return errno;
        }
        if (ready > 0) {
            if (!buf_reserve(out, 4096)) {
                return EFBIG;
            }
            ssize_t got = read(fd, out->data + out->len, 4096);
            if (got == 0) {
                return 0;
            }
            out->len += got > 0 ? (size_t)got : 0;
        }
    }
}

/* The exit status, 128 and the signal where it was killed. */
static int finish(pid_t pid, bool running)
{
    int status = 0;
    if (running) {
        kill(pid, SIGKILL);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int verdict(int cause, int status, const char *option, int64_t timeout_ms, struct err *err)
{
    if (cause == ETIMEDOUT) {
        return err_set(err, ERR_TRANSIENT, "the command of \"%s\" did not end within %lld s",
                       option, (long long)(timeout_ms / 1000));
    }
    if (cause != 0) {
        return err_set(err, ERR_REJECTED, "cannot run the command of \"%s\": %s", option,
                       strerror(cause));
    }
    if (status != 0) {
        return err_set(err, ERR_REJECTED, "the command of \"%s\" ended with %d", option, status);
    }
    return 0;
}

int secret_from_command(const char *command, const char *option, int64_t timeout_ms, char **out,
                        struct err *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return verdict(errno, 0, option, timeout_ms, err);
    }
    struct buf output;
    buf_init(&output, SECRET_MAX_BYTES);
    pid_t pid = 0;
    int status = 0;
    int cause = start(command, ends[1], &pid);
    close(ends[1]);
    if (cause == 0) {
        cause = read_until(ends[0], &output, timeout_ms);
        status = finish(pid, cause != 0);
    }
    close(ends[0]);
    int result = verdict(cause, status, option, timeout_ms, err);
    if (result == 0) {
        const char *newline = output.len > 0 ? memchr(output.data, '\n', output.len) : NULL;
        size_t len = newline != NULL ? (size_t)(newline - output.data) : output.len;
        *out = text_copy_span(span_make(buf_text(&output), len));
    }
    if (output.data != NULL) {
        explicit_bzero(output.data, output.capacity);
    }
    buf_release(&output);
    return result;
}
