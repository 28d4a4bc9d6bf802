/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A null sink for benchmarks: an HTTP/1.1 server that accepts bulk requests, answers every item and
 * discards them, so that only the client is measured.
 *
 *   sink [--port N] [--keys N] [--writers N --queue N --fixed-us N --writer-bytes N]
 *
 * It listens on the loopback interface, prints its URL, and prints its statistics at SIGTERM. GET
 * /_sink returns them at any time, with the age of stamped documents (sink_answer.h) since the last
 * GET /_sink/ages. With --writers it behaves like a node (sink_node.h); SIGUSR1 begins a storm of
 * refusals, SIGUSR2 ends it. With --keys every index appears to hold the documents 1 to N
 * (sink_listing.h). It uses one thread per connection.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "sink_answer.h"
#include "sink_listing.h"
#include "sink_node.h"

#define INPUT_BYTES ((size_t)256 << 10)
#define HEADER_BYTES ((size_t)16 << 10)
#define BODY_MAX_BYTES ((size_t)64 << 20)

static struct sink_stats stats;
static struct node node;
static volatile sig_atomic_t ending;

struct connection {
    int fd;
    size_t len; /* unused bytes in `input` */
    char input[INPUT_BYTES];
};

struct head {
    char method[16];
    char target[4096];
    size_t body_len;
    bool expects; /* 100-continue */
};

static void send_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);
        if (n <= 0) {
            return;
        }
        bytes += n;
        len -= (size_t)n;
    }
}

static void use(struct connection *c, size_t n)
{
    c->len -= n;
    memmove(c->input, c->input + n, c->len);
}

static bool receive(struct connection *c, size_t at_most)
{
    size_t room = sizeof(c->input) - c->len;
    ssize_t n = recv(c->fd, c->input + c->len, at_most < room ? at_most : room, 0);
    if (n <= 0) {
        return false;
    }
    c->len += (size_t)n;
    return true;
}

static void read_header(struct head *head, const char *line)
{
    static const char length[] = "content-length:";
    if (strncasecmp(line, length, strlen(length)) == 0) {
        head->body_len = strtoull(line + strlen(length), NULL, 10);
    }
    head->expects = head->expects || strncasecmp(line, "expect: 100-continue", 20) == 0;
}

/* Reads the head of a request. Returns false at the end of the connection. */
static bool read_head(struct connection *c, struct head *head)
{
    const char *end;
    while ((end = memmem(c->input, c->len, "\r\n\r\n", 4)) == NULL) {
        if (c->len > HEADER_BYTES || !receive(c, HEADER_BYTES)) {
            return false;
        }
    }
    size_t head_len = (size_t)(end - c->input) + 4;
    c->input[head_len - 2] = '\0';
    memset(head, 0, sizeof(*head));
    if (sscanf(c->input, "%15s %4095s", head->method, head->target) != 2) {
        return false;
    }
    for (char *line = c->input; (line = strstr(line, "\r\n")) != NULL;) {
        line += 2;
        read_header(head, line);
    }
    use(c, head_len);
    if (head->expects) {
        static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
        send_all(c->fd, go_on, strlen(go_on));
    }
    return true;
}

static void send_answer(int fd, int status, const struct buf *body)
{
    char head[256];
    int n = snprintf(head, sizeof(head),
                     "HTTP/1.1 %d OK\r\nContent-Type: application/json; charset=UTF-8\r\n"
                     "Content-Length: %zu\r\n\r\n",
                     status, body->len);
    send(fd, head, (size_t)n, MSG_NOSIGNAL | MSG_MORE);
    send_all(fd, buf_text(body), body->len);
}

/* Reads the body and passes it on in pieces as they arrive. Returns false if the connection ended
 * early. */
static bool read_body(struct connection *c, size_t body_len, struct bulk *bulk, struct buf *whole)
{
    while (body_len > 0) {
        if (c->len == 0 && !receive(c, body_len)) {
            return false;
        }
        size_t n = c->len < body_len ? c->len : body_len;
        if (bulk != NULL) {
            bulk_feed(bulk, c->input, n);
        } else {
            buf_push(whole, c->input, n);
        }
        use(c, n);
        body_len -= n;
    }
    return true;
}

static bool is_bulk(const char *target)
{
    size_t path = strcspn(target, "?");
    return path >= 6 && strncmp(target + path - 6, "/_bulk", 6) == 0;
}

