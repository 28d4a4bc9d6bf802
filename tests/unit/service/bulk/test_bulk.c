/* SPDX-License-Identifier: Apache-2.0 */
/* The fate of a batch, for any behaviour of the service or the network. */
#include "rowferry/service/bulk/bulk.h"

#include "fixture.h"
#include "rowferry/service/http/product.h"
#include "suite.h"
#include "wait.h"

static void fill(struct batch *b, size_t count)
{
    batch_init(b, 1 << 20, 1 << 20, 10000);
    for (size_t i = 0; i < count; i++) {
        batch_begin(b, OPERATION_UPSERT, span_make("k", 1), 10, 1);
        buf_push_literal(&b->bytes, "{\"index\":{\"_id\":\"k\"}}\n{}\n");
        ck_assert(batch_commit(b));
    }
}

/* Waits until the batch is returned. */
static struct batch *take(struct service *s)
{
    struct batch *b = NULL;
    struct err err;
    struct deadline deadline = deadline_after(WAIT_MS);
    while (b == NULL) {
        bool readable;
        ck_assert_int_eq(bulk_wait(s, -1, 100, &readable, &err), 0);
        b = bulk_take(s);
        ck_assert(b != NULL || deadline_wait(&deadline));
    }
    return b;
}

#define TWO_GOOD                                                                                   \
    "{\"errors\":false,\"items\":[{\"index\":{\"status\":200}},{\"index\":{\"status\":200}}]}"
#define REFUSED "{\"error\":{\"type\":\"a\",\"reason\":\"b\"}}"
#define WHOLE SIZE_MAX

struct line {
    int status;
    const char *body;
    size_t cut;
    size_t operations;
    enum outcome wanted;
    const char *failure; /* part of the message; null: none */
};

static const struct line lines[] = {
    {200, TWO_GOOD, WHOLE, 2, OUTCOME_DONE, NULL},
    {200, TWO_GOOD, WHOLE, 3, OUTCOME_UNKNOWN, "has 2 items, expected 3"},
    {200, TWO_GOOD, WHOLE, 1, OUTCOME_UNKNOWN, "more items than its 1 operations"},
    {200, TWO_GOOD, 120, 2, OUTCOME_UNKNOWN, "was lost before the answer was complete"},
    {200, "", WHOLE, 1, OUTCOME_UNKNOWN, "ends after 0 bytes"},
    {200, "<html>", WHOLE, 1, OUTCOME_UNKNOWN, "not a bulk answer"},
    {200, "", 0, 1, OUTCOME_UNKNOWN, "was lost before the answer was complete"},
    {200, "", 30, 1, OUTCOME_UNKNOWN, "was lost before the answer was complete"},
    {429, "{\"error\":{\"type\":\"circuit_breaking_exception\"}}", WHOLE, 2, OUTCOME_RETRY,
     ": 429 circuit_breaking_exception"},
    {503, "", WHOLE, 2, OUTCOME_RETRY, ": 503 Service Unavailable"},
    {502, "<html>", WHOLE, 2, OUTCOME_RETRY, ": 502 Bad Gateway"},
    {413, "", WHOLE, 2, OUTCOME_RETRY, "413"},
    {413, "", WHOLE, 1, OUTCOME_REJECTED, "413"},
    {400, REFUSED, WHOLE, 2, OUTCOME_RETRY, "400 a: b"},
    {400, REFUSED, WHOLE, 1, OUTCOME_REJECTED, "400 a: b"},
    {401, "", WHOLE, 2, OUTCOME_FATAL, "401"},
    {403, "", WHOLE, 2, OUTCOME_FATAL, "403"},
    {404, "", WHOLE, 2, OUTCOME_FATAL, "404"},
    {302, "", WHOLE, 2, OUTCOME_FATAL, "302"},
};

static void check_line(const struct line *line)
{
    char text[ANSWER_BYTES];
    const char *const answers[] = {answer_of(text, line->status, line->body), NULL};
    unsigned status = line->cut == WHOLE ? (unsigned)line->status : 0;
    struct fixture f = {0};
    struct batch b;
    start(&f, answers, line->cut);
    fill(&b, line->operations);
    ck_assert_int_eq(bulk_send(f.service, "shop-1", NULL, &b, &f.err), 0);
    ck_assert_ptr_eq(take(f.service), &b);
    ck_assert_msg(b.http_status == status, "%s: %u", text, b.http_status);
    for (size_t i = 0; i < b.count; i++) {
        ck_assert_msg(b.operations[i].outcome == line->wanted, "%s: %d", text,
                      (int)b.operations[i].outcome);
        ck_assert_uint_eq(b.operations[i].attempts, 1);
    }
    ck_assert_int_eq(b.failure.class == ERR_NONE, line->failure == NULL);
    ck_assert_msg(line->failure == NULL || strstr(b.failure.message, line->failure) != NULL,
                  "%s: %s", text, b.failure.message);
    batch_release(&b);
    stop(&f);
}

