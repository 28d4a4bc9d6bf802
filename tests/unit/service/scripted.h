/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server with scripted answers, byte for byte: one connection at a time, one thread, on a free
 * loopback port. It keeps head and body of the last request.
 */
#pragma once

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define SCRIPTED_REQUEST_BYTES 262144

struct scripted {
    int listener;
    int port;
    pthread_t thread;
    const char *const *answers; /* one per request, null-terminated; the last is repeated */
    size_t cut;                 /* bytes of an answer that are sent before the connection ends */
    bool silent;                /* reads the request and does not answer */
    int wake[2];
    size_t requests;
    char request[SCRIPTED_REQUEST_BYTES]; /* the last one: head and body */
    size_t request_len;
};

/* The same on [::1]; -1 if this machine does not have that address. */
static inline int scripted_bind_six(int *port)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        return -1;
    }
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    *port = ntohs(address.sin6_port);
    return fd;
}

static inline int scripted_bind(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof(address);
    int one = 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

/* Reads head and body (by Content-Length). Returns false if the peer disconnected. */
static inline bool scripted_read(struct scripted *s, int fd)
{
    s->request_len = 0;
    for (;;) {
        char piece[65536]; /* separate, because ThreadSanitizer orders accesses only after recv */
        size_t room = sizeof(s->request) - 1 - s->request_len;
        ssize_t n = recv(fd, piece, room < sizeof(piece) ? room : sizeof(piece), 0);
        if (n <= 0) {
            return false;
        }
        memcpy(s->request + s->request_len, piece, (size_t)n);
        s->request_len += (size_t)n;
        s->request[s->request_len] = '\0';
        const char *end = strstr(s->request, "\r\n\r\n");
        if (end == NULL) {
            continue;
        }
        const char *field = strcasestr(s->request, "\r\ncontent-length:");
        size_t body = field != NULL && field < end ? strtoul(field + 17, NULL, 10) : 0;
        if (s->request_len >= (size_t)(end + 4 - s->request) + body) {
            return true;
        }
    }
}

static inline void scripted_say(struct scripted *s, int fd, const char *text)
{
    size_t len = strlen(text);
    size_t wanted = s->cut < len ? s->cut : len;
    for (size_t at = 0; at < wanted;) {
        ssize_t n = send(fd, text + at, wanted - at, MSG_NOSIGNAL);
        if (n <= 0) {
            return;
        }
        at += (size_t)n;
    }
}

static inline void scripted_serve(struct scripted *s, int fd)
{
    while (scripted_read(s, fd)) {
        size_t at = 0;
        while (at < s->requests && s->answers[at + 1] != NULL) {
            at++;
        }
        s->requests++;
        if (s->silent) {
            char wait;
            (void)!read(s->wake[0], &wait, 1);
            return;
        }
        scripted_say(s, fd, s->answers[at]);
        if (s->cut != SIZE_MAX) {
            return;
        }
    }
}

static inline void *scripted_run(void *context)
{
    struct scripted *s = context;
    for (;;) {
        struct pollfd fds[2] = {{s->listener, POLLIN, 0}, {s->wake[0], POLLIN, 0}};
        int ready = poll(fds, 2, -1);
        if (ready < 0 && errno == EINTR) { /* stopped and continued */
            continue;
        }
        if (ready < 0 || fds[1].revents != 0) {
            return NULL;
        }
        int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0) {
            return NULL;
        }
        scripted_serve(s, fd);
        close(fd);
    }
}

static inline struct scripted *scripted_start_on(int listener, int port, const char *const *answers,
                                                 size_t cut, bool silent)
{
    struct scripted *s = calloc(1, sizeof(*s));
    ck_assert_ptr_nonnull(s);
    s->answers = answers;
    s->cut = cut;
    s->silent = silent;
    s->listener = listener;
    s->port = port;
    ck_assert_int_eq(listen(s->listener, 16), 0);
    ck_assert_int_eq(pipe(s->wake), 0);
    ck_assert_int_eq(pthread_create(&s->thread, NULL, scripted_run, s), 0);
    return s;
}

static inline struct scripted *scripted_start(const char *const *answers, size_t cut, bool silent)
{
    int port;
    int listener = scripted_bind(&port);
    return scripted_start_on(listener, port, answers, cut, silent);
}

/* To be called after the client has closed its connections. */
static inline void scripted_stop(struct scripted *s)
{
    ck_assert_int_eq(write(s->wake[1], "xx", 2), 2);
    shutdown(s->listener, SHUT_RDWR);
    pthread_join(s->thread, NULL);
    close(s->listener);
    close(s->wake[0]);
    close(s->wake[1]);
    free(s);
}

/* Begins to connect without waiting. */
static inline int scripted_dial(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    ck_assert_int_ge(fd, 0);
    (void)connect(fd, (struct sockaddr *)&address, sizeof(address));
    return fd;
}

/* Returns a loopback port without a listener, bound and reserved as long as the test lives. */
static inline int scripted_closed_port(void)
{
    int port;
    (void)scripted_bind(&port);
    return port;
}
