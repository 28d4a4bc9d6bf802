/* SPDX-License-Identifier: Apache-2.0 */
/* run: slow, numerous, large or invalid clients use few resources and do not affect a pipeline. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "listens.h"

#define MANY "2000" /* the nightly test uses ten thousand */
#define AT_ONCE 400

static int64_t figure_of(const struct listens *l, const char *name)
{
    char path[64];
    char line[256];
    int64_t value = -1;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)l->program.pid);
    FILE *file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, name, strlen(name)) == 0) {
            value = strtoll(line + strlen(name), NULL, 10);
        }
    }
    fclose(file);
    ck_assert_msg(value >= 0, "no %s", name);
    return value;
}

static int64_t resident_kib(const struct listens *l)
{
    return figure_of(l, "VmRSS:");
}

/* Returns -1 if the server accepts no connection at the moment. */
static int connect_to(const struct listens *l)
{
    struct sockaddr_in where = {.sin_family = AF_INET};
    where.sin_port = htons((uint16_t)atoi(strrchr(l->url, ':') + 1));
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    ck_assert_msg(fd >= 0, "%s", strerror(errno));
    if (connect(fd, (struct sockaddr *)&where, sizeof(where)) != 0 && errno != EINPROGRESS) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Skipped with sanitizers, which keep freed memory for a while, and their own data. */
static void expect_flat(const struct listens *l, int64_t before)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)l;
    (void)before;
#else
    ck_assert_int_lt(resident_kib(l) - before, 8192);
#endif
}

static void say(int fd, const char *bytes, size_t len)
{
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    if (fd >= 0 && poll(&ready, 1, 2000) == 1) {
        (void)!send(fd, bytes, len, MSG_NOSIGNAL);
    }
}

/* Expects answers, and that a change still arrives. */
static void expect_well(const struct world *w, const struct listens *l, const char *title)
{
    listens_await(l, "/healthz", 200, "ok\n");
    set_title(w, 5, title);
    await_title(w, 5, title);
    listens_await(l, "/readyz", 200, "articles: following");
}

static void begin(struct world *w, struct listens *l)
{
    world_start(w, 200, NULL);
    world_install(w);
    listens_start(l, w);
    for (int i = 0; i < 20; i++) { /* allocate everything that is allocated once */
        listens_expect(l, "/metrics", 200, "rowferry_up");
        listens_expect(l, "/status", 200, "\"pipelines\"");
    }
}

START_TEST(those_who_never_finish_a_request_keep_nobody_out)
{
    static const char slow[] = "GET /status HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
    struct world w;
    struct listens l;
    int fds[AT_ONCE];
    begin(&w, &l);
    int64_t before = resident_kib(&l);
    for (size_t i = 0; i < AT_ONCE; i++) {
        fds[i] = connect_to(&l);
        say(fds[i], slow, sizeof(slow) - 1);
    }
    for (size_t round = 0; round < 20; round++) {
        for (size_t i = 0; i < AT_ONCE; i++) {
            (void)!send(fds[i], "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        }
        listens_await(&l, "/healthz", 200, "ok\n");
    }
    expect_well(&w, &l, "slow clients");
    expect_flat(&l, before);
    for (size_t i = 0; i < AT_ONCE; i++) {
        close(fds[i]);
    }
    end_run(&l.program);
    world_stop(&w);
}
END_TEST

START_TEST(thousands_of_connections_leave_memory_and_descriptors_as_they_were)
{
    static const char whole[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    struct world w;
    struct listens l;
    int fds[AT_ONCE];
    begin(&w, &l);
    int64_t before = resident_kib(&l);
    for (size_t i = 0; i < AT_ONCE; i++) {
        fds[i] = -1;
    }
    const char *clients = getenv("ROWFERRY_CLIENTS");
    size_t many = strtoul(clients != NULL ? clients : MANY, NULL, 10);
    for (size_t i = 0; i < many; i++) {
        int *fd = &fds[i % AT_ONCE];
        if (*fd >= 0) {
            close(*fd);
        }
        *fd = connect_to(&l);
        say(*fd, whole, i % 3 == 0 ? sizeof(whole) - 1 : 9);
    }
    expect_well(&w, &l, "many clients");
    for (size_t i = 0; i < AT_ONCE; i++) {
        close(fds[i]);
    }
    expect_well(&w, &l, "they have gone");
    expect_flat(&l, before);
    ck_assert_int_lt(figure_of(&l, "FDSize:"), 512);
    end_run(&l.program);
    world_stop(&w);
}
END_TEST

START_TEST(those_who_never_read_are_let_go)
{
    static const char ask[] = "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n";
    struct world w;
    struct listens l;
    int fds[AT_ONCE];
    begin(&w, &l);
    int64_t before = resident_kib(&l);
    for (size_t i = 0; i < AT_ONCE; i++) {
        int least = 1;
        fds[i] = connect_to(&l);
        (void)setsockopt(fds[i], SOL_SOCKET, SO_RCVBUF, &least, sizeof(least));
        say(fds[i], ask, sizeof(ask) - 1);
    }
    expect_well(&w, &l, "deaf clients");
    expect_flat(&l, before);
    for (size_t i = 0; i < AT_ONCE; i++) {
        close(fds[i]);
    }
    end_run(&l.program);
    world_stop(&w);
}
END_TEST

/* Returns the status of the answer after the connection was closed; -1 if it broke. */
static int first_status(const struct listens *l, const char *bytes, size_t len)
{
    char answer[64] = "";
    int fd = connect_to(l);
    int status = -1;
    say(fd, bytes, len);
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    if (poll(&ready, 1, WAIT_MS) == 1 && recv(fd, answer, sizeof(answer) - 1, 0) > 0) {
        ck_assert_int_eq(sscanf(answer, "HTTP/1.%*d %d", &status), 1);
    }
    close(fd);
    return status;
}

START_TEST(garbage_huge_headers_and_other_methods_are_refused)
{
    static const struct {
        const char *text;
        int status;
    } rows[] = {
        {"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc", 405},
        {"DELETE /status HTTP/1.1\r\nHost: localhost\r\n\r\n", 405},
        {"GET /status HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421},
        {"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", 404},
        {"GET /%2e%2e/%00 HTTP/1.1\r\nHost: localhost\r\n\r\n", 404},
        {"HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 200},
    };
    struct world w;
    struct listens l;
    static char huge[1 << 20];
    begin(&w, &l);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int status = first_status(&l, rows[i].text, strlen(rows[i].text));
        ck_assert_msg(status == rows[i].status, "%s: %d", rows[i].text, status);
    }
    memset(huge, 'a', sizeof(huge));
    memcpy(huge, "GET / HTTP/1.1\r\nHost: ", 22);
    ck_assert_int_ne(first_status(&l, huge, sizeof(huge)), 200);
    uint32_t seed = 1; /* reproducible bytes */
    for (size_t round = 0; round < 200; round++) {
        for (size_t i = 0; i < 2048; i++) {
            seed = seed * 1664525 + 1013904223;
            huge[i] = (char)(seed >> 24);
        }
        int fd = connect_to(&l);
        say(fd, huge, 2048);
        close(fd);
    }
    expect_well(&w, &l, "senseless clients");
    end_run(&l.program);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("run/listen_hostile", those_who_never_finish_a_request_keep_nobody_out,
           thousands_of_connections_leave_memory_and_descriptors_as_they_were,
           those_who_never_read_are_let_go, garbage_huge_headers_and_other_methods_are_refused)