START_TEST(every_end_of_a_request)
{
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        check_line(&lines[i]);
    }
}
END_TEST

#define WRITTEN "shop-20261126-000001-WRITE-0123456789abcdef"
#define ON_WRITTEN "{\"error\":{\"type\":\"a\",\"reason\":\"no bulk on [" WRITTEN "]\"}}"

/* People know the index by its own name. */
START_TEST(a_request_that_fails_names_the_index_and_the_host_and_not_the_write_alias)
{
    char texts[3][ANSWER_BYTES];
    const char *const answers[] = {answer_of(texts[0], 401, ON_WRITTEN),
                                   answer_of(texts[1], 502, "<title>no</title>"),
                                   answer_of(texts[2], 200, "<title>no</title>"), NULL};
    static const char *const wanted[] = {"401 a: no bulk on [shop-20261126-000001]",
                                         "502 Bad Gateway: no", "not a bulk answer",
                                         "could not connect"};
    char place[96];
    struct fixture f = {0};
    struct batch b;
    start(&f, answers, SIZE_MAX);
    for (size_t i = 0; i < 4; i++) {
        int port = f.server != NULL ? f.server->port : 0;
        if (i == 3) {
            stop(&f);
            port = scripted_closed_port();
            f = (struct fixture){0};
            point(&f, 0, port);
            connect_to(&f, 1);
        }
        snprintf(place, sizeof(place), "127.0.0.1:%d: ", port);
        fill(&b, 2);
        ck_assert_int_eq(bulk_send(f.service, WRITTEN, NULL, &b, &f.err), 0);
        take(f.service);
        const char *text = b.failure.message;
        ck_assert_msg(strncmp(text, "POST /shop-20261126-000001/_bulk", 32) == 0 &&
                          strstr(text, place) != NULL && strstr(text, wanted[i]) != NULL,
                      "%s", text);
        ck_assert_msg(strstr(text, "WRITE") == NULL && strstr(b.failure.detail, "WRITE") == NULL,
                      "%s %s", text, b.failure.detail);
        batch_release(&b);
    }
    stop(&f);
}
END_TEST

START_TEST(a_single_operation_that_fails_its_request_has_the_reason)
{
    char first[ANSWER_BYTES];
    char second[ANSWER_BYTES];
    const char *const answers[] = {answer_of(first, 400, REFUSED), answer_of(second, 413, ""),
                                   NULL};
    struct fixture f = {0};
    struct batch b;
    start(&f, answers, SIZE_MAX);
    fill(&b, 1);
    ck_assert_int_eq(bulk_send(f.service, "shop-1", NULL, &b, &f.err), 0);
    take(f.service);
    ck_assert(span_is(batch_reason(&b, &b.operations[0]), "a: b"));
    ck_assert_int_eq(bulk_send(f.service, "shop-1", NULL, &b, &f.err), 0);
    take(f.service);
    char refused[128];
    snprintf(refused, sizeof(refused),
             "request_refused: POST /shop-1/_bulk of 127.0.0.1:%d: 413 Content Too Large",
             f.server->port);
    ck_assert(span_is(batch_reason(&b, &b.operations[0]), refused));
    ck_assert_uint_eq(b.operations[0].attempts, 2);
    batch_release(&b);
    stop(&f);
}
END_TEST

START_TEST(a_secret_quoted_in_an_operations_reason_is_masked)
{
    char text[ANSWER_BYTES];
    const char *const answers[] = {
        answer_of(text, 200,
                  "{\"errors\":true,\"items\":[{\"index\":{\"status\":200}},{\"index\":{"
                  "\"status\":400,\"error\":{\"type\":\"a\",\"reason\":\"not ApiKey canary-key"
                  "\"}}}]}"),
        NULL};
    struct fixture f = {.options.credentials[SERVICE_API_KEY].value = "canary-key"};
    struct batch b;
    start(&f, answers, SIZE_MAX);
    fill(&b, 2);
    ck_assert_int_eq(bulk_send(f.service, "shop-1", NULL, &b, &f.err), 0);
    take(f.service);
    ck_assert_int_eq(b.operations[1].outcome, OUTCOME_REJECTED);
    ck_assert(span_is(batch_reason(&b, &b.operations[1]), "a: not ApiKey **********"));
    batch_release(&b);
    stop(&f);
}
END_TEST

