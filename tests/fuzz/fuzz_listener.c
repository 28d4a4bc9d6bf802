/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arbitrary bytes sent to the status listener. It must return an HTTP answer or nothing, and must
 * answer the next client.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "rowferry/serve/serve.h"

#define ANSWER_BYTES 65536
#define TIMEOUT_S 8

static struct serve *serve;

static int64_t never_silent(void *context, size_t board)
{
    (void)context;
    (void)board;
    return 0;
}

static void describe(void *context, size_t board, const struct status_snapshot_view *view,
                     struct buf *out)
{
    (void)context;
    (void)board;
    buf_printf(out, "{\"name\":\"%s\"}", view->name);
}

static void stop(void)
{
    serve_stop(serve);
}

static void start(void)
{
    static struct status_snapshot *board;
    static struct serve_options options = {.listen = "127.0.0.1:0",
                                           .snapshots = &board,
                                           .count = 1,
                                           .silent_most_ms = 60000,
                                           .silent_ms = never_silent,
                                           .describe = describe};
    struct err err;
    board = status_snapshot_new("things", "things");
    options.clock = clock_system();
    int rc = serve_start(&serve, &options, &err);
    FUZZ_EXPECT(rc == 0, "%s", err.message);
    atexit(stop);
}

/* The fuzzer's own alarm interrupts system calls. */
static bool interrupted(ssize_t rc)
{
    return rc < 0 && errno == EINTR;
}

static int connect_to(const char *address)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons((uint16_t)atoi(strrchr(address, ':') + 1))};
    struct timeval timeout = {.tv_sec = TIMEOUT_S};
    /* a closed connection keeps its port for a minute, so spread them over many source addresses */
    static uint32_t turn;
    struct sockaddr_in from = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + turn++ % 250)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &(int){1}, sizeof(int));
    FUZZ_EXPECT(fd >= 0 && bind(fd, (struct sockaddr *)&from, sizeof(from)) == 0, "no address");
    int rc;
    do {
        rc = connect(fd, (struct sockaddr *)&to, sizeof(to));
    } while (interrupted(rc));
    FUZZ_EXPECT(rc == 0, "no connection: %s", strerror(errno));
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    /* close without TIME_WAIT, because many connections follow */
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0}, sizeof(struct linger));
    return fd;
}

/* Returns the answer up to the end of the connection, which may end while we send. */
static size_t ask(const char *request, size_t len, char *answer, size_t max)
{
    int fd = connect_to(serve_address(serve));
    size_t got = 0;
    ssize_t n = 1;
    for (size_t sent = 0; sent < len && n > 0; sent += (size_t)(n > 0 ? n : 0)) {
        do {
            n = send(fd, request + sent, len - sent, MSG_NOSIGNAL);
        } while (interrupted(n));
    }
    shutdown(fd, SHUT_WR);
    do {
        n = recv(fd, answer + got, max - got, 0);
        got += (size_t)(n > 0 ? n : 0);
    } while ((n > 0 || interrupted(n)) && got < max);
    close(fd);
    return got;
}

static void expect_living(void)
{
    static const char request[] = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    static char answer[ANSWER_BYTES];
    size_t len = ask(request, sizeof(request) - 1, answer, sizeof(answer));
    FUZZ_EXPECT(len > 12 && memcmp(answer, "HTTP/1.1 200", 12) == 0, "%.*s", (int)len, answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char answer[ANSWER_BYTES];
    if (serve == NULL) {
        start();
    }
    size_t len = ask((const char *)data, size, answer, sizeof(answer));
    FUZZ_EXPECT(len == 0 || (len > 12 && memcmp(answer, "HTTP/1.", 7) == 0), "%.*s", (int)len,
                answer);
    FUZZ_EXPECT(len == 0 || memmem(answer, len, "\r\n\r\n", 4) != NULL, "no end of its headers");
    expect_living();
    return 0;
}
