/* SPDX-License-Identifier: Apache-2.0 */
/* Bulk requests over real sockets, cut at every byte and answered falsely: never a success. */
#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire.h"

#define ENDLESS_MS 1000 /* request_timeout for answers that nothing else ends */

/* Cuts at every byte if the length is given; otherwise at every byte near both ends. */
static size_t step_at(enum framing framing, size_t cut, size_t whole)
{
    return framing == BY_LENGTH || cut < 300 || cut + 300 > whole ? 1 : 7;
}

static void cut_everywhere(enum framing framing)
{
    struct wire w;
    start(&w, OPERATIONS, 0, PATIENT_MS);
    size_t whole = good_answer(&w, framing);
    ck_assert_uint_gt(whole, 2000);
    for (size_t cut = 0; cut < whole; cut += step_at(framing, cut, whole)) {
        w.fault.cut_answer = cut;
        w.fault.reset = cut % 2 == 1;
        expect(&w, OUTCOME_UNKNOWN, "an answer cut at", cut);
    }
    w.fault.cut_answer = PROXY_WHOLE;
    w.fault.reset = false;
    expect(&w, OUTCOME_DONE, "a whole answer", whole);
    stop(&w);
}

START_TEST(an_answer_with_a_length_that_is_cut_at_any_byte_is_no_success)
{
    cut_everywhere(BY_LENGTH);
}
END_TEST

START_TEST(an_answer_in_chunks_that_is_cut_at_any_byte_is_no_success)
{
    cut_everywhere(BY_CHUNKS);
}
END_TEST

START_TEST(an_answer_with_trailers_that_is_cut_at_any_byte_is_no_success)
{
    cut_everywhere(BY_TRAILERS);
}
END_TEST

START_TEST(an_answer_that_ends_with_the_connection_is_no_success_where_it_is_cut)
{
    cut_everywhere(BY_CLOSE);
}
END_TEST

START_TEST(a_large_answer_cut_here_and_there_is_no_success)
{
    struct wire w;
    start(&w, 5000, 0, PATIENT_MS);
    size_t whole = good_answer(&w, BY_LENGTH);
    for (size_t cut = 2048; cut < whole; cut += 997) {
        w.fault.cut_answer = cut;
        expect(&w, OUTCOME_UNKNOWN, "an answer cut at", cut);
    }
    stop(&w);
}
END_TEST

START_TEST(a_request_that_is_cut_at_any_byte_is_no_success)
{
    struct wire w;
    start(&w, OPERATIONS, 2000, PATIENT_MS);
    (void)good_answer(&w, BY_LENGTH);
    for (size_t cut = 0; cut < w.batch.bytes.len; cut += cut < 300 ? 1 : 997) {
        w.fault.cut_request = cut;
        w.fault.reset = cut % 2 == 1;
        expect(&w, OUTCOME_UNKNOWN, "a request cut at", cut);
    }
    w.fault.cut_request = PROXY_WHOLE;
    expect(&w, OUTCOME_DONE, "a whole request", 0);
    stop(&w);
}
END_TEST

/* The refusal overtakes the upload, then the connection breaks. Whichever is noticed, the sender
 * must learn that the request was too large. */
START_TEST(a_refusal_in_the_middle_of_the_upload_is_seen_as_too_much)
{
    static const char refusal[] = "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n";
    struct wire w;
    start(&w, OPERATIONS, 200000, PATIENT_MS);
    ck_assert_uint_gt(w.batch.bytes.len, 8 << 20);
    w.fault.answer = refusal;
    w.fault.answer_len = sizeof(refusal) - 1;
    w.fault.early = true;
    for (size_t i = 0; i < 40; i++) {
        w.fault.cut_request = 1000 + 20000 * i;
        w.fault.reset = i % 2 == 0;
        enum outcome outcome = send_batch(&w);
        ck_assert_msg((outcome == OUTCOME_RETRY && w.batch.http_status == 413) ||
                          (outcome == OUTCOME_UNKNOWN && w.batch.cut_off),
                      "%zu: %s, %u, %s", i, outcome_name(outcome), w.batch.http_status,
                      w.batch.failure.message);
    }
    stop(&w);
}
END_TEST

/* --- false answers --------------------------------------------------------------------------- */

