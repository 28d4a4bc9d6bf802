/* SPDX-License-Identifier: Apache-2.0 */
/* The system calls that boundary.c counts. */
#include "boundary.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* --- calls that write ------------------------------------------------------------------------ */

#define WRITES(name, fd, size, call)                                                               \
    ssize_t out_ = boundary_goes(name, fd, size);                                                  \
    size_t len_ = (size_t)out_;                                                                    \
    if (out_ < 0) {                                                                                \
        return -1;                                                                                 \
    }                                                                                              \
    ssize_t result_ = (call);                                                                      \
    if (len_ < (size)) {                                                                           \
        boundary_die();                                                                            \
    }                                                                                              \
    return result_

ssize_t write(int fd, const void *bytes, size_t size)
{
    WRITES("write", fd, size, syscall(SYS_write, fd, bytes, len_));
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at)
{
    WRITES("pwrite", fd, size, syscall(SYS_pwrite64, fd, bytes, len_, at));
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at)
{
    WRITES("pwrite", fd, size, syscall(SYS_pwrite64, fd, bytes, len_, at));
}

ssize_t send(int fd, const void *bytes, size_t size, int flags)
{
    WRITES("send", fd, size, syscall(SYS_sendto, fd, bytes, len_, flags, NULL, 0));
}

ssize_t sendto(int fd, const void *bytes, size_t size, int flags, const struct sockaddr *to,
               socklen_t to_size)
{
    WRITES("send", fd, size, syscall(SYS_sendto, fd, bytes, len_, flags, to, to_size));
}

/* --- calls that read ------------------------------------------------------------------------- */

#define READS(name, of, call)                                                                      \
    if (boundary_fails_before(name, of)) {                                                         \
        return -1;                                                                                 \
    }                                                                                              \
    return boundary_came(name, of, (call))

ssize_t read(int fd, void *bytes, size_t size)
{
    READS("read", CLASS_SYSTEM, syscall(SYS_read, fd, bytes, size));
}

ssize_t __read_chk(int fd, void *bytes, size_t size, size_t room);
ssize_t __read_chk(int fd, void *bytes, size_t size, size_t room)
{
    (void)room;
    READS("read", CLASS_SYSTEM, syscall(SYS_read, fd, bytes, size));
}

ssize_t pread(int fd, void *bytes, size_t size, off_t at)
{
    READS("pread", CLASS_SYSTEM, syscall(SYS_pread64, fd, bytes, size, at));
}

ssize_t pread64(int fd, void *bytes, size_t size, off64_t at)
{
    READS("pread", CLASS_SYSTEM, syscall(SYS_pread64, fd, bytes, size, at));
}

#define RECEIVES(call)                                                                             \
    if (boundary_breaks("recv", fd)) {                                                             \
        return -1;                                                                                 \
    }                                                                                              \
    return boundary_came("recv", CLASS_BOUNDARY, (call))

ssize_t recv(int fd, void *bytes, size_t size, int flags)
{
    RECEIVES(syscall(SYS_recvfrom, fd, bytes, size, flags, NULL, NULL));
}

ssize_t __recv_chk(int fd, void *bytes, size_t size, size_t room, int flags);
ssize_t __recv_chk(int fd, void *bytes, size_t size, size_t room, int flags)
{
    (void)room;
    RECEIVES(syscall(SYS_recvfrom, fd, bytes, size, flags, NULL, NULL));
}

/* --- other calls with an effect -------------------------------------------------------------- */

#define FAILS(name, of)                                                                            \
    if (boundary_fails(name, of)) {                                                                \
        return -1;                                                                                 \
    }

static mode_t mode_of(int flags, va_list more)
{
    return (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
}

#define OPENS(flags)                                                                               \
    va_list more;                                                                                  \
    va_start(more, flags);                                                                         \
    mode_t mode = mode_of(flags, more);                                                            \
    va_end(more);                                                                                  \
    FAILS("open", (flags & O_CREAT) == 0 ? CLASS_SYSTEM : CLASS_BOUNDARY)                          \
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode)

int open(const char *path, int flags, ...)
{
    OPENS(flags);
}

int open64(const char *path, int flags, ...)
{
    OPENS(flags);
}

FILE *fopen(const char *restrict path, const char *restrict mode)
{
    FILE *(*real)(const char *, const char *) = NULL;
    void *symbol = dlsym(RTLD_NEXT, "fopen");
    memcpy(&real, &symbol, sizeof(real));
    return boundary_fails("fopen", CLASS_SYSTEM) ? NULL : real(path, mode);
}

int close(int fd)
{
    bool wrong = boundary_fails("close", CLASS_SYSTEM);
    int result = (int)syscall(SYS_close, fd);
    if (wrong) {
        errno = boundary_errno();
        return -1;
    }
    return result;
}

int connect(int fd, const struct sockaddr *to, socklen_t size)
{
    FAILS("connect", CLASS_BOUNDARY)
    return (int)syscall(SYS_connect, fd, to, size);
}

int fsync(int fd)
{
    FAILS("fsync", CLASS_BOUNDARY)
    return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    FAILS("fdatasync", CLASS_BOUNDARY)
    return (int)syscall(SYS_fdatasync, fd);
}