START_TEST(the_request_body_is_the_batch)
{
    char text[ANSWER_BYTES];
    const char *const answers[] = {answer_of(text, 503, ""), NULL};
    struct fixture f = {.options.request_timeout_ms = 60000};
    struct batch b;
    start(&f, answers, SIZE_MAX);
    fill(&b, 2);
    ck_assert_int_eq(bulk_send(f.service, "shop-1", "my pipe", &b, &f.err), 0);
    take(f.service);
    static const char line[] =
        "POST /shop-1/_bulk?filter_path=items.*._index,items.*._id,items.*.status,items.*.error,"
        "items.*.failure_store&timeout=55s&pipeline=my%20pipe HTTP/1.1\r\n";
    ck_assert_int_eq(strncmp(f.server->request, line, sizeof(line) - 1), 0);
    ck_assert_ptr_nonnull(strstr(f.server->request, "Content-Type: application/x-ndjson\r\n"));
    ck_assert_ptr_nonnull(strstr(f.server->request, "\r\nContent-Length: 50\r\n"));
    ck_assert_ptr_null(strcasestr(f.server->request, "expect:"));
    ck_assert_str_eq(strstr(f.server->request, "\r\n\r\n") + 4, b.bytes.data);
    batch_release(&b);
    stop(&f);
}
END_TEST

START_TEST(only_the_first_part_up_to_the_limit_is_sent_and_settled)
{
    char text[ANSWER_BYTES];
    const char *const answers[] = {answer_of(text, 200, TWO_GOOD), NULL};
    struct fixture f = {0};
    struct batch b;
    start(&f, answers, SIZE_MAX);
    fill(&b, 5);
    b.send_limit = 2;
    ck_assert_int_eq(bulk_send(f.service, "shop-1", NULL, &b, &f.err), 0);
    take(f.service);
    ck_assert_int_eq(b.failure.class, ERR_NONE);
    ck_assert_ptr_nonnull(strstr(f.server->request, "\r\nContent-Length: 50\r\n"));
    for (size_t i = 0; i < b.count; i++) {
        ck_assert_int_eq(b.operations[i].outcome, i < 2 ? OUTCOME_DONE : OUTCOME_UNKNOWN);
        ck_assert_uint_eq(b.operations[i].attempts, i < 2 ? 1 : 0);
    }
    batch_release(&b);
    stop(&f);
}
END_TEST

START_TEST(an_operation_that_is_sent_alone_is_rejected_alone)
{
    char text[ANSWER_BYTES];
    const char *const answers[] = {answer_of(text, 400, REFUSED), NULL};
    struct fixture f = {0};
    struct batch b;
    start(&f, answers, SIZE_MAX);
    fill(&b, 2);
    b.send_limit = 1;
    ck_assert_int_eq(bulk_send(f.service, "shop-1", NULL, &b, &f.err), 0);
    take(f.service);
    ck_assert_int_eq(b.operations[0].outcome, OUTCOME_REJECTED);
    ck_assert(span_is(batch_reason(&b, &b.operations[0]), "a: b"));
    ck_assert_int_eq(b.operations[1].outcome, OUTCOME_UNKNOWN);
    batch_release(&b);
    stop(&f);
}
END_TEST

START_TEST(elasticsearch_is_asked_to_keep_documents_out_of_reasons)
{
    char first[ANSWER_BYTES];
    char second[ANSWER_BYTES];
    const char *const answers[] = {
        answer_of(first, 200,
                  "{\"version\":{\"number\":\"8.19.21\",\"build_flavor\":\"default\"},"
                  "\"tagline\":\"You Know, for Search\"}"),
        answer_of(second, 503, ""), NULL};
    struct fixture f = {0};
    struct batch b;
    struct product_info info;
    start(&f, answers, SIZE_MAX);
    fill(&b, 1);
    ck_assert_int_eq(product_detect(f.service, &info, &f.err), 0);
    ck_assert_int_eq(bulk_send(f.service, "shop-1", NULL, &b, &f.err), 0);
    take(f.service);
    ck_assert_ptr_nonnull(strstr(f.server->request, "&include_source_on_error=false"));
    batch_release(&b);
    stop(&f);
}
END_TEST

START_TEST(no_more_than_the_configured_number_is_in_flight)
{
    char text[ANSWER_BYTES];
    const char *const answers[] = {answer_of(text, 503, ""), NULL};
    struct fixture f = {0};
    struct batch b[3];
    start(&f, answers, 0); /* every connection ends without an answer */
    for (size_t i = 0; i < 3; i++) {
        fill(&b[i], 1);
    }
    for (size_t i = 0; i < 2; i++) {
        ck_assert(bulk_can_send(f.service));
        ck_assert_int_eq(bulk_send(f.service, "shop-1", NULL, &b[i], &f.err), 0);
    }
    ck_assert(!bulk_can_send(f.service));
    ck_assert_int_eq(bulk_send(f.service, "shop-1", NULL, &b[2], &f.err), ERR_INTERNAL);
    take(f.service);
    ck_assert(bulk_can_send(f.service));
    take(f.service);
    ck_assert_ptr_null(bulk_take(f.service));
    for (size_t i = 0; i < 3; i++) {
        batch_release(&b[i]);
    }
    stop(&f);
}
END_TEST

