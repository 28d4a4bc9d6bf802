/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For LD_PRELOAD: a disk that becomes full at a write of the state file. Writes to the file, its
 * journal and its lock are counted from 1. Number $ROWFERRY_TEST_FULL_AT and all later ones fail,
 * and the first failure is reported on standard error. $ROWFERRY_TEST_FULL_WHILE: all these writes
 * fail while this file exists.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long writes;

static bool is_state(int fd)
{
    char link[64];
    char path[4096];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, sizeof(path) - 1);
    if (len < 0) {
        return false;
    }
    path[len] = '\0';
    return strstr(path, "/state.db") != NULL;
}

static bool is_full(int fd)
{
    static const char said[] = "the disk became full\n";
    const char *at = getenv("ROWFERRY_TEST_FULL_AT");
    const char *during = getenv("ROWFERRY_TEST_FULL_WHILE");
    if (!is_state(fd)) {
        return false;
    }
    if (during != NULL && access(during, F_OK) == 0) {
        errno = ENOSPC;
        return true;
    }
    if (at == NULL) {
        return false;
    }
    long first = strtol(at, NULL, 10);
    if (++writes < first) {
        return false;
    }
    if (writes == first) {
        syscall(SYS_write, STDERR_FILENO, said, sizeof(said) - 1);
    }
    errno = ENOSPC;
    return true;
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    return is_full(fd) ? -1 : syscall(SYS_write, fd, bytes, size);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at)
{
    return is_full(fd) ? -1 : syscall(SYS_pwrite64, fd, bytes, size, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at)
{
    return is_full(fd) ? -1 : syscall(SYS_pwrite64, fd, bytes, size, at);
}
