/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP server with a thread per connection; one lock protects the server. */
#include "http.h"
#include "auth.h"
#include "base/limits.h"
#include "door.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

struct http {
    struct server *server;
    struct MHD_Daemon *daemon;
};

/* A request being received. */
struct exchange {
    char *target;
    struct buf body;
    bool begun;
    bool dropped; /* the answer is decided; the body is read and discarded */
    struct answer answer;
    size_t cut_at; /* the connection is closed after this number of bytes; 0: never */
};

static void *on_target(void *context, const char *target, struct MHD_Connection *connection)
{
    (void)context;
    (void)connection;
    struct exchange *x = mem_zero(1, sizeof(*x));
    x->target = text_copy(target);
    buf_init(&x->answer.body, ANSWER_MAX_BYTES);
    return x;
}

static void on_end(void *context, struct MHD_Connection *connection, void **state,
                   enum MHD_RequestTerminationCode why)
{
    (void)context;
    (void)connection;
    (void)why;
    struct exchange *x = *state;
    if (x != NULL) {
        free(x->target);
        buf_release(&x->body);
        buf_release(&x->answer.body);
        free(x);
    }
    *state = NULL;
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static bool content_type_good(const char *type)
{
    return type != NULL && (strncasecmp(type, "application/json", 16) == 0 ||
                            strncasecmp(type, "application/x-ndjson", 20) == 0);
}

/* Refuses an unsupported body; returns false if the body is accepted. */
static bool body_refused(struct exchange *x, struct MHD_Connection *connection)
{
    const char *type = header(connection, "Content-Type");
    const char *encoding = header(connection, "Content-Encoding");
    struct answer *a = &x->answer;
    if (x->body.len > 0 && !content_type_good(type)) {
        struct buf text;
        buf_init(&text, 8192);
        buf_printf(&text, "Content-Type header [%.200s] is not supported",
                   type != NULL ? type : "");
        answer_plain_error(a, 406, buf_text(&text));
        buf_release(&text);
        return true;
    }
    if (x->body.len > 0 && encoding != NULL && strcasecmp(encoding, "gzip") == 0) {
        answer_plain_error(a, 400, "devsearch does not know Content-Encoding gzip");
        return true;
    }
    return false;
}

static ssize_t send_part(void *context, uint64_t at, char *out, size_t max)
{
    struct exchange *x = context;
    if (at >= x->cut_at) {
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    size_t n = x->cut_at - (size_t)at < max ? x->cut_at - (size_t)at : max;
    memcpy(out, x->answer.body.data + at, n);
    return (ssize_t)n;
}

static enum MHD_Result send_answer(struct http *h, struct exchange *x,
                                   struct MHD_Connection *connection)
{
    struct answer *a = &x->answer;
    bool elastic = h->server->options->product == ELASTICSEARCH;
    struct MHD_Response *response =
        x->cut_at > 0
            ? MHD_create_response_from_callback(a->body.len, 4096, send_part, x, NULL)
            : MHD_create_response_from_buffer(a->body.len, a->body.data, MHD_RESPMEM_PERSISTENT);
    if (response == NULL) {
        return MHD_NO;
    }
    const char *json = elastic ? "application/json" : "application/json; charset=UTF-8";
    if (a->body.len > 0) {
        MHD_add_response_header(response, "content-type",
                                a->content_type != NULL ? a->content_type : json);
    }
    if (elastic && a->status != 401 && a->status != 403) {
        MHD_add_response_header(response, "X-elastic-product", "Elasticsearch");
    }
    if (a->status == 401) {
        MHD_add_response_header(response, "WWW-Authenticate",
                                elastic ? "ApiKey" : "Basic realm=\"OpenSearch Security\"");
    }
    enum MHD_Result sent = MHD_queue_response(connection, (unsigned)a->status, response);
    MHD_destroy_response(response);
    return sent;
}

/* Runs the handler under the lock, with the requested faults. */
static enum MHD_Result serve(struct http *h, struct exchange *x, struct MHD_Connection *connection,
                             const char *method)
{
    struct request q = {.body = span_make(x->body.data, x->body.len)};
    struct answer *a = &x->answer;
    struct server *s = h->server;
    struct fault fault = {0};
    if (!request_parse(&q, method, x->target)) {
        answer_plain_error(a, 400, "the path or the query of the request is malformed");
        request_release(&q);
        return send_answer(h, x, connection);
    }
    pthread_mutex_lock(&s->lock);
    s->requests++;
    fault = faults_take(&s->faults, q.path);
    faults_delay(&s->faults, &s->lock, fault.delay_ms);
    if (fault.answer != NULL) {
        a->status = fault.status;
        buf_push_text(&a->body, fault.answer);
        free(fault.answer);
    } else if (fault.status != 0) {
        struct refusal r;
        refusal_init(&r);
        fault_refuse(&r, fault.status, s->options->product, NULL);
        answer_refuse(a, &r);
        refusal_release(&r);
    } else if (fault.close != CLOSE_BEFORE) {
        route(s, &q, a);
    }
    pthread_mutex_unlock(&s->lock);
    request_release(&q);
    if (fault.close == CLOSE_BEFORE || fault.close == CLOSE_AFTER) {
        return MHD_NO;
    }
    x->cut_at = fault.close == CLOSE_MIDDLE ? a->body.len / 2 + 1 : 0;
    return send_answer(h, x, connection);
}

/* Called first, with the headers. Requests with invalid credentials or too large bodies are refused
 * before the body is stored. */
static enum MHD_Result begin(struct http *h, struct exchange *x, struct MHD_Connection *connection,
                             const char *method)
{
    const struct options *o = h->server->options;
    const char *length = header(connection, "Content-Length");
    struct knock knock = {.method = method,
                          .target = x->target,
                          .host = header(connection, "Host"),
                          .origin = header(connection, "Origin"),
                          .authorization = header(connection, "Authorization")};
    x->begun = true;
    buf_init(&x->body, o->max_content_length);
    x->dropped = door_refuses(o, &knock, &x->answer);
    if (!x->dropped && length != NULL && strtoull(length, NULL, 10) > o->max_content_length) {
        x->dropped = true;
        x->answer.status = 413;
    }
    return x->dropped && header(connection, "Expect") != NULL ? send_answer(h, x, connection)
                                                              : MHD_YES;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **state)
{
    (void)url;
    (void)version;
    struct http *h = context;
    struct exchange *x = *state;
    if (!x->begun) {
        return begin(h, x, connection, method);
    }
    if (*upload_size > 0) {
        if (!x->dropped) {
            buf_push(&x->body, upload, *upload_size);
        }
        if (x->body.failed && !x->dropped) {
            x->dropped = true;
            x->answer.status = 413;
        }
        *upload_size = 0;
        return MHD_YES;
    }
    if (x->dropped || body_refused(x, connection)) {
        return send_answer(h, x, connection);
    }
    return serve(h, x, connection, method);
}

static int address(const struct options *o, struct sockaddr_storage *out, struct err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;
    char port[16];
    snprintf(port, sizeof(port), "%d", o->port);
    if (getaddrinfo(o->host, port, &hints, &found) != 0) {
        return err_set(err, ERR_CONFIG, "cannot listen on \"%s\": no such address", o->host);
    }
    memcpy(out, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return 0;
}

struct http *http_start(struct server *s, struct err *err)
{
    struct sockaddr_storage where = {0};
    const struct options *o = s->options;
    bool tls = o->tls_cert != NULL;
    if (address(o, &where, err) != 0) {
        return NULL;
    }
    if (tls && MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES) {
        err_set(err, ERR_CONFIG, "cannot serve TLS: libmicrohttpd was built without it");
        return NULL;
    }
    unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD |
                     (tls ? MHD_USE_TLS : 0) | (where.ss_family == AF_INET6 ? MHD_USE_IPv6 : 0);
    struct MHD_OptionItem pem[] = {
        {tls ? MHD_OPTION_HTTPS_MEM_CERT : MHD_OPTION_END, 0, o->tls_cert},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, o->tls_key},
        {MHD_OPTION_END, 0, NULL},
    };
    struct http *h = mem_zero(1, sizeof(*h));
    h->server = s;
    h->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, h, MHD_OPTION_SOCK_ADDR, &where,
        MHD_OPTION_URI_LOG_CALLBACK, on_target, NULL, MHD_OPTION_NOTIFY_COMPLETED, on_end, NULL,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)262144, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENCE_MAX_S,
        MHD_OPTION_LISTENING_ADDRESS_REUSE, 1U, MHD_OPTION_ARRAY, pem, MHD_OPTION_END);
    if (h->daemon == NULL) {
        err_set(err, ERR_TRANSIENT, "could not listen on %s:%d", o->host, o->port);
        free(h);
        return NULL;
    }
    return h;
}

int http_port(const struct http *h)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info != NULL ? info->port : 0;
}

void http_stop(struct http *h)
{
    pthread_mutex_lock(&h->server->lock);
    faults_drop(&h->server->faults);
    pthread_mutex_unlock(&h->server->lock);
    MHD_stop_daemon(h->daemon);
    free(h);
}
