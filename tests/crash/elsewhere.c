/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For LD_PRELOAD: changing host names, a jumping wall clock, and a network file system, under a
 * running program.
 *
 * $ROWFERRY_TEST_NAMES: a file of lines "name address port"; a name in it resolves to its current
 * address and port. Each lookup is recorded in $ROWFERRY_TEST_NAMES.asked. $ROWFERRY_TEST_CLOCK: a
 * file with the number of seconds that the wall clock is ahead. The monotonic clock is not changed.
 * $ROWFERRY_TEST_DISK: the file system type that statfs reports for all folders.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

typedef int getaddrinfo_form(const char *, const char *, const struct addrinfo *,
                             struct addrinfo **);

/* Reads a whole small file. Returns false if it does not exist. */
static bool read_small(const char *path, char *text, size_t size)
{
    int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t len = fd >= 0 ? read(fd, text, size - 1) : -1;
    if (fd >= 0) {
        close(fd);
    }
    text[len > 0 ? len : 0] = '\0';
    return len > 0;
}

/* --- names ----------------------------------------------------------------------------------- */

static bool moved(const char *name, char address[64], char port[16])
{
    char text[4096];
    char known[64];
    char *rest = NULL;
    if (name == NULL || !read_small(getenv("ROWFERRY_TEST_NAMES"), text, sizeof(text))) {
        return false;
    }
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        if (sscanf(line, "%63s %63s %15s", known, address, port) == 3 && strcmp(known, name) == 0) {
            return true;
        }
    }
    return false;
}

static void tell_asked(const char *name, const char *port)
{
    char path[4096];
    char line[128];
    snprintf(path, sizeof(path), "%s.asked", getenv("ROWFERRY_TEST_NAMES"));
    int len = snprintf(line, sizeof(line), "%s %s\n", name, port);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd >= 0) {
        syscall(SYS_write, fd, line, len);
        close(fd);
    }
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **out)
{
    char address[64];
    char port[16];
    getaddrinfo_form *real = NULL;
    void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");
    memcpy(&real, &symbol, sizeof(real));
    if (!moved(name, address, port)) {
        return real(name, service, hints, out);
    }
    tell_asked(name, port);
    return real(address, port, hints, out);
}

/* --- the disk -------------------------------------------------------------------------------- */

int statfs(const char *path, struct statfs *out)
{
    const char *kind = getenv("ROWFERRY_TEST_DISK");
    int rc = (int)syscall(SYS_statfs, path, out);
    if (rc == 0 && kind != NULL) {
        out->f_type = strtol(kind, NULL, 0);
    }
    return rc;
}

/* --- the wall clock -------------------------------------------------------------------------- */

static long ahead_s(void)
{
    char text[32];
    return read_small(getenv("ROWFERRY_TEST_CLOCK"), text, sizeof(text)) ? strtol(text, NULL, 10)
                                                                         : 0;
}

int clock_gettime(clockid_t id, struct timespec *now)
{
    long rc = syscall(SYS_clock_gettime, id, now);
    if (rc == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
        now->tv_sec += ahead_s();
    }
    return (int)rc;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec precise;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &precise);
    *now = (struct timeval){precise.tv_sec, precise.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL) {
        *out = now.tv_sec;
    }
    return now.tv_sec;
}
