/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP: one thread, one request a connection, limits on all resources of a client. */
#include "rowferry/serve/serve.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "answer.h"
#include "connection_limit.h"
#include "rowferry/base/text.h"
#include "socket.h"

#define CONNECTIONS_MOST                                                                           \
    (CONNECTION_LIMIT_MAX + 16)          /* connections that were closed linger for a short time */
#define SILENT_S 10U                     /* timeout of a client that neither sends nor reads */
#define REQUEST_BYTES ((size_t)16 << 10) /* memory of one request: line, headers and MHD's own */
#define STACK_BYTES ((size_t)256 << 10)

struct serve {
    struct serve_options options;
    char address[SERVE_ADDRESS_BYTES];
    bool loopback;
    struct events events;
    struct history history;
    struct log_watcher watcher;
    struct answerer answerer;
    struct connection_limit connections;
    struct MHD_Daemon *daemon;
};

static enum MHD_Result serve_send_answer(struct MHD_Connection *connection, struct serve_answer *a)
{
    static const char *const fixed[][2] = {
        {"Cache-Control", "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Connection", "close"},
    };
    size_t len = a->body.len;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(len, buf_detach(&a->body), MHD_RESPMEM_MUST_FREE);
    if (response == NULL) {
        return MHD_NO;
    }
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
        MHD_add_response_header(response, fixed[i][0], fixed[i][1]);
    }
    MHD_add_response_header(response, "Content-Type", a->type);
    MHD_add_response_header(response, "Content-Security-Policy", a->policy);
    if (a->allow != NULL) {
        MHD_add_response_header(response, "Allow", a->allow);
    }
    enum MHD_Result sent = MHD_queue_response(connection, a->status, response);
    MHD_destroy_response(response);
    return sent;
}

/* Answers as soon as the headers are complete, because requests have no body. */
static enum MHD_Result serve_on_request(void *context, struct MHD_Connection *connection,
                                        const char *url, const char *method, const char *version,
                                        const char *upload, size_t *upload_size, void **state)
{
    (void)version;
    (void)upload;
    (void)upload_size;
    (void)state;
    struct serve *s = context;
    struct serve_answer a;
    const char *since = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "since");
    const struct question q = {
        .method = method,
        .path = url,
        .host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST),
        .since = since != NULL ? strtoull(since, NULL, 10) : 0,
        .samples = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "samples")};
    answer_question(&s->answerer, &q, &a);
    return serve_send_answer(connection, &a);
}

/* Runs in the daemon's thread. MHD closes the descriptors that are shut down here. */
static void serve_on_connection(void *context, struct MHD_Connection *connection, void **state,
                                enum MHD_ConnectionNotificationCode what)
{
    (void)state;
    struct serve *s = context;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info == NULL) {
        return;
    }
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        connection_limit_leave(&s->connections, info->connect_fd);
        return;
    }
    int gone = connection_limit_enter(&s->connections, info->connect_fd);
    if (gone >= 0) {
        (void)shutdown(gone, SHUT_RDWR);
    }
}

static int serve_start_daemon(struct serve *s, int fd, struct err *err)
{
    s->daemon = MHD_start_daemon(
        MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_ITC, 0, NULL, NULL, serve_on_request, s,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_NOTIFY_CONNECTION, serve_on_connection, s,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MOST, MHD_OPTION_CONNECTION_TIMEOUT,
        SILENT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, REQUEST_BYTES, MHD_OPTION_THREAD_STACK_SIZE,
        STACK_BYTES, MHD_OPTION_END);
    if (s->daemon == NULL) {
        close(fd);
        return err_set(err, ERR_TRANSIENT, "could not start to serve on %s", s->address);
    }
    return 0;
}

static void serve_release(struct serve *s)
{
    log_watch(NULL);
    answer_release(&s->answerer);
    history_release(&s->history);
    events_release(&s->events);
    free(s);
}

int serve_start(struct serve **out, const struct serve_options *options, struct err *err)
{
    int fd;
    struct serve *s = mem_zero(1, sizeof(*s));
    s->options = *options;
    int rc = socket_listen(options->listen, &fd, s->address, &s->loopback, err);
    if (rc < 0) {
        free(s);
        return rc;
    }
    const char **names = mem_zero(options->count + 1, sizeof(*names));
    for (size_t i = 0; i < options->count; i++) {
        names[i] = status_snapshot_name(options->snapshots[i]);
    }
    events_init(&s->events, names, options->count);
    free(names);
    history_init(&s->history, options->count, clock_monotonic_us(&options->clock));
    answer_init(&s->answerer, &s->options, &s->events, &s->history);
    s->watcher = (struct log_watcher){events_add, &s->events};
    log_watch(&s->watcher);
    rc = serve_start_daemon(s, fd, err);
    if (rc < 0) {
        serve_release(s);
        return rc;
    }
    *out = s;
    return 0;
}

void serve_stop(struct serve *s)
{
    if (s != NULL) {
        MHD_stop_daemon(s->daemon);
        serve_release(s);
    }
}

int64_t serve_sample(struct serve *s)
{
    const struct serve_options *o = &s->options;
    return history_take(&s->history, o->snapshots, clock_monotonic_us(&o->clock),
                        clock_wall_us(&o->clock));
}

const char *serve_address(const struct serve *s)
{
    return s->address;
}

bool serve_is_open(const struct serve *s)
{
    return !s->loopback;
}
