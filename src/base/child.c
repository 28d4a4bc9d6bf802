/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a shell, reads its output and waits for its end. */
#include "rowferry/base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rowferry/base/clock.h"
#include "rowferry/base/text.h"

extern char **environ;

/* The interval of checks for the end of a command, and its time to end after SIGTERM. */
#define LOOK_MS 20
#define GRACE_MS 1000

static void child_prepare(posix_spawnattr_t *attributes)
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

/* Returns a descriptor of the input, or -1. */
static int child_open_input(struct span input)
{
    if (input.len == 0) {
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd >= 0 &&
        (write(fd, input.data, input.len) != (ssize_t)input.len || lseek(fd, 0, SEEK_SET) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Starts the command in a process group of its own. Returns errno. */
static int child_start(const char *command, int input, int output, pid_t *pid)
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
        child_prepare(&attributes);
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
        /* libraries open connections that a child would inherit, with our rights */
        posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
        cause = posix_spawn(pid, "/bin/sh", &actions, &attributes, argv, environ);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
    }
    free(text);
    return cause;
}

static int64_t child_now_ms(void)
{
    struct clock clock = clock_system();
    return clock_monotonic_us(&clock) / 1000;
}

/* Returns true if the process has ended. It is not reaped, so its id is not reused. */
static bool child_has_ended(pid_t pid)
{
    siginfo_t info = {0};
    int rc = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
    return rc != 0 ? errno != EINTR : info.si_pid == pid;
}

/* Reads the current content of the pipe, and closes it (*fd becomes -1) at its end. Returns
 * errno. */
static int child_drain(int *fd, struct buf *out)
{
    while (*fd >= 0) {
        if (!buf_reserve(out, 4096)) {
            return EFBIG;
        }
        ssize_t got = read(*fd, out->data + out->len, 4096);
        if (got > 0) {
            out->len += (size_t)got;
            out->data[out->len] = '\0';
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
 * ETIMEDOUT, ECANCELED, or another errno. */
static int child_read_until(pid_t pid, int *fd, int stop_fd, struct buf *out, int64_t timeout_ms)
{
    for (int64_t deadline_ms = child_now_ms() + timeout_ms;;) {
        bool ended = child_has_ended(pid); /* before the last read, so that no output is missed */
        int cause = child_drain(fd, out);
        if (cause != 0 || ended) {
            return cause;
        }
        if (child_now_ms() >= deadline_ms) {
            return ETIMEDOUT;
        }
        struct pollfd wait[] = {{.fd = *fd, .events = POLLIN}, {.fd = stop_fd, .events = POLLIN}};
        if (poll(wait, 2, LOOK_MS) > 0 && wait[1].revents != 0) {
            return ECANCELED;
        }
    }
}

/* Ends the command and all processes that it started. */
static void child_end_group(pid_t pid)
{
    kill(-pid, SIGTERM);
    for (int64_t deadline_ms = child_now_ms() + GRACE_MS;
         !child_has_ended(pid) && child_now_ms() < deadline_ms;) {
        clock_sleep(LOOK_MS, NULL);
    }
    kill(-pid, SIGKILL);
}

/* Returns the exit status, or 128 plus the signal that ended the command. */
static int child_reap(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Waits for the end of a command that was started, and reaps it. */
static int child_finish(pid_t pid, int *fd, int stop_fd, int64_t timeout_ms, struct buf *output,
                        int *status)
{
    (void)fcntl(*fd, F_SETFL, O_NONBLOCK); /* if there is a pipe */
    int cause = child_read_until(pid, fd, stop_fd, output, timeout_ms);
    if (cause != 0) {
        child_end_group(pid);
    }
    *status = child_reap(pid);
    return cause;
}

int child_run(const char *command, struct span input, int64_t timeout_ms, int stop_fd,
              struct buf *output, int *status)
{
    int ends[2];
    pid_t pid = 0;
    int in = child_open_input(input);
    if (in < 0 || pipe2(ends, O_CLOEXEC) != 0) {
        int cause = errno;
        close(in);
        return cause;
    }
    int out = output != NULL ? ends[1] : open("/dev/null", O_WRONLY | O_CLOEXEC);
    int cause = child_start(command, in, out, &pid);
    close(in);
    close(ends[1]);
    if (output == NULL) {
        close(out);
        close(ends[0]);
        ends[0] = -1;
    }
    if (cause == 0) {
        cause = child_finish(pid, &ends[0], stop_fd, timeout_ms, output, status);
    }
    if (ends[0] >= 0) {
        close(ends[0]);
    }
    return cause;
}