#define HEAD(more) "HTTP/1.1 200 OK\r\n" JSON more "\r\n"
#define TWO "{\"errors\":false,\"items\":[" GOOD "," GOOD "]}" /* 76 bytes */
#define CLOSED HEAD("Connection: close\r\n")

struct lie {
    const char *name;
    const char *answer;
    const char *endless;
    enum outcome wanted; /* outcome of a batch of two */
};

static const struct lie lies[] = {
    {"one item", CLOSED "{\"errors\":false,\"items\":[" GOOD "]}", NULL, OUTCOME_UNKNOWN},
    {"three items", CLOSED "{\"errors\":false,\"items\":[" GOOD "," GOOD "," GOOD "]}", NULL,
     OUTCOME_UNKNOWN},
    {"ids of others",
     CLOSED "{\"errors\":false,\"items\":[{\"index\":{\"_id\":\"x\",\"status\":201}},"
            "{\"index\":{\"_id\":\"y\",\"status\":201}}]}",
     NULL, OUTCOME_UNKNOWN},
    {"an empty 200", HEAD("Content-Length: 0\r\n"), NULL, OUTCOME_UNKNOWN},
    {"a 204", "HTTP/1.1 204 No Content\r\n\r\n", NULL, OUTCOME_UNKNOWN},
    {"a good answer with another status",
     "HTTP/1.1 206 Partial\r\n" JSON "Connection: close\r\n\r\n" TWO, NULL, OUTCOME_UNKNOWN},
    {"a page of a proxy",
     "HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n"
     "<html>502</html>",
     NULL, OUTCOME_RETRY},
    {"a page of a login",
     "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<html>log in</html>",
     NULL, OUTCOME_UNKNOWN},
    {"a redirect", "HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n", NULL,
     OUTCOME_FATAL},
    {"a body without an end", CLOSED "{\"errors\":false,\"items\":[" GOOD "," GOOD "]}",
     "                                                               ", OUTCOME_UNKNOWN},
    {"items without an end", CLOSED "{\"errors\":false,\"items\":[" GOOD, "," GOOD,
     OUTCOME_UNKNOWN},
    {"a text without an end", CLOSED "{\"errors\":false,\"x\":\"", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
     OUTCOME_UNKNOWN},
    {"nesting without an end", CLOSED "{\"errors\":false,\"x\":", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
     OUTCOME_UNKNOWN},
    {"100 without an end", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n",
     OUTCOME_UNKNOWN},
    {"hints alone", "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n", NULL, OUTCOME_UNKNOWN},
    {"hints and a head that is cut",
     "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nConnection: close\r\n", NULL,
     OUTCOME_UNKNOWN},
    {"trailers that are cut",
     HEAD("Transfer-Encoding: chunked\r\n") "4c\r\n" TWO "\r\n0\r\nA: 1\r\n", NULL,
     OUTCOME_UNKNOWN},
    {"headers without an end", "HTTP/1.1 200 OK\r\n", "X-Flood: 0123456789012345678901234567\r\n",
     OUTCOME_UNKNOWN},
    {"a header without an end", "HTTP/1.1 200 OK\r\nX-Flood: ", "01234567890123456789012345678",
     OUTCOME_UNKNOWN},
    {"a length that is too long", HEAD("Content-Length: 9999\r\n") TWO, NULL, OUTCOME_UNKNOWN},
    {"a length that is too short", HEAD("Content-Length: 60\r\n") TWO, NULL, OUTCOME_UNKNOWN},
    {"a length that is none", HEAD("Content-Length: -1\r\n") TWO, NULL, OUTCOME_UNKNOWN},
    {"two lengths", HEAD("Content-Length: 10\r\nContent-Length: 60\r\n") TWO, NULL,
     OUTCOME_UNKNOWN},
    {"a chunk that is cut", HEAD("Transfer-Encoding: chunked\r\n") "ff\r\n" TWO, NULL,
     OUTCOME_UNKNOWN},
    {"a chunk's length that is none", HEAD("Transfer-Encoding: chunked\r\n") "zz\r\n" TWO, NULL,
     OUTCOME_UNKNOWN},
    {"an encoding nobody asked for",
     HEAD("Content-Encoding: gzip\r\nConnection: close\r\n") "\x1f\x8b\x08\x01garbage", NULL,
     OUTCOME_UNKNOWN},
    {"garbage", "\x16\x03\x01\x02\x01garbage\r\n\r\n\r\n", NULL, OUTCOME_UNKNOWN},
    {"the answer of HTTP 0.9", TWO, NULL, OUTCOME_UNKNOWN},
    {"something behind the answer", CLOSED TWO "{}", NULL, OUTCOME_UNKNOWN},
};

