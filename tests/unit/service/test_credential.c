/* SPDX-License-Identifier: Apache-2.0 */
/* A refused credential is read again, once, and is only sent to the configured host. */
#include "fixture.h"
#include "rowferry/base/rotating_secret.h"
#include "rowferry/service/bulk/bulk.h"
#include "suite.h"
#include "wait.h"

#define OLD "canary-old-key-91"
#define NEW "canary-new-key-92"

static const char refusal[] = "HTTP/1.1 401 X\r\nContent-Length: 12\r\n\r\nUnauthorized";
static const char fine[] =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";

/* Reads the origin's current text. */
static char *read_text(const void *origin)
{
    return text_copy(*(const char *const *)origin);
}

static void keep(void *origin)
{
    (void)origin;
}

static int get(struct fixture *f)
{
    return http_request(f->service, "GET", "/", span_make(NULL, 0), &f->answer, &f->err);
}

static void expect_sent(const struct fixture *f, const char *line)
{
    ck_assert_msg(strstr(f->server->request, line) != NULL, "%s", f->server->request);
}

/* A service with the credential OLD, and the current text of its origin. */
struct rotated {
    const char *place;
    struct rotating_secret *renewal;
    struct fixture f;
};

static void rotated_start(struct rotated *r, const char *place, enum service_secret secret,
                          const char *const *answers)
{
    r->place = place;
    r->renewal = rotating_secret_new(OLD, read_text, &r->place, keep);
    r->f.options.credentials[secret].origin = r->renewal;
    start(&r->f, answers, SIZE_MAX);
}

static void rotated_stop(struct rotated *r)
{
    stop(&r->f);
    rotating_secret_drop(r->renewal);
}

START_TEST(a_rotated_key_is_read_again_and_the_request_sent_once_more)
{
    static const char *const answers[] = {refusal, fine, NULL};
    struct rotated r = {.f = {.options = {.credentials[SERVICE_API_KEY].value = OLD}}};
    rotated_start(&r, NEW, SERVICE_API_KEY, answers);
    ck_assert_int_eq(get(&r.f), 0);
    ck_assert_int_eq(r.f.answer.status, 200);
    ck_assert_uint_eq(r.f.server->requests, 2);
    expect_sent(&r.f, "Authorization: ApiKey " NEW "\r\n");
    rotated_stop(&r);
}
END_TEST

START_TEST(a_rotated_password_is_too)
{
    static const char *const answers[] = {refusal, fine, NULL};
    struct rotated r = {
        .f = {.options = {.user = "u", .credentials[SERVICE_PASSWORD].value = OLD}}};
    rotated_start(&r, NEW, SERVICE_PASSWORD, answers);
    ck_assert_int_eq(get(&r.f), 0);
    ck_assert_int_eq(r.f.answer.status, 200);
    expect_sent(&r.f, "Authorization: Basic dTpjYW5hcnktbmV3LWtleS05Mg==\r\n");
    rotated_stop(&r);
}
END_TEST

/* A new credential is masked too, unless its row in secret.c calls it public. */
START_TEST(every_credential_is_masked_in_an_answer)
{
    char text[512];
    const char *const answers[] = {text, NULL};
    char secrets[SERVICE_SECRETS][16];
    struct fixture f = {.options = {.user = "u"}};
    int len = snprintf(text, sizeof(text), "HTTP/1.1 400 X\r\nContent-Length: %d\r\n\r\n",
                       SERVICE_SECRETS * 9);
    for (size_t i = 0; i < SERVICE_SECRETS; i++) {
        snprintf(secrets[i], sizeof(secrets[i]), "canary-%02zu", i);
        f.options.credentials[i].value = secrets[i];
        len += snprintf(text + len, sizeof(text) - (size_t)len, "%s", secrets[i]);
    }
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(get(&f), 0);
    for (size_t i = 0; i < SERVICE_SECRETS; i++) {
        bool shown = strstr(buf_text(&f.answer.body), secrets[i]) != NULL;
        ck_assert_msg(shown == (i == SERVICE_AWS_KEY_ID), "secret %zu", i);
    }
    stop(&f);
}
END_TEST

