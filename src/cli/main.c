/* SPDX-License-Identifier: Apache-2.0 */
/* Sets up the process, runs the command, and returns its exit code. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "arguments.h"
#include "output/terminal.h"
#include "rowferry/base/failpoint.h"

#define DESCRIPTORS_MOST 65536

static int run(const struct arguments *a, struct err *err)
{
    if (arguments_have(a, OPTION_HELP)) {
        return command_help(a, err);
    }
    if (arguments_have(a, OPTION_VERSION)) {
        return command_version(a, err);
    }
    if (!FAILPOINT_LOAD()) {
        return err_set(err, ERR_CONFIG, "$ROWFERRY_FAILPOINT is malformed");
    }
    return a->command->run(a, err);
}

/* The process holds secrets and documents. Only root may attach to it or read its environment and
 * memory in /proc, and a crash leaves no core. */
static void close_to_others(void)
{
    struct rlimit limit;
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    if (getrlimit(RLIMIT_CORE, &limit) == 0) {
        limit.rlim_cur = 0; /* for kernels that pipe the core of such a process to a program */
        setrlimit(RLIMIT_CORE, &limit);
    }
}

/* A pipeline needs a dozen descriptors. The soft limit of most shells and services is meant for
 * programs that use select(), so raise it. */
static void allow_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < DESCRIPTORS_MOST) {
        limit.rlim_cur = limit.rlim_max < DESCRIPTORS_MOST ? limit.rlim_max : DESCRIPTORS_MOST;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* If stdin, stdout or stderr is closed, the next socket would reuse its descriptor and our
 * output would go to a server. Open /dev/null instead, in the direction that makes reads or
 * writes fail. */
static void hold_closed_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
}

int main(int argc, char **argv)
{
    struct arguments a;
    struct err err;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL); /* if ignored, the exit status of a secret's command would be lost */
    hold_closed_streams();
    close_to_others();
    allow_descriptors();
    int rc = arguments_parse(&a, argc, (const char *const *)argv, &err);
    if (rc == 0) {
        rc = run(&a, &err);
    }
    if (rc < 0) {
        terminal_error(NULL, &err);
        rc = (int)err_exit_code((enum err_class)rc);
    }
    arguments_release(&a);
    return rc;
}
