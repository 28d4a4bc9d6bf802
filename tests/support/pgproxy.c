/* SPDX-License-Identifier: Apache-2.0 */
/* A proxy for PostgreSQL's protocol: one thread per connection, one that accepts them. */
#include "pgproxy.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rowferry/base/text.h"

#define CONNECTIONS_MOST 4096
#define BUFFER_BYTES ((size_t)4 << 20) /* maximum size of one message */
#define NO_ENCRYPTION 'N'
#define SSL_REQUEST 80877103u
#define GSS_REQUEST 80877104u
#define TURN_MS 20

struct pgproxy {
    int listener;
    int port;
    int server_port;
    pthread_t accepting;
    pthread_t threads[CONNECTIONS_MOST];
    size_t thread_count;
    atomic_bool quits;
    atomic_bool silent;
    atomic_size_t results;
    atomic_size_t nth;
    atomic_int fault;
};

struct link {
    struct pgproxy *proxy;
    int client;
    int server;
    unsigned char *buffer; /* data of the server, from the start of a message */
    size_t len;
    bool begun;               /* inside a result */
    enum pgproxy_fault fault; /* fault of this result */
    bool faulted;             /* its fault has been executed */
    bool ready;               /* the session is established */
};

/* --- bytes ----------------------------------------------------------------------------------- */

static uint32_t read_number(const unsigned char *at)
{
    uint32_t n;
    memcpy(&n, at, sizeof(n));
    return ntohl(n);
}

static void write_number(unsigned char *at, uint32_t n)
{
    n = htonl(n);
    memcpy(at, &n, sizeof(n));
}

/* Never blocks forever: an endless result ends with its reader or with the proxy. */
static bool send_all(const struct link *l, int fd, const void *data, size_t len)
{
    for (size_t done = 0; done < len;) {
        struct pollfd ready = {.fd = fd, .events = POLLOUT};
        if (atomic_load(&l->proxy->quits)) {
            return false;
        }
        if (poll(&ready, 1, TURN_MS) <= 0) {
            continue;
        }
        ssize_t n = send(fd, (const char *)data + done, len - done, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n <= 0) {
            return false;
        }
        done += (size_t)n;
    }
    return true;
}

/* --- falsified messages ---------------------------------------------------------------------- */

/* Builds a row with `columns` columns, each `text` or NULL. */
static size_t make_row(unsigned char *out, uint16_t columns, const char *text)
{
    size_t at = 7;
    out[0] = 'D';
    for (uint16_t i = 0; i < columns; i++, at += 4) {
        write_number(out + at, text != NULL ? (uint32_t)strlen(text) : UINT32_MAX);
        if (text != NULL) {
            memcpy(out + at + 4, text, strlen(text));
            at += strlen(text);
        }
    }
    write_number(out + 1, (uint32_t)(at - 1));
    out[5] = (unsigned char)(columns >> 8);
    out[6] = (unsigned char)columns;
    return at;
}

/* Removes the message's last column. */
static size_t drop_column(unsigned char *message)
{
    uint16_t columns = (uint16_t)(message[5] << 8 | message[6]);
    size_t at = 7;
    if (columns == 0) {
        return 1 + read_number(message + 1);
    }
    columns--;
    for (uint16_t i = 0; i < columns; i++) {
        if (message[0] == 'T') {
            at += strlen((char *)message + at) + 1 + 18;
        } else {
            uint32_t len = read_number(message + at);
            at += 4 + (len == UINT32_MAX ? 0 : len);
        }
    }
    message[5] = (unsigned char)(columns >> 8);
    message[6] = (unsigned char)columns;
    write_number(message + 1, (uint32_t)(at - 1));
    return at;
}

static bool send_endless(const struct link *l, const unsigned char *message, size_t len)
{
    static const size_t at_once = 65536;
    size_t count = len < at_once ? at_once / len : 1;
    unsigned char *many = mem_zero(count, len);
    for (size_t i = 0; i < count; i++) {
        memcpy(many + i * len, message, len);
    }
    while (send_all(l, l->client, many, count * len)) {
    }
    free(many);
    return false;
}