/* Expects a final 401 after `requests` requests, with `place` as the origin's current text. */
static void expect_refused(const char *place, size_t requests)
{
    static const char *const answers[] = {refusal, NULL};
    struct rotated r = {.f = {.options = {.credentials[SERVICE_API_KEY].value = OLD}}};
    rotated_start(&r, place, SERVICE_API_KEY, answers);
    ck_assert_int_eq(get(&r.f), 0);
    ck_assert_int_eq(r.f.answer.status, 401);
    ck_assert_uint_eq(r.f.server->requests, requests);
    rotated_stop(&r);
}

START_TEST(a_key_that_is_still_the_same_is_refused_once)
{
    expect_refused(OLD, 1);
}
END_TEST

START_TEST(a_new_key_that_is_refused_too_is_the_answer)
{
    expect_refused(NEW, 2);
}
END_TEST

/* Sends one upsert and takes it back. */
static void send_one(struct fixture *f, struct batch *b)
{
    struct batch *taken = NULL;
    ck_assert_int_eq(bulk_send(f->service, "shop", NULL, b, &f->err), 0);
    struct deadline deadline = deadline_after(WAIT_MS);
    while (taken == NULL) {
        bool readable;
        ck_assert_int_eq(bulk_wait(f->service, -1, 100, &readable, &f->err), 0);
        taken = bulk_take(f->service);
        ck_assert(taken != NULL || deadline_wait(&deadline));
    }
    ck_assert_ptr_eq(taken, b);
}

static void fill(struct batch *b)
{
    batch_init(b, 1024, 1024, 10);
    batch_begin(b, OPERATION_UPSERT, span_make("a", 1), 10, 1);
    buf_push_text(&b->bytes, "{\"index\":{\"_id\":\"a\"}}\n{}\n");
    ck_assert(batch_commit(b));
}

START_TEST(a_bulk_request_refused_with_the_old_key_is_sent_again_with_the_new_one)
{
    char taken[ANSWER_BYTES];
    const char *const answers[] = {
        refusal, answer_of(taken, 200, "{\"items\":[{\"index\":{\"status\":201}}]}"), NULL};
    struct batch b;
    struct rotated r = {.f = {.options = {.credentials[SERVICE_API_KEY].value = OLD}}};
    rotated_start(&r, NEW, SERVICE_API_KEY, answers);
    fill(&b);
    send_one(&r.f, &b);
    ck_assert_int_eq(b.operations[0].outcome, OUTCOME_RETRY);
    ck_assert_ptr_null(strstr(b.failure.message, "canary"));
    send_one(&r.f, &b);
    ck_assert_int_eq(b.operations[0].outcome, OUTCOME_DONE);
    expect_sent(&r.f, "Authorization: ApiKey " NEW "\r\n");
    batch_release(&b);
    rotated_stop(&r);
}
END_TEST

START_TEST(a_bulk_request_whose_key_stays_refused_is_fatal)
{
    static const char *const answers[] = {refusal, NULL};
    struct batch b;
    struct rotated r = {.f = {.options = {.credentials[SERVICE_API_KEY].value = OLD}}};
    rotated_start(&r, OLD, SERVICE_API_KEY, answers);
    fill(&b);
    send_one(&r.f, &b);
    ck_assert_int_eq(b.operations[0].outcome, OUTCOME_FATAL);
    batch_release(&b);
    rotated_stop(&r);
}
END_TEST

START_TEST(an_expired_session_token_is_read_again_if_requests_are_signed)
{
    static const char *const answers[] = {"HTTP/1.1 403 X\r\nContent-Length: 0\r\n\r\n", fine,
                                          NULL};
    struct rotated r = {
        .f = {.options = {.aws_region = "eu-west-1",
                          .aws_service = "es",
                          .credentials[SERVICE_AWS_KEY_ID].value = "AKIDEXAMPLE",
                          .credentials[SERVICE_AWS_SECRET_KEY].value = "canary-secret-93",
                          .credentials[SERVICE_AWS_TOKEN].value = OLD}}};
    rotated_start(&r, NEW, SERVICE_AWS_TOKEN, answers);
    ck_assert_int_eq(get(&r.f), 0);
    ck_assert_int_eq(r.f.answer.status, 200);
    expect_sent(&r.f, "x-amz-security-token: " NEW "\r\n");
    expect_sent(&r.f, "Authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/");
    ck_assert_ptr_null(strstr(r.f.server->request, "canary-secret"));
    rotated_stop(&r);
}
END_TEST