static bool serve_bulk(struct connection *c, const struct head *head, struct buf *body)
{
    struct bulk bulk;
    bulk_begin(&bulk, &stats, head->target, body);
    if (!read_body(c, head->body_len, &bulk, NULL)) {
        return false;
    }
    if (!node_take(&node, head->body_len)) {
        buf_reset(body);
        buf_push_literal(body, "{\"error\":{\"type\":\"rejected_execution_exception\",\"reason\":"
                               "\"the queue is full\"},\"status\":429}");
        send_answer(c->fd, 429, body);
        return true;
    }
    bulk_end(&bulk);
    atomic_fetch_add(&stats.bytes, (long long)head->body_len);
    send_answer(c->fd, 200, body);
    return true;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void push_stats(struct buf *out)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    buf_printf(out,
               "{\"requests\":%lld,\"bulks\":%lld,\"upserts\":%lld,\"deletes\":%lld,\"bytes\":%lld,"
               "\"taken\":%lld,\"refused\":%lld,\"most_at_once\":%ld,\"cpu_seconds\":%.3f,"
               "\"stamped\":%lld,\"p50_ms\":%lld,\"p99_ms\":%lld,\"most_ms\":%lld}",
               atomic_load(&stats.requests), atomic_load(&stats.bulks), atomic_load(&stats.upserts),
               atomic_load(&stats.deletes), atomic_load(&stats.bytes), atomic_load(&node.taken),
               atomic_load(&node.refused), atomic_load(&node.most),
               seconds(used.ru_utime) + seconds(used.ru_stime), (long long)sink_ages(&stats),
               (long long)sink_age_ms(&stats, 0.5), (long long)sink_age_ms(&stats, 0.99),
               (long long)sink_age_ms(&stats, 1));
}

static bool serve_other(struct connection *c, const struct head *head, struct buf *body)
{
    struct buf request;
    buf_init(&request, BODY_MAX_BYTES);
    bool whole = read_body(c, head->body_len, NULL, &request);
    if (whole) {
        struct span bytes = span_make(buf_text(&request), request.len);
        int status = 200;
        if (strcmp(head->target, "/_sink") == 0) {
            push_stats(body);
        } else if (strcmp(head->target, "/_sink/ages") == 0) {
            sink_forget_ages(&stats);
            push_stats(body);
        } else {
            status = sink_answer(body, &stats, head->method, head->target, bytes);
        }
        send_answer(c->fd, status, body);
    }
    buf_release(&request);
    return whole;
}

static void *serve(void *context)
{
    struct connection *c = context;
    struct head head;
    struct buf body;
    buf_init(&body, BODY_MAX_BYTES);
    while (read_head(c, &head)) {
        buf_reset(&body);
        bool served =
            is_bulk(head.target) ? serve_bulk(c, &head, &body) : serve_other(c, &head, &body);
        if (!served) {
            break;
        }
        atomic_fetch_add(&stats.requests, 1);
    }
    close(c->fd);
    buf_release(&body);
    free(c);
    return NULL;
}

static int listen_on(long port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(address);
    int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) != 0 || listen(fd, 64) != 0) {
        perror("sink");
        exit(EXIT_FAILURE);
    }
    getsockname(fd, (struct sockaddr *)&address, &size);
    printf("http://127.0.0.1:%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

static void start_thread(int fd)
{
    pthread_t thread;
    sigset_t term;
    int one = 1;
    struct connection *c = mem_zero(1, sizeof(*c));
    c->fd = fd;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigaddset(&term, SIGINT);
    pthread_sigmask(SIG_BLOCK, &term, NULL); /* signals must go to the main thread */
    if (pthread_create(&thread, NULL, serve, c) == 0) {
        pthread_detach(thread);
    }
    pthread_sigmask(SIG_UNBLOCK, &term, NULL);
}

static void end(int number)
{
    (void)number;
    ending = 1;
}

static void change_weather(int number)
{
    atomic_store(&node.storm, number == SIGUSR1);
}

int main(int argc, char **argv)
{
    long port = 0;
    long keys = 0;
    const struct {
        const char *name;
        long *value;
    } options[] = {{"--port", &port},
                   {"--keys", &keys},
                   {"--writers", &node.writers},
                   {"--queue", &node.queue},
                   {"--fixed-us", &node.fixed_us},
                   {"--writer-bytes", &node.bytes_per_second}};
    for (int i = 1; i + 1 < argc; i += 2) {
        for (size_t o = 0; o < sizeof(options) / sizeof(options[0]); o++) {
            if (strcmp(argv[i], options[o].name) == 0) {
                *options[o].value = strtol(argv[i + 1], NULL, 10);
            }
        }
    }
    listing_prepare(keys);
    struct sigaction action = {.sa_handler = end};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    struct sigaction weather = {.sa_handler = change_weather, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &weather, NULL);
    sigaction(SIGUSR2, &weather, NULL);
    int listener = listen_on(port);
    while (!ending) {
        int fd = accept(listener, NULL, NULL);
        if (fd >= 0) {
            start_thread(fd);
        }
    }
    struct buf said;
    buf_init(&said, HEADER_BYTES);
    push_stats(&said);
    puts(buf_text(&said));
    return EXIT_SUCCESS;
}
