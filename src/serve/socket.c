/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a listening socket from "host:port". */
#include "socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 64
#define NAME_BYTES 256

static int socket_failed(const char *listen, int cause, struct err *err)
{
    if (cause == EADDRINUSE) {
        err_set(err, ERR_TRANSIENT, "could not listen on \"%s\": another process listens there",
                listen);
        return err_hint(err, "end it, or set another \"listen\" or $ROWFERRY_LISTEN");
    }
    if (cause == EADDRNOTAVAIL || cause == EACCES) {
        err_set(err, ERR_CONFIG, "cannot listen on \"%s\": %s", listen, strerror(cause));
        return err_hint(err, "set \"listen\" to an address of this machine and a port above 1023");
    }
    return err_set(err, ERR_TRANSIENT, "could not listen on \"%s\": %s", listen, strerror(cause));
}

static int socket_look_up(const char *listen, struct addrinfo **out, struct err *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    char host[NAME_BYTES];
    const char *port = strrchr(listen, ':');
    bool brackets = listen[0] == '[';
    size_t len = port != NULL ? (size_t)(port - listen) : 0;
    if (len < (brackets ? 3U : 1U) || len >= sizeof(host)) {
        return err_set(err, ERR_CONFIG, "cannot listen on \"%s\": host:port is expected", listen);
    }
    memcpy(host, listen + brackets, len);
    host[len - (brackets ? 2 : 0)] = '\0';
    int failure = getaddrinfo(host, port + 1, &hints, out);
    if (failure != 0) {
        return err_set(err, failure == EAI_AGAIN ? ERR_TRANSIENT : ERR_CONFIG,
                       "cannot listen on \"%s\": %s", listen, gai_strerror(failure));
    }
    return 0;
}

static int socket_open_one(const struct addrinfo *a)
{
    int on = 1;
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -1;
    }
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, a->ai_addr, a->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0) {
        int cause = errno;
        close(fd);
        errno = cause;
        return -1;
    }
    return fd;
}

static bool socket_is_loopback(const struct sockaddr_storage *a)
{
    if (a->ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const void *)a;
        return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *v6 = (const void *)a;
    return a->ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

static void socket_describe(int fd, char address[SERVE_ADDRESS_BYTES], bool *loopback)
{
    struct sockaddr_storage a = {0};
    socklen_t size = sizeof(a);
    char host[64] = "";
    char port[8] = "";
    (void)getsockname(fd, (struct sockaddr *)&a, &size);
    (void)getnameinfo((const struct sockaddr *)&a, size, host, sizeof(host), port, sizeof(port),
                      NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(address, SERVE_ADDRESS_BYTES, a.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host,
             port);
    *loopback = socket_is_loopback(&a);
}

int socket_listen(const char *listen, int *fd, char address[SERVE_ADDRESS_BYTES], bool *loopback,
                  struct err *err)
{
    struct addrinfo *found = NULL;
    int rc = socket_look_up(listen, &found, err);
    if (rc < 0) {
        return rc;
    }
    int cause = 0;
    *fd = -1;
    for (const struct addrinfo *a = found; a != NULL && *fd < 0; a = a->ai_next) {
        *fd = socket_open_one(a);
        cause = cause == 0 ? errno : cause;
    }
    freeaddrinfo(found);
    if (*fd < 0) {
        return socket_failed(listen, cause, err);
    }
    socket_describe(*fd, address, loopback);
    return 0;
}
