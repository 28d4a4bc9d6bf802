/* SPDX-License-Identifier: Apache-2.0 */
/* A proxy with one thread per connection. Faults end the connection, never the proxy. */
#include "proxy.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "server.h"

#define PROXY_MAX_BYTES ((size_t)64 << 20)

struct connection {
    struct proxy *proxy;
    pthread_t thread;
    int fd;
    int service_fd; /* -1: none yet */
    struct buf request;
    struct buf answer;
};

struct proxy {
    int service_port;
    int port;
    int listener; /* -1: down */
    int wake[2];
    pthread_t thread;
    proxy_decide decide;
    void *context;
    pthread_mutex_t lock;
    struct connection **connections;
    size_t count;
    size_t numbers[2]; /* requests, bulk requests */
    size_t under_way;
    size_t at_once;
};

static struct sockaddr_in address_of(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static void open_listener(struct proxy *p)
{
    struct sockaddr_in address = address_of(p->port);
    int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(fd, 64) != 0) {
        abort();
    }
    p->listener = fd;
}

static void pause_ms(int64_t ms)
{
    const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

/* --- one connection ------------------------------------------------------------------------ */

static bool receive(int fd, struct buf *into, size_t most)
{
    char bytes[65536];
    ssize_t n = recv(fd, bytes, most < sizeof(bytes) ? most : sizeof(bytes), 0);
    if (n > 0) {
        buf_push(into, bytes, (size_t)n);
    }
    return n > 0 && !into->failed;
}

static bool say(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);
        if (n <= 0) {
            return false;
        }
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

/* Reads up to the blank line. Returns the head's length, or 0 if the peer disconnected. Reads byte
 * by byte, so that data after the head stays unread. */
static size_t read_head(int fd, struct buf *into)
{
    while (receive(fd, into, 1)) {
        if (into->len >= 4 && memcmp(into->data + into->len - 4, "\r\n\r\n", 4) == 0) {
            return into->len;
        }
    }
    return 0;
}

static size_t content_length(const char *head)
{
    const char *field = strcasestr(head, "\r\ncontent-length:");
    return field != NULL ? strtoul(field + 17, NULL, 10) : 0;
}

static bool read_body(int fd, struct buf *into, size_t wanted)
{
    while (into->len < wanted) {
        if (!receive(fd, into, wanted - into->len)) {
            return false;
        }
    }
    return true;
}

static bool dial(struct connection *c)
{
    struct sockaddr_in address = address_of(c->proxy->service_port);
    if (c->service_fd < 0) {
        c->service_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        return connect(c->service_fd, (struct sockaddr *)&address, sizeof(address)) == 0;
    }
    return true;
}

/* Forwards the received part of the request and reads the whole answer. */
static bool carry_out(struct connection *c, bool whole)
{
    bool head_only = strncmp(buf_text(&c->request), "HEAD ", 5) == 0;
    if (!dial(c) || !say(c->service_fd, c->request.data, c->request.len) || !whole) {
        return false;
    }
    buf_reset(&c->answer);
    size_t head = read_head(c->service_fd, &c->answer);
    return head > 0 && (head_only || read_body(c->service_fd, &c->answer,
                                               head + content_length(buf_text(&c->answer))));
}

static void hang_up(const struct connection *c, bool reset)
{
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    if (reset) {
        setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
    }
}

static bool say_slowly(int fd, const char *bytes, size_t len, int64_t byte_ms)
{
    for (size_t i = 0; i < len; i++) {
        if (!say(fd, bytes + i, 1)) {
            return false;
        }
        pause_ms(byte_ms);
    }
    return true;
}

/* Rewrites the service's answer as one chunk with a trailer after it. */
static void add_trailers(struct buf *answer)
{
    struct buf whole;
    const char *length = strcasestr(buf_text(answer), "\r\ncontent-length:");
    const char *body = strstr(buf_text(answer), "\r\n\r\n");
    if (length == NULL || content_length(buf_text(answer)) == 0) {
        return;
    }
    buf_init(&whole, PROXY_MAX_BYTES);
    buf_push(&whole, answer->data, (size_t)(length - answer->data));
    buf_push(&whole, length + 2 + strcspn(length + 2, "\r"),
             (size_t)(body - length) - 2 - strcspn(length + 2, "\r"));
    buf_printf(&whole, "\r\nTransfer-Encoding: chunked\r\n\r\n%zx\r\n",
               content_length(buf_text(answer)));
    buf_push(&whole, body + 4, content_length(buf_text(answer)));
    buf_push_literal(&whole, "\r\n0\r\nServer-Timing: app;dur=3\r\n\r\n");
    buf_release(answer);
    *answer = whole;
}

/* Returns false if the connection ends with it. */
static bool give_answer(struct connection *c, const struct proxy_fault *fault)
{
    if (fault->trailers) {
        add_trailers(&c->answer);
    }
    const char *bytes = fault->answer != NULL ? fault->answer : buf_text(&c->answer);
    size_t len = fault->answer != NULL ? fault->answer_len : c->answer.len;
    bool cut = fault->cut_answer < len;
    len = cut ? fault->cut_answer : len;
    bool good =
        fault->byte_ms > 0 ? say_slowly(c->fd, bytes, len, fault->byte_ms) : say(c->fd, bytes, len);
    while (good && !cut && fault->endless != NULL) {
        good = say(c->fd, fault->endless, strlen(fault->endless));
    }
    return good && !cut && !fault->close;
}

static void ask_decision(struct connection *c, size_t head_len, struct proxy_fault *fault,
                         bool *bulk)
{
    struct proxy *p = c->proxy;
    const char *head = buf_text(&c->request);
    *bulk = memmem(head, strcspn(head, "\r"), "/_bulk", 6) != NULL;
    *fault = (struct proxy_fault){.cut_request = PROXY_WHOLE, .cut_answer = PROXY_WHOLE};
    pthread_mutex_lock(&p->lock);
    struct proxy_request request = {.bulk = *bulk,
                                    .number = p->numbers[*bulk]++,
                                    .head_len = head_len,
                                    .body_len = content_length(head),
                                    .head = head};
    if (p->decide != NULL) {
        p->decide(p->context, &request, fault);
    }
    pthread_mutex_unlock(&p->lock);
}

static void count_under_way(struct proxy *p, bool begins)
{
    pthread_mutex_lock(&p->lock);
    p->under_way = begins ? p->under_way + 1 : p->under_way - 1;
    p->at_once = p->under_way > p->at_once ? p->under_way : p->at_once;
    pthread_mutex_unlock(&p->lock);
}

/* Serves one request. Returns false if the connection ends with it. */
static bool serve(struct connection *c)
{
    struct proxy_fault fault;
    bool bulk;
    buf_reset(&c->request);
    size_t head_len = read_head(c->fd, &c->request);
    if (head_len == 0) {
        return false;
    }
    ask_decision(c, head_len, &fault, &bulk);
    size_t whole = head_len + content_length(buf_text(&c->request));
    bool cut = fault.cut_request < whole;
    if (!read_body(c->fd, &c->request, cut ? fault.cut_request : whole)) {
        return false;
    }
    if (cut) {
        c->request.len = fault.cut_request;
    }
    if (bulk) {
        count_under_way(c->proxy, true);
    }
    pause_ms(fault.late_ms);
    bool good = fault.withheld || carry_out(c, !cut);
    pause_ms(fault.delay_ms);
    if (bulk) {
        count_under_way(c->proxy, false);
    }
    good = good && (!cut || fault.early) && give_answer(c, &fault) && !cut;
    hang_up(c, fault.reset);
    return good;
}

static void *connection_run(void *context)
{
    struct connection *c = context;
    while (serve(c)) {
    }
    pthread_mutex_lock(&c->proxy->lock);
    close(c->fd);
    c->fd = -1;
    if (c->service_fd >= 0) {
        close(c->service_fd);
    }
    pthread_mutex_unlock(&c->proxy->lock);
    buf_release(&c->request);
    buf_release(&c->answer);
    return NULL;
}

/* --- all of them --------------------------------------------------------------------------- */

static void begin_connection(struct proxy *p, int fd)
{
    struct connection *c = mem_zero(1, sizeof(*c));
    *c = (struct connection){.proxy = p, .fd = fd, .service_fd = -1};
    buf_init(&c->request, PROXY_MAX_BYTES);
    buf_init(&c->answer, PROXY_MAX_BYTES);
    if (pthread_create(&c->thread, NULL, connection_run, c) != 0) {
        abort();
    }
    p->connections = mem_grow(p->connections, p->count + 1, sizeof(struct connection *));
    p->connections[p->count++] = c;
}

static void *proxy_run(void *context)
{
    struct proxy *p = context;
    for (;;) {
        pthread_mutex_lock(&p->lock);
        struct pollfd fds[2] = {{p->wake[0], POLLIN, 0}, {p->listener, POLLIN, 0}};
        pthread_mutex_unlock(&p->lock);
        int ready = poll(fds, 2, 20);
        if (ready < 0 && errno == EINTR) { /* stopped and continued */
            continue;
        }
        if (ready < 0 || fds[0].revents != 0) {
            return NULL;
        }
        pthread_mutex_lock(&p->lock);
        int fd = fds[1].revents != 0 && fds[1].fd == p->listener
                     ? accept4(p->listener, NULL, NULL, SOCK_CLOEXEC)
                     : -1;
        if (fd >= 0) {
            begin_connection(p, fd);
        }
        pthread_mutex_unlock(&p->lock);
    }
}

struct proxy *proxy_start(int service_port, proxy_decide decide, void *context)
{
    struct proxy *p = mem_zero(1, sizeof(*p));
    p->service_port = service_port;
    p->port = free_port(); /* it may go down and come back */
    p->decide = decide;
    p->context = context;
    pthread_mutex_init(&p->lock, NULL);
    open_listener(p);
    if (pipe(p->wake) != 0 || pthread_create(&p->thread, NULL, proxy_run, p) != 0) {
        abort();
    }
    return p;
}

static void end_connections(struct proxy *p)
{
    for (size_t i = 0; i < p->count; i++) {
        if (p->connections[i]->fd >= 0) {
            hang_up(p->connections[i], true);
            shutdown(p->connections[i]->fd, SHUT_RDWR);
        }
    }
}

void proxy_stop(struct proxy *p)
{
    (void)!write(p->wake[1], "x", 1);
    pthread_join(p->thread, NULL);
    pthread_mutex_lock(&p->lock);
    end_connections(p);
    pthread_mutex_unlock(&p->lock);
    for (size_t i = 0; i < p->count; i++) {
        pthread_join(p->connections[i]->thread, NULL);
        free(p->connections[i]);
    }
    close(p->wake[0]);
    close(p->wake[1]);
    if (p->listener >= 0) {
        close(p->listener);
    }
    free(p->connections);
    free(p);
}

int proxy_port(const struct proxy *p)
{
    return p->port;
}

void proxy_down(struct proxy *p)
{
    pthread_mutex_lock(&p->lock);
    close(p->listener);
    p->listener = -1;
    end_connections(p);
    pthread_mutex_unlock(&p->lock);
}

void proxy_up(struct proxy *p)
{
    pthread_mutex_lock(&p->lock);
    open_listener(p);
    pthread_mutex_unlock(&p->lock);
}

size_t proxy_bulks(struct proxy *p)
{
    pthread_mutex_lock(&p->lock);
    size_t n = p->numbers[1];
    pthread_mutex_unlock(&p->lock);
    return n;
}

size_t proxy_bulks_at_once(struct proxy *p)
{
    pthread_mutex_lock(&p->lock);
    size_t n = p->at_once;
    pthread_mutex_unlock(&p->lock);
    return n;
}

size_t proxy_bulks_now(struct proxy *p)
{
    pthread_mutex_lock(&p->lock);
    size_t n = p->under_way;
    pthread_mutex_unlock(&p->lock);
    return n;
}

bool proxy_idle(struct proxy *p)
{
    bool idle = true;
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < p->count; i++) {
        idle = idle && p->connections[i]->fd < 0;
    }
    pthread_mutex_unlock(&p->lock);
    return idle;
}