static bool send_copy(const struct link *l)
{
    static const unsigned char copy[] = {'H', 0, 0, 0, 7, 0, 0, 0};
    return send_all(l, l->client, copy, sizeof(copy));
}

static bool send_error(const struct link *l)
{
    static const char fields[] = "SERROR\0VERROR\0CXX001\0Mthe rows are bad\0";
    unsigned char head[5] = {'E'};
    write_number(head + 1, 4 + (uint32_t)sizeof(fields));
    return send_all(l, l->client, head, sizeof(head)) &&
           send_all(l, l->client, fields, sizeof(fields));
}

/* Handles a message of the falsified result. Returns false if the connection ends. */
static bool falsify(struct link *l, unsigned char *message, size_t len)
{
    unsigned char row[65536];
    bool is_row = message[0] == 'D';
    bool is_end = message[0] == 'C';
    uint16_t columns = 0;
    if (is_row) {
        columns = (uint16_t)(message[5] << 8 | message[6]);
    }
    switch (l->fault) {
    case PGPROXY_NULLS:
        len = is_row ? make_row(row, columns, NULL) : len;
        return send_all(l, l->client, is_row ? row : message, len);
    case PGPROXY_WORDS:
        len = is_row ? make_row(row, columns, "word") : len;
        return send_all(l, l->client, is_row ? row : message, len);
    case PGPROXY_NO_ROWS:
        return is_row || send_all(l, l->client, message, len);
    case PGPROXY_FEWER:
        return send_all(l, l->client, message, is_end ? len : drop_column(message));
    case PGPROXY_ENDLESS:
        return is_row || is_end ? send_endless(l, message, len)
                                : send_all(l, l->client, message, len);
    case PGPROXY_COPY:
        l->faulted = true;
        return send_copy(l);
    default:
        l->faulted = is_row || is_end;
        return send_all(l, l->client, message, len) && (!l->faulted || send_error(l));
    }
}

/* --- messages of the server ------------------------------------------------------------------ */

static void begin_result(struct link *l)
{
    struct pgproxy *p = l->proxy;
    size_t number = atomic_fetch_add(&p->results, 1) + 1;
    l->begun = true;
    l->faulted = false;
    l->fault =
        number == atomic_load(&p->nth) ? (enum pgproxy_fault)atomic_load(&p->fault) : PGPROXY_NONE;
    if (l->fault == PGPROXY_SILENT) {
        atomic_store(&p->silent, true);
    }
}

/* Forwards one message. Returns false if the connection ends. */
static bool pass_message(struct link *l, unsigned char *message, size_t len)
{
    char type = (char)message[0];
    l->ready = l->ready || type == 'Z';
    bool of_result = l->ready && (type == 'T' || type == 'D' || type == 'C');
    if (of_result && !l->begun) {
        begin_result(l);
    }
    if (atomic_load(&l->proxy->silent)) {
        return true;
    }
    bool falsified = of_result && l->fault != PGPROXY_NONE;
    if (type == 'C') {
        l->begun = false;
    }
    if (falsified && l->faulted) {
        return true;
    }
    return falsified ? falsify(l, message, len) : send_all(l, l->client, message, len);
}

static bool read_server(struct link *l)
{
    ssize_t n = recv(l->server, l->buffer + l->len, BUFFER_BYTES - l->len, 0);
    size_t at = 0;
    bool good = n > 0;
    l->len += good ? (size_t)n : 0;
    while (good && l->len - at >= 5) {
        size_t len = 1 + read_number(l->buffer + at + 1);
        if (l->len - at < len) {
            break;
        }
        unsigned char *copy = mem_zero(len, 1); /* a fault may write to it */
        memcpy(copy, l->buffer + at, len);
        good = pass_message(l, copy, len);
        free(copy);
        at += len;
    }
    memmove(l->buffer, l->buffer + at, l->len - at);
    l->len -= at;
    return good;
}

