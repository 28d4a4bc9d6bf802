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

/* The interval of checks for the end of a command, and its time to end after SIGTERM. */
#define LOOK_MS 20
#define GRACE_MS 1000

static void secret_command_prepare(posix_spawnattr_t *attributes)
{
    sigset_t none;
    sigset_t pipe_only;
    sigemptyset(&none); /* this process blocks the signals that it waits for */
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &pipe_only);
    posix_spawnattr_setpgroup(attributes, 0);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                             POSIX_SPAWN_SETPGROUP);
}

/* Starts the command in a process group of its own, with its output into the pipe and no input.
 * Returns errno. */
static int secret_command_start(const char *command, int output, pid_t *pid)
{
    char shell[] = "sh";
    char flag[] = "-c";
    char *text = text_copy(command);
    char *argv[] = {shell, flag, text, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int cause = posix_spawn_file_actions_init(&actions);
    if (cause == 0) {
        cause = posix_spawnattr_init(&attributes);
    }
    if (cause == 0) {
        secret_command_prepare(&attributes);
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        cause = posix_spawn(pid, "/bin/sh", &actions, &attributes, argv, environ);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
    }
    free(text);
    return cause;
}

static int64_t secret_command_now_ms(void)
{
    struct clock clock = clock_system();
    return clock_monotonic_us(&clock) / 1000;
}

/* Returns true if the process has ended. It is not reaped, so its id is not reused. */
static bool secret_command_has_ended(pid_t pid)
{
    siginfo_t info = {0};
    int rc = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
    return rc != 0 ? errno != EINTR : info.si_pid == pid;
}

/* Reads the current content of the pipe, and closes it (*fd becomes -1) at its end. Returns
 * errno. */
static int secret_command_drain(int *fd, struct buf *out)
{
    while (*fd >= 0) {
        if (!buf_reserve(out, 4096)) {
            return EFBIG;
        }
        ssize_t got = read(*fd, out->data + out->len, 4096);
        if (got > 0) {
            out->len += (size_t)got;
        } else if (got == 0) {
            close(*fd);
            *fd = -1;
        } else if (errno != EINTR) {
            return errno == EAGAIN ? 0 : errno;
        }
    }
    return 0;
}

/* Reads until the command itself has ended, even if a child keeps the pipe open. Returns 0,
 * ETIMEDOUT, or another errno. */
static int secret_command_read_until(pid_t pid, int *fd, struct buf *out, int64_t timeout_ms)
{
    for (int64_t deadline_ms = secret_command_now_ms() + timeout_ms;;) {
        bool ended =
            secret_command_has_ended(pid); /* before the last read, so that no output is missed */
        int cause = secret_command_drain(fd, out);
        if (cause != 0 || ended) {
            return cause;
        }
        if (secret_command_now_ms() >= deadline_ms) {
            return ETIMEDOUT;
        }
        struct pollfd wait = {.fd = *fd, .events = POLLIN};
        (void)poll(&wait, 1, LOOK_MS);
    }
}

/* Ends the command and all processes that it started. */
static void secret_command_end_group(pid_t pid)
{
    kill(-pid, SIGTERM);
    for (int64_t deadline_ms = secret_command_now_ms() + GRACE_MS;
         !secret_command_has_ended(pid) && secret_command_now_ms() < deadline_ms;) {
        clock_sleep(LOOK_MS, NULL);
    }
    kill(-pid, SIGKILL);
}

/* Returns the exit status, or 128 plus the signal that ended the command. */
static int secret_command_reap(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int secret_command_verdict(int cause, int status, const char *option, int64_t timeout_ms,
                                  struct err *err)
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
        return secret_command_verdict(errno, 0, option, timeout_ms, err);
    }
    struct buf output;
    buf_init(&output, SECRET_MAX_BYTES);
    pid_t pid = 0;
    int status = 0;
    int cause = secret_command_start(command, ends[1], &pid);
    close(ends[1]);
    if (cause == 0) {
        (void)fcntl(ends[0], F_SETFL, O_NONBLOCK); /* cannot fail for a pipe */
        cause = secret_command_read_until(pid, &ends[0], &output, timeout_ms);
        if (cause != 0) {
            secret_command_end_group(pid);
        }
        status = secret_command_reap(pid);
    }
    if (ends[0] >= 0) {
        close(ends[0]);
    }
    int result = secret_command_verdict(cause, status, option, timeout_ms, err);
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