int ftruncate64(int fd, off64_t size)
{
    FAILS("ftruncate", CLASS_BOUNDARY)
    return (int)syscall(SYS_ftruncate, fd, size);
}

int rename(const char *from, const char *to)
{
    FAILS("rename", CLASS_BOUNDARY)
    return (int)syscall(SYS_rename, from, to);
}

int link(const char *from, const char *to)
{
    FAILS("link", CLASS_BOUNDARY)
    return (int)syscall(SYS_link, from, to);
}

int unlink(const char *path)
{
    FAILS("unlink", CLASS_BOUNDARY)
    return (int)syscall(SYS_unlink, path);
}

#define CONTROLS(command)                                                                          \
    va_list more;                                                                                  \
    va_start(more, command);                                                                       \
    long argument = va_arg(more, long);                                                            \
    va_end(more);                                                                                  \
    bool locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK;              \
    FAILS(locks ? "lock" : "fcntl", CLASS_SYSTEM)                                                  \
    return (int)syscall(SYS_fcntl, fd, command, argument)

int fcntl(int fd, int command, ...)
{
    CONTROLS(command);
}

int fcntl64(int fd, int command, ...)
{
    CONTROLS(command);
}

/* --- calls that only query ------------------------------------------------------------------- */

int socket(int domain, int type, int protocol)
{
    FAILS("socket", CLASS_SYSTEM)
    return (int)syscall(SYS_socket, domain, type, protocol);
}

int socketpair(int domain, int type, int protocol, int fds[2])
{
    FAILS("socketpair", CLASS_SYSTEM)
    return (int)syscall(SYS_socketpair, domain, type, protocol, fds);
}

int eventfd(unsigned value, int flags)
{
    FAILS("eventfd", CLASS_SYSTEM)
    return (int)syscall(SYS_eventfd2, value, flags);
}

int pipe2(int fds[2], int flags)
{
    FAILS("pipe2", CLASS_SYSTEM)
    return (int)syscall(SYS_pipe2, fds, flags);
}

int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    FAILS("poll", CLASS_SYSTEM)
    return (int)syscall(SYS_poll, fds, count, timeout_ms);
}

int epoll_wait(int fd, struct epoll_event *events, int most, int timeout_ms)
{
    FAILS("epoll_wait", CLASS_SYSTEM)
    return (int)syscall(SYS_epoll_wait, fd, events, most, timeout_ms);
}

int getsockopt(int fd, int level, int name, void *restrict value, socklen_t *restrict size)
{
    FAILS("getsockopt", CLASS_SYSTEM)
    return (int)syscall(SYS_getsockopt, fd, level, name, value, size);
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
    FAILS("setsockopt", CLASS_SYSTEM)
    return (int)syscall(SYS_setsockopt, fd, level, name, value, size);
}

int getsockname(int fd, struct sockaddr *restrict address, socklen_t *restrict size)
{
    FAILS("getsockname", CLASS_SYSTEM)
    return (int)syscall(SYS_getsockname, fd, address, size);
}

int getpeername(int fd, struct sockaddr *restrict address, socklen_t *restrict size)
{
    FAILS("getpeername", CLASS_SYSTEM)
    return (int)syscall(SYS_getpeername, fd, address, size);
}

int stat(const char *restrict path, struct stat *restrict status)
{
    FAILS("stat", CLASS_SYSTEM)
    return (int)syscall(SYS_stat, path, status);
}

int stat64(const char *restrict path, struct stat64 *restrict status)
{
    FAILS("stat", CLASS_SYSTEM)
    return (int)syscall(SYS_stat, path, status);
}

int lstat(const char *restrict path, struct stat *restrict status)
{
    FAILS("lstat", CLASS_SYSTEM)
    return (int)syscall(SYS_lstat, path, status);
}

int lstat64(const char *restrict path, struct stat64 *restrict status)
{
    FAILS("lstat", CLASS_SYSTEM)
    return (int)syscall(SYS_lstat, path, status);
}

int fstat(int fd, struct stat *status)
{
    FAILS("fstat", CLASS_SYSTEM)
    return (int)syscall(SYS_fstat, fd, status);
}

int fstat64(int fd, struct stat64 *status)
{
    FAILS("fstat", CLASS_SYSTEM)
    return (int)syscall(SYS_fstat, fd, status);
}

int statfs(const char *path, struct statfs *status)
{
    FAILS("statfs", CLASS_SYSTEM)
    return (int)syscall(SYS_statfs, path, status);
}

ssize_t getrandom(void *bytes, size_t size, unsigned flags)
{
    FAILS("getrandom", CLASS_SYSTEM)
    return syscall(SYS_getrandom, bytes, size, flags);
}

void *mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset)
{
    if (boundary_fails("mmap", CLASS_SYSTEM)) {
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
                   void *(*run)(void *), void *restrict argument)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = NULL;
    void *symbol = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&real, &symbol, sizeof(real));
    return boundary_fails("pthread_create", CLASS_SYSTEM) ? boundary_errno()
                                                          : real(thread, attributes, run, argument);
}