/* Without this, each message would wait for the acknowledgement of the one before. */
static void send_at_once(int fd)
{
    int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/* --- connections ----------------------------------------------------------------------------- */

static bool read_client(struct link *l)
{
    char bytes[65536];
    ssize_t n = recv(l->client, bytes, sizeof(bytes), 0);
    return n > 0 && send_all(l, l->server, bytes, (size_t)n);
}

/* Refuses encryption, because encrypted data cannot be falsified. */
static bool refuse_encryption(struct link *l)
{
    unsigned char head[8];
    for (;;) {
        struct pollfd ready = {.fd = l->client, .events = POLLIN};
        while (poll(&ready, 1, TURN_MS) == 0) {
            if (atomic_load(&l->proxy->quits)) {
                return false;
            }
        }
        if (recv(l->client, head, sizeof(head), MSG_PEEK) != (ssize_t)sizeof(head)) {
            return false;
        }
        uint32_t code = read_number(head + 4);
        if (code != SSL_REQUEST && code != GSS_REQUEST) {
            return true;
        }
        (void)!recv(l->client, head, sizeof(head), 0);
        const char no = NO_ENCRYPTION;
        if (!atomic_load(&l->proxy->silent) && !send_all(l, l->client, &no, 1)) {
            return false;
        }
    }
}

static int connect_server(int port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0) {
        close(fd);
        return -1;
    }
    send_at_once(fd);
    return fd;
}

static void *serve(void *context)
{
    struct link *l = context;
    bool good = refuse_encryption(l) && (l->server = connect_server(l->proxy->server_port)) >= 0;
    while (good && !atomic_load(&l->proxy->quits)) {
        struct pollfd fds[] = {{.fd = l->client, .events = POLLIN},
                               {.fd = l->server, .events = POLLIN}};
        if (atomic_load(&l->proxy->silent)) { /* not even a disconnect is noticed */
            poll(NULL, 0, TURN_MS);
            continue;
        }
        if (poll(fds, 2, TURN_MS) <= 0) {
            continue;
        }
        good = (fds[0].revents == 0 || read_client(l)) && (fds[1].revents == 0 || read_server(l));
    }
    close(l->client);
    if (l->server >= 0) {
        close(l->server);
    }
    free(l->buffer);
    free(l);
    return NULL;
}

static void *accept_all(void *context)
{
    struct pgproxy *p = context;
    while (!atomic_load(&p->quits)) {
        struct pollfd ready = {.fd = p->listener, .events = POLLIN};
        if (poll(&ready, 1, TURN_MS) <= 0) {
            continue;
        }
        int fd = accept4(p->listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0 || p->thread_count == CONNECTIONS_MOST) {
            continue;
        }
        send_at_once(fd);
        struct link *l = mem_zero(1, sizeof(*l));
        *l = (struct link){
            .proxy = p, .client = fd, .server = -1, .buffer = mem_zero(BUFFER_BYTES, 1)};
        ck_assert_int_eq(pthread_create(&p->threads[p->thread_count++], NULL, serve, l), 0);
    }
    return NULL;
}

struct pgproxy *pgproxy_start(int server_port)
{
    struct pgproxy *p = mem_zero(1, sizeof(*p));
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t len = sizeof(at);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    p->server_port = server_port;
    p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(p->listener, (struct sockaddr *)&at, len), 0);
    ck_assert_int_eq(listen(p->listener, 64), 0);
    ck_assert_int_eq(getsockname(p->listener, (struct sockaddr *)&at, &len), 0);
    p->port = ntohs(at.sin_port);
    ck_assert_int_eq(pthread_create(&p->accepting, NULL, accept_all, p), 0);
    return p;
}

void pgproxy_stop(struct pgproxy *p)
{
    atomic_store(&p->quits, true);
    pthread_join(p->accepting, NULL);
    for (size_t i = 0; i < p->thread_count; i++) {
        pthread_join(p->threads[i], NULL);
    }
    close(p->listener);
    free(p);
}

int pgproxy_port(const struct pgproxy *p)
{
    return p->port;
}

void pgproxy_plan(struct pgproxy *p, size_t nth, enum pgproxy_fault fault)
{
    atomic_store(&p->nth, nth);
    atomic_store(&p->fault, (int)fault);
    atomic_store(&p->results, 0);
    atomic_store(&p->silent, false);
}

void pgproxy_silence(struct pgproxy *p)
{
    atomic_store(&p->silent, true);
}

size_t pgproxy_results(struct pgproxy *p)
{
    return atomic_load(&p->results);
}