START_TEST(bulk_requests_go_on_during_another_request)
{
    char text[ANSWER_BYTES];
    const char *const answers[] = {answer_of(text, 200, "{}"), NULL};
    struct fixture f = {0};
    struct batch b;
    start(&f, answers, 20); /* within the head; the next connection is served */
    fill(&b, 1);
    ck_assert_int_eq(bulk_send(f.service, "shop-1", NULL, &b, &f.err), 0);
    ck_assert_int_eq(http_request(f.service, "GET", "/", span_make(NULL, 0), &f.answer, &f.err),
                     ERR_TRANSIENT);
    ck_assert_uint_eq(f.server->requests, 2);
    take(f.service);
    ck_assert_int_eq(b.operations[0].outcome, OUTCOME_UNKNOWN);
    batch_release(&b);
    stop(&f);
}
END_TEST

START_TEST(waiting_ends_when_the_other_descriptor_is_readable)
{
    static const char *const answers[] = {"", NULL};
    struct fixture f = {0};
    int ends[2];
    bool readable = true;
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(bulk_wait(f.service, ends[0], 1, &readable, &f.err), 0);
    ck_assert(!readable);
    ck_assert_int_eq(write(ends[1], "x", 1), 1);
    ck_assert_int_eq(bulk_wait(f.service, ends[0], 60000, &readable, &f.err), 0);
    ck_assert(readable);
    close(ends[0]);
    close(ends[1]);
    stop(&f);
}
END_TEST

/* Sends a batch that gets this answer, and returns it. */
static void meet(struct batch *b, const char *text)
{
    const char *const answers[] = {text, NULL};
    struct fixture f = {0};
    start(&f, answers, WHOLE);
    fill(b, 1);
    ck_assert_int_eq(bulk_send(f.service, "shop-1", NULL, b, &f.err), 0);
    ck_assert_ptr_eq(take(f.service), b);
    stop(&f);
}

START_TEST(retry_after_and_memory_shortage_are_read_from_the_refusal)
{
    static const struct {
        const char *text;
        int64_t retry_after_ms;
        bool short_of_memory;
    } refusals[] = {
        {"HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n", 7000, false},
        {"HTTP/1.1 429 Busy\r\nretry-after: 2\r\nContent-Length: 0\r\n\r\n", 2000, false},
        {"HTTP/1.1 429 Busy\r\nRetry-After: soon\r\nContent-Length: 0\r\n\r\n", 0, false},
        {"HTTP/1.1 429 Busy\r\nRetry-After: -5\r\nContent-Length: 0\r\n\r\n", 0, false},
        {"HTTP/1.1 429 Busy\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n"
         "{\"error\":{\"type\":\"circuit_breaking_exception\"   }}",
         0, true},
    };
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct batch b;
        meet(&b, refusals[i].text);
        ck_assert_int_eq(b.retry_after_ms, refusals[i].retry_after_ms);
        ck_assert_int_eq(b.short_of_memory, refusals[i].short_of_memory);
        batch_release(&b);
    }
}
END_TEST

START_TEST(closing_ends_what_is_in_flight)
{
    static const char *const answers[] = {"", NULL};
    struct fixture f = {0};
    struct batch b;
    bool readable;
    f.server = scripted_start(answers, SIZE_MAX, true);
    point(&f, 0, f.server->port);
    connect_to(&f, 1);
    fill(&b, 1);
    ck_assert_int_eq(bulk_send(f.service, "shop-1", NULL, &b, &f.err), 0);
    ck_assert_int_eq(bulk_wait(f.service, -1, 50, &readable, &f.err), 0);
    stop(&f);
    batch_release(&b);
}
END_TEST

SUITE_MAIN("service/bulk", every_end_of_a_request,
           a_request_that_fails_names_the_index_and_the_host_and_not_the_write_alias,
           a_single_operation_that_fails_its_request_has_the_reason,
           a_secret_quoted_in_an_operations_reason_is_masked, the_request_body_is_the_batch,
           only_the_first_part_up_to_the_limit_is_sent_and_settled,
           an_operation_that_is_sent_alone_is_rejected_alone,
           elasticsearch_is_asked_to_keep_documents_out_of_reasons,
           no_more_than_the_configured_number_is_in_flight,
           bulk_requests_go_on_during_another_request,
           waiting_ends_when_the_other_descriptor_is_readable,
           retry_after_and_memory_shortage_are_read_from_the_refusal,
           closing_ends_what_is_in_flight)