static void redirect_to(struct fixture *f, int status, struct scripted *other)
{
    char answer[256];
    snprintf(answer, sizeof(answer),
             "HTTP/1.1 %d X\r\nLocation: http://127.0.0.1:%d/\r\nContent-Length: 0\r\n\r\n", status,
             other->port);
    const char *const answers[] = {answer, NULL};
    struct batch b;
    f->server = scripted_start(answers, SIZE_MAX, false);
    point(f, 0, f->server->port);
    connect_to(f, 1);
    ck_assert_int_eq(get(f), 0);
    ck_assert_int_eq(f->answer.status, status);
    fill(&b);
    send_one(f, &b);
    batch_release(&b);
    stop(f);
}

START_TEST(the_target_of_a_redirect_receives_nothing)
{
    static const char *const answers[] = {fine, NULL};
    static const int statuses[] = {301, 302, 303, 307, 308};
    struct scripted *other = scripted_start(answers, SIZE_MAX, false);
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        struct fixture basic = {
            .options = {.user = "u", .credentials[SERVICE_PASSWORD].value = OLD}};
        struct fixture key = {.options = {.credentials[SERVICE_API_KEY].value = OLD}};
        redirect_to(&basic, statuses[i], other);
        redirect_to(&key, statuses[i], other);
    }
    struct pollfd fd = {.fd = other->listener, .events = POLLIN};
    ck_assert_int_eq(poll(&fd, 1, 0), 0);
    ck_assert_uint_eq(other->requests, 0);
    scripted_stop(other);
}
END_TEST

START_TEST(only_the_proxy_that_is_configured_is_asked)
{
    static const char *const answers[] = {fine, NULL};
    char proxy[64];
    char wanted[96];
    struct fixture f = {.options = {.credentials[SERVICE_API_KEY].value = OLD, .proxy = proxy}};
    f.server = scripted_start(answers, SIZE_MAX, false);
    snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%d", f.server->port);
    ck_assert_int_eq(setenv("no_proxy", "*", 1), 0);
    ck_assert_int_eq(setenv("http_proxy", "http://127.0.0.1:1", 1), 0);
    point(&f, 0, scripted_closed_port());
    connect_to(&f, 1);
    ck_assert_int_eq(get(&f), 0);
    snprintf(wanted, sizeof(wanted), "GET %s HTTP/1.1\r\n", f.url[0]);
    ck_assert_msg(strncmp(f.server->request, wanted, strlen(wanted)) == 0, "%s", f.server->request);
    stop(&f);
}
END_TEST

/* Requests to the proxy have no credential, and its refusal is reported as such. */
START_TEST(a_tunnelling_proxy_gets_no_credential)
{
    static const char *const answers[] = {"HTTP/1.1 403 X\r\nContent-Length: 0\r\n\r\n", NULL};
    static const char *const later[] = {"HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n", NULL};
    for (int i = 0; i < 2; i++) {
        char proxy[64];
        struct fixture f = {.options = {.credentials[SERVICE_API_KEY].value = OLD, .proxy = proxy}};
        f.server = scripted_start(i == 0 ? answers : later, SIZE_MAX, false);
        snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%d", f.server->port);
        f.urls[0] = "https://search.example:9200";
        connect_to(&f, 1);
        ck_assert_int_eq(get(&f), i == 0 ? ERR_REJECTED : ERR_TRANSIENT);
        ck_assert_msg(strstr(f.err.message, "service.proxy") != NULL, "%s", f.err.message);
        ck_assert_int_eq(strncmp(f.server->request, "CONNECT search.example:9200 ", 28), 0);
        ck_assert_ptr_null(strstr(f.server->request, "canary"));
        stop(&f);
    }
}
END_TEST

SUITE_MAIN("service/credential", only_the_proxy_that_is_configured_is_asked,
           a_tunnelling_proxy_gets_no_credential, every_credential_is_masked_in_an_answer,
           a_rotated_key_is_read_again_and_the_request_sent_once_more, a_rotated_password_is_too,
           a_key_that_is_still_the_same_is_refused_once,
           a_new_key_that_is_refused_too_is_the_answer,
           a_bulk_request_refused_with_the_old_key_is_sent_again_with_the_new_one,
           a_bulk_request_whose_key_stays_refused_is_fatal,
           an_expired_session_token_is_read_again_if_requests_are_signed,
           the_target_of_a_redirect_receives_nothing)
