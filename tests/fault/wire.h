/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bulk request over a real socket with a scripted answer. Consists of a batch, a service handle
 * and a proxy that answers in place of the service.
 */
#pragma once

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "outcomes.h"
#include "proxy.h"
#include "rowferry/base/text.h"
#include "rowferry/service/bulk/bulk.h"
#include "suite.h"
#include "wait.h"

#define OPERATIONS 80
#define GOOD "{\"index\":{\"status\":201}}"
#define PATIENT_MS 30000 /* request_timeout that must not expire: the machine may stall */
#define JSON "Content-Type: application/json\r\n"

struct wire {
    struct proxy *proxy;
    struct service *service;
    struct batch batch;
    struct proxy_fault fault; /* for all requests from the next batch on */
    pthread_mutex_t lock;     /* protects `given`, which the proxy's threads read */
    struct proxy_fault given;
    int port;            /* the proxy's, unless a test has its own server */
    const char *index;   /* target of the batch */
    const char *ca_file; /* of an https server; null: http */
    char url[64];
    const char *urls[1];
    struct buf answer;
};

static inline void decide(void *context, const struct proxy_request *request,
                          struct proxy_fault *fault)
{
    struct wire *w = context;
    (void)request;
    pthread_mutex_lock(&w->lock);
    *fault = w->given;
    pthread_mutex_unlock(&w->lock);
}

static inline void give_fault(struct wire *w)
{
    pthread_mutex_lock(&w->lock);
    w->given = w->fault;
    pthread_mutex_unlock(&w->lock);
}

static inline void fill(struct wire *w, size_t operations, size_t pad)
{
    batch_init(&w->batch, 32 << 20, 1 << 20, operations);
    for (size_t i = 0; i < operations; i++) {
        batch_begin(&w->batch, OPERATION_UPSERT, span_make("k", 1), 10, 1);
        buf_printf(&w->batch.bytes, "{\"index\":{\"_id\":\"k\"}}\n{\"p\":\"%*s\"}\n", (int)pad, "");
        ck_assert(batch_commit(&w->batch));
    }
}

static inline void open_service(struct wire *w, int64_t timeout_ms)
{
    struct err err;
    struct service_options options = {.urls = w->urls,
                                      .url_count = 1,
                                      .connect_timeout_ms = PATIENT_MS,
                                      .request_timeout_ms = timeout_ms,
                                      .ca_file = w->ca_file,
                                      .in_flight = 2};
    snprintf(w->url, sizeof(w->url), "%s://127.0.0.1:%d", w->ca_file != NULL ? "https" : "http",
             w->port);
    w->urls[0] = w->url;
    ck_assert_int_eq(http_service_open(&w->service, &options, &err), 0);
}

static inline void open_again(struct wire *w, int64_t timeout_ms)
{
    http_service_close(w->service);
    open_service(w, timeout_ms);
}

static inline void start(struct wire *w, size_t operations, size_t pad, int64_t timeout_ms)
{
    *w = (struct wire){
        .fault = {
            .withheld = true, .cut_request = PROXY_WHOLE, .cut_answer = PROXY_WHOLE, .answer = ""}};
    pthread_mutex_init(&w->lock, NULL);
    give_fault(w);
    buf_init(&w->answer, 64 << 20);
    w->proxy = proxy_start(1, decide, w);
    w->port = proxy_port(w->proxy);
    w->index = "shop-1";
    open_service(w, timeout_ms);
    fill(w, operations, pad);
}

static inline void stop(struct wire *w)
{
    http_service_close(w->service);
    proxy_stop(w->proxy);
    batch_release(&w->batch);
    buf_release(&w->answer);
    pthread_mutex_destroy(&w->lock);
}

/* Sends the batch and waits for its end. Returns the common outcome of all operations. */
static inline enum outcome send_batch(struct wire *w)
{
    struct err err;
    struct deadline deadline = deadline_after(WAIT_MS);
    struct batch *back = NULL;
    give_fault(w);
    if (bulk_send(w->service, w->index, NULL, &w->batch, &err) != 0) {
        ck_abort_msg("%s", err.message);
    }
    while (back == NULL) {
        bool readable;
        if (bulk_wait(w->service, -1, 100, &readable, &err) != 0 ||
            deadline_now_ms() > deadline.end_ms) {
            ck_abort_msg("no end of a request");
        }
        back = bulk_take(w->service);
    }
    for (size_t i = 1; i < back->count; i++) {
        if (back->operations[i].outcome != back->operations[0].outcome) {
            ck_abort_msg("operation %zu has another outcome", i);
        }
    }
    return back->operations[0].outcome;
}

static inline void expect(struct wire *w, enum outcome wanted, const char *what, size_t at)
{
    enum outcome got = send_batch(w);
    if (got != wanted) {
        ck_abort_msg("%s %zu: %s (%s)", what, at, outcome_name(got), w->batch.failure.message);
    }
    if ((got == OUTCOME_DONE) != (w->batch.failure.class == ERR_NONE)) {
        ck_abort_msg("%s %zu: no reason", what, at);
    }
}

static inline void push_items(struct buf *out, size_t count)
{
    buf_push_literal(out, "{\"took\":1,\"errors\":false,\"items\":[");
    for (size_t i = 0; i < count; i++) {
        buf_push_text(out, i > 0 ? "," : "");
        buf_push_literal(out, GOOD);
    }
    buf_push_literal(out, "]}");
}

enum framing { BY_LENGTH, BY_CHUNKS, BY_TRAILERS, BY_CLOSE };

/* Writes a good answer; returns the number of bytes that must arrive. */
static inline size_t good_answer(struct wire *w, enum framing framing)
{
    struct buf body;
    buf_init(&body, 64 << 20);
    push_items(&body, w->batch.count);
    buf_reset(&w->answer);
    if (framing == BY_LENGTH) {
        buf_printf(&w->answer, "HTTP/1.1 200 OK\r\n" JSON "Content-Length: %zu\r\n\r\n", body.len);
        buf_push(&w->answer, body.data, body.len);
    } else if (framing == BY_CHUNKS || framing == BY_TRAILERS) {
        buf_printf(&w->answer,
                   "HTTP/1.1 200 OK\r\n" JSON "Transfer-Encoding: chunked\r\n\r\n100\r\n%.256s\r\n"
                   "%zx\r\n%s\r\n0\r\n%s\r\n",
                   body.data, body.len - 256, body.data + 256,
                   framing == BY_TRAILERS ? "Server-Timing: app;dur=3\r\n" : "");
    } else {
        buf_printf(&w->answer, "HTTP/1.0 200 OK\r\n" JSON "\r\n%s", buf_text(&body));
    }
    buf_release(&body);
    w->fault.answer = buf_text(&w->answer);
    w->fault.answer_len = w->answer.len;
    w->fault.close = framing == BY_CLOSE;
    /* libcurl does not need the line end after the last chunk, or half of it after trailers */
    return w->answer.len - (framing == BY_CHUNKS ? 2 : framing == BY_TRAILERS ? 1 : 0);
}