START_TEST(no_lie_is_taken_for_success)
{
    struct wire w;
    start(&w, 2, 0, PATIENT_MS);
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        const struct lie *lie = &lies[i];
        int64_t begun_ms = deadline_now_ms();
        w.fault.answer = lie->answer;
        w.fault.answer_len = strlen(lie->answer);
        w.fault.endless = lie->endless;
        w.fault.close = true;
        if (lie->endless != NULL) {
            open_again(&w, ENDLESS_MS);
        }
        expect(&w, lie->wanted, lie->name, i);
        ck_assert_msg(deadline_now_ms() - begun_ms < PATIENT_MS, "%s took too long", lie->name);
        if (lie->endless != NULL) {
            open_again(&w, PATIENT_MS);
        }
        w.fault.endless = NULL;
        (void)good_answer(&w, BY_LENGTH);
        expect(&w, OUTCOME_DONE, "after a lie", i);
    }
    stop(&w);
}
END_TEST

#define CHUNKED HEAD("Transfer-Encoding: chunked\r\n")
#define HINTS "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nDate: now\r\n\r\n"

/* Complete answers to a batch of two, in every form of HTTP/1.1. */
static const struct truth {
    const char *name;
    const char *answer;
} truths[] = {
    {"chunks", CHUNKED "4c\r\n" TWO "\r\n0\r\n\r\n"},
    {"a chunk's extension", CHUNKED "4c;a=b;c=\"d;e\"\r\n" TWO "\r\n0;last\r\n\r\n"},
    {"a chunk's length with zeros", CHUNKED "00004C\r\n" TWO "\r\n000\r\n\r\n"},
    {"a trailer", CHUNKED "4c\r\n" TWO "\r\n0\r\nServer-Timing: app;dur=3\r\n\r\n"},
    {"an announced trailer",
     HEAD(
         "Trailer: Digest\r\nTransfer-Encoding: chunked\r\n") "4c\r\n" TWO
                                                              "\r\n0\r\nDigest: sha-256=x\r\n\r\n"},
    {"several trailers",
     CHUNKED "4c\r\n" TWO "\r\n0\r\nA: 1\r\nDate: now\r\nContent-Type: text/html\r\n\r\n"},
    {"an empty trailer", CHUNKED "4c\r\n" TWO "\r\n0\r\nA:\r\n\r\n"},
    {"100 before", "HTTP/1.1 100 Continue\r\n\r\n" HEAD("Content-Length: 76\r\n") TWO},
    {"102 before", "HTTP/1.1 102 Processing\r\n\r\n" HEAD("Content-Length: 76\r\n") TWO},
    {"early hints", HINTS HEAD("Content-Length: 76\r\n") TWO},
    {"hints twice, and a trailer", HINTS HINTS CHUNKED "4c\r\n" TWO "\r\n0\r\nA: 1\r\n\r\n"},
    {"an end of the connection that was announced",
     HEAD("Connection: close\r\nContent-Length: 76\r\n") TWO},
};

START_TEST(trailers_hints_and_extensions_of_chunks_do_not_make_a_whole_answer_a_lost_one)
{
    struct wire w;
    start(&w, 2, 0, PATIENT_MS);
    for (size_t i = 0; i < sizeof(truths) / sizeof(truths[0]); i++) {
        w.fault.answer = truths[i].answer;
        w.fault.answer_len = strlen(truths[i].answer);
        w.fault.close = strstr(truths[i].answer, "close") != NULL;
        expect(&w, OUTCOME_DONE, truths[i].name, i);
    }
    stop(&w);
}
END_TEST

