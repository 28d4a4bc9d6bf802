/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sequence of requests to devsearch, separated by a byte 30: a line "METHOD target", then the
 * body. Each must get an answer with a status, and any body must be JSON. Afterwards the server
 * must still identify itself. The target is also tried as Host and Origin of a request.
 */
#include <string.h>

#include "api/server.h"
#include "door.h"
#include "expect.h"
#include "rowferry/base/text.h"

#define BETWEEN 30
#define REQUESTS_MOST 32

static void expect_answer(const struct request *q, const struct answer *a)
{
    const struct buf *body = &a->body;
    FUZZ_EXPECT(a->status >= 200 && a->status < 600, "%s %s: %d", q->method_name, q->path,
                a->status);
    FUZZ_EXPECT(a->content_type != NULL || body->len == 0 || json_valid(buf_text(body), body->len),
                "%s %s: %d %s", q->method_name, q->path, a->status, buf_text(body));
}

/* Calls the server as the HTTP front end does. Returns the status. */
static int request(struct server *s, const char *method, const char *target, struct span body)
{
    struct request q = {.body = body};
    struct answer a = {.status = 0};
    buf_init(&a.body, ANSWER_MAX_BYTES);
    if (request_parse(&q, method, target)) {
        pthread_mutex_lock(&s->lock);
        s->requests++;
        route(s, &q, &a);
        pthread_mutex_unlock(&s->lock);
        expect_answer(&q, &a);
    }
    request_release(&q);
    buf_release(&a.body);
    return a.status;
}

/* Uses the target as Host and Origin: the request must be accepted or refused with a valid
 * answer. */
static void knock(const struct server *s, const char *method, const char *target)
{
    struct knock k = {.method = method,
                      .target = target,
                      .host = target + 1,
                      .origin = target + 1,
                      .authorization = target + 1};
    struct request q = {.method_name = method, .path = text_copy(target)};
    struct answer a = {.status = 0};
    buf_init(&a.body, ANSWER_MAX_BYTES);
    if (door_refuses(s->options, &k, &a)) {
        expect_answer(&q, &a);
    }
    request_release(&q);
    buf_release(&a.body);
}

static void request_of_bytes(struct server *s, const char *bytes, size_t len)
{
    const char *end = memchr(bytes, '\n', len);
    size_t line = end != NULL ? (size_t)(end - bytes) : len;
    char *head = text_copy_span(span_make(bytes, line));
    char *target = strchr(head, ' ');
    if (target != NULL && target[1] == '/') {
        *target = '\0';
        size_t rest = line < len ? len - line - 1 : 0;
        knock(s, head, target + 1);
        request(s, head, target + 1, span_make(rest > 0 ? bytes + line + 1 : NULL, rest));
    }
    free(head);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char host[] = "127.0.0.1";
    struct options options = {.host = host, .faults = true, .max_content_length = (size_t)1 << 20};
    struct server server;
    struct err err = {0};
    if (size == 0) {
        return 0;
    }
    options.product = data[0] % 2 == 0 ? OPENSEARCH : ELASTICSEARCH;
    server_init(&server, &options);
    FUZZ_EXPECT(server_open(&server, &err) == 0, "%s", err.message);
    const char *at = (const char *)data + 1;
    size_t left = size - 1;
    for (int count = 0; left > 0 && count < REQUESTS_MOST; count++) {
        const char *end = memchr(at, BETWEEN, left);
        size_t len = end != NULL ? (size_t)(end - at) : left;
        request_of_bytes(&server, at, len);
        at += len + (end != NULL);
        left -= len + (end != NULL);
    }
    FUZZ_EXPECT(request(&server, "GET", "/", span_make(NULL, 0)) == 200, "it is silent");
    server_release(&server);
    return 0;
}