/* The second answer must not be taken as the answer to the next request. */
START_TEST(an_answer_too_many_is_not_the_next_requests_answer)
{
    static const char pair[] =
        HEAD("Content-Length: 76\r\n") TWO HEAD("Content-Length: 76\r\n") TWO;
    static const char refusal[] = "HTTP/1.1 503 Unavailable\r\nContent-Length: 0\r\n\r\n";
    struct wire w;
    ck_assert_uint_eq(strlen(TWO), 76);
    start(&w, 2, 0, PATIENT_MS);
    for (size_t i = 0; i < 20; i++) {
        w.fault.answer = pair;
        w.fault.answer_len = strlen(pair);
        expect(&w, OUTCOME_DONE, "the first of two answers", i);
        w.fault.answer = refusal;
        w.fault.answer_len = strlen(refusal);
        expect(&w, OUTCOME_RETRY, "the request after two answers", i);
    }
    stop(&w);
}
END_TEST

/* No request may reach the target of a redirect, with or without a credential. */
START_TEST(where_a_redirect_leads_nothing_is_heard)
{
    static const int statuses[] = {301, 302, 303, 307, 308};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    int second = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    ck_assert(bind(second, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(second, 8) == 0 &&
              getsockname(second, (struct sockaddr *)&at, &len) == 0);
    char redirects[sizeof(statuses) / sizeof(statuses[0])][160]; /* the sender may still read it */
    struct wire w;
    start(&w, 2, 0, PATIENT_MS);
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        char *redirect = redirects[i];
        snprintf(redirect, sizeof(redirects[i]),
                 "HTTP/1.1 %d Elsewhere\r\nLocation: http://127.0.0.1:%d/_bulk\r\n"
                 "Content-Length: 0\r\n\r\n",
                 statuses[i], ntohs(at.sin_port));
        w.fault.answer = redirect;
        w.fault.answer_len = strlen(redirect);
        expect(&w, OUTCOME_FATAL, "a redirect to a second listener", i);
    }
    ck_assert_int_eq(accept(second, NULL, NULL), -1);
    ck_assert_int_eq(errno, EAGAIN);
    close(second);
    stop(&w);
}
END_TEST

START_TEST(a_million_deep_is_no_success)
{
    struct wire w;
    start(&w, 2, 0, PATIENT_MS);
    buf_push_literal(&w.answer, CLOSED "{\"errors\":false,\"x\":");
    for (int i = 0; i < 1000000; i++) {
        buf_push_literal(&w.answer, "[");
    }
    w.fault.answer = buf_text(&w.answer);
    w.fault.answer_len = w.answer.len;
    w.fault.close = true;
    expect(&w, OUTCOME_UNKNOWN, "nested", 0);
    stop(&w);
}
END_TEST

START_TEST(a_byte_a_second_ends_at_the_request_timeout)
{
    struct wire w;
    start(&w, 2, 0, 1200);
    (void)good_answer(&w, BY_LENGTH);
    w.fault.byte_ms = 1000;
    int64_t begun_ms = deadline_now_ms();
    expect(&w, OUTCOME_UNKNOWN, "slow", 0);
    ck_assert_int_lt(deadline_now_ms() - begun_ms, PATIENT_MS);
    stop(&w);
}
END_TEST

START_TEST(nobody_there_is_no_success)
{
    struct wire w;
    start(&w, 2, 0, PATIENT_MS);
    (void)good_answer(&w, BY_LENGTH);
    expect(&w, OUTCOME_DONE, "there", 0);
    proxy_down(w.proxy);
    expect(&w, OUTCOME_UNKNOWN, "down", 0);
    proxy_up(w.proxy);
    expect(&w, OUTCOME_DONE, "up again", 0);
    stop(&w);
}
END_TEST

SUITE_MAIN("fault/wire", an_answer_with_a_length_that_is_cut_at_any_byte_is_no_success,
           an_answer_in_chunks_that_is_cut_at_any_byte_is_no_success,
           an_answer_with_trailers_that_is_cut_at_any_byte_is_no_success,
           an_answer_that_ends_with_the_connection_is_no_success_where_it_is_cut,
           a_large_answer_cut_here_and_there_is_no_success,
           a_request_that_is_cut_at_any_byte_is_no_success,
           a_refusal_in_the_middle_of_the_upload_is_seen_as_too_much, no_lie_is_taken_for_success,
           trailers_hints_and_extensions_of_chunks_do_not_make_a_whole_answer_a_lost_one,
           an_answer_too_many_is_not_the_next_requests_answer,
           where_a_redirect_leads_nothing_is_heard, a_million_deep_is_no_success,
           a_byte_a_second_ends_at_the_request_timeout, nobody_there_is_no_success)
