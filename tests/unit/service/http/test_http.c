/* SPDX-License-Identifier: Apache-2.0 */
/* Error messages if the service is unreachable, refuses, or sends invalid data. */
#include "rowferry/service/http/http.h"

#include "fixture.h"
#include "suite.h"

#define SECRET "c2VjcmV0LWtleQ"

/* A timeout that the test expects. Everything before it is faster, even if the machine is suspended
 * for a while. */
#define MET_MS 2500
#define MET "2.5s"

static int get(struct fixture *f, const char *path)
{
    return http_request(f->service, "GET", path, span_make(NULL, 0), &f->answer, &f->err);
}

START_TEST(a_refused_port_is_temporary_and_named)
{
    struct fixture f = {0};
    char wanted[96];
    int port = scripted_closed_port();
    point(&f, 0, port);
    connect_to(&f, 1);
    ck_assert_int_eq(get(&f, "/"), ERR_TRANSIENT);
    snprintf(wanted, sizeof(wanted), "GET /: could not connect to 127.0.0.1:%d: connection refused",
             port);
    ck_assert_str_eq(f.err.message, wanted);
    stop(&f);
}
END_TEST

START_TEST(the_second_address_is_tried_when_the_first_is_away)
{
    static const char *const answers[] = {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", NULL};
    struct fixture f = {0};
    f.server = scripted_start(answers, SIZE_MAX, false);
    point(&f, 0, scripted_closed_port());
    point(&f, 1, f.server->port);
    connect_to(&f, 2);
    ck_assert_int_eq(get(&f, "/"), 0);
    ck_assert_int_eq(f.answer.status, 200);
    stop(&f);
}
END_TEST

START_TEST(a_body_and_its_content_type_are_returned)
{
    static const char *const answers[] = {"HTTP/1.1 200 OK\r\nContent-Type: application/json; "
                                          "charset=UTF-8\r\nx-ELASTIC-product: Elasticsearch\r\n"
                                          "Content-Length: 7\r\n\r\n{\"a\":1}",
                                          NULL};
    struct fixture f = {0};
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(
        http_request(f.service, "PUT", "/i", span_make("{\"x\":2}", 7), &f.answer, &f.err), 0);
    ck_assert(f.answer.json);
    ck_assert_str_eq(f.answer.product_header, "Elasticsearch");
    ck_assert_str_eq(buf_text(&f.answer.body), "{\"a\":1}");
    ck_assert_int_eq(strncmp(f.server->request, "PUT /i HTTP/1.1\r\n", 17), 0);
    ck_assert_ptr_nonnull(strstr(f.server->request, "\r\n\r\n{\"x\":2}"));
    ck_assert_ptr_null(strcasestr(f.server->request, "expect:"));
    ck_assert_ptr_nonnull(strstr(f.server->request, "Content-Type: application/json\r\n"));
    stop(&f);
}
END_TEST

START_TEST(a_connection_cut_at_any_byte_is_temporary)
{
    static const char *const answers[] = {
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{\"a\":1}",
        NULL};
    for (size_t cut = 0; cut < strlen(answers[0]); cut += 5) {
        struct fixture f = {0};
        start(&f, answers, cut);
        ck_assert_msg(get(&f, "/x?y=1") == ERR_TRANSIENT, "cut at %zu", cut);
        ck_assert_msg(strncmp(f.err.message, "GET /x: ", 8) == 0, "%s", f.err.message);
        stop(&f);
    }
}
END_TEST

START_TEST(a_request_to_a_silent_service_times_out)
{
    static const char *const answers[] = {"", NULL};
    struct fixture f = {.options.request_timeout_ms = MET_MS};
    f.server = scripted_start(answers, SIZE_MAX, true);
    point(&f, 0, f.server->port);
    connect_to(&f, 1);
    ck_assert_int_eq(get(&f, "/"), ERR_TRANSIENT);
    ck_assert_ptr_nonnull(strstr(f.err.message, "no complete answer from 127.0.0.1:"));
    ck_assert_ptr_nonnull(strstr(f.err.message, MET));
    stop(&f);
}
END_TEST

START_TEST(a_reused_connection_that_falls_silent_is_a_missing_answer)
{
    static const char *const answers[] = {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", NULL};
    struct fixture f = {.options.request_timeout_ms = MET_MS};
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(get(&f, "/"), 0);
    http_answer_release(&f.answer);
    f.server->silent = true;
    ck_assert_int_eq(get(&f, "/"), ERR_TRANSIENT);
    ck_assert_msg(strstr(f.err.message, "no complete answer") != NULL, "%s", f.err.message);
    stop(&f);
}
END_TEST

/* A listener with a full queue drops connections silently, like an unreachable host. */
START_TEST(an_address_that_accepts_and_never_answers_is_skipped)
{
    static const char *const answers[] = {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", NULL};
    struct fixture f = {.options.connect_timeout_ms = MET_MS};
    int port;
    int full = scripted_bind(&port);
    int fillers[4];
    ck_assert_int_eq(listen(full, 0), 0);
    for (size_t i = 0; i < 4; i++) {
        fillers[i] = scripted_dial(port);
    }
    f.server = scripted_start(answers, SIZE_MAX, false);
    point(&f, 0, port);
    point(&f, 1, f.server->port);
    connect_to(&f, 2);
    ck_assert_int_eq(get(&f, "/"), 0);
    ck_assert_int_eq(f.answer.status, 200);
    stop(&f);
    for (size_t i = 0; i < 4; i++) {
        close(fillers[i]);
    }
    close(full);
}
END_TEST

START_TEST(a_redirect_is_not_followed)
{
    static const char *const answers[] = {
        "HTTP/1.1 301 Moved\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n", NULL};
    struct fixture f = {.options.credentials[SERVICE_API_KEY].value = SECRET};
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(get(&f, "/"), 0);
    ck_assert_int_eq(f.answer.status, 301);
    ck_assert_uint_eq(f.server->requests, 1);
    ck_assert_int_eq(http_refuse(&f.answer, "GET", "/", &f.err), ERR_REJECTED);
    ck_assert_ptr_nonnull(strstr(f.err.hint, "redirects are not followed"));
    stop(&f);
}
END_TEST

START_TEST(an_answer_over_the_maximum_is_refused)
{
    size_t len = (size_t)9 << 20;
    char *text = malloc(len + 128);
    ck_assert_ptr_nonnull(text);
    int head = snprintf(text, 128, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", len);
    memset(text + head, 'x', len);
    text[(size_t)head + len] = '\0';
    const char *const answers[] = {text, NULL};
    struct fixture f = {0};
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(get(&f, "/"), ERR_REJECTED);
    ck_assert_ptr_nonnull(strstr(f.err.message, "of over 8388608 bytes"));
    stop(&f);
    free(text);
}
END_TEST

struct refusal_line {
    int status;
    const char *type;
    const char *body;
    enum err_class class;
    const char *message;
};

#define JSON "application/json"

/* A page as proxies send it. */
#define PAGE(head)                                                                                 \
    "\r\n<!DOCTYPE html>\n<html><head>" head                                                       \
    "<style>b { x: y }</style></head>\n<body class=\"x\">"                                         \
    "<h1>Sorry,  the\nproxy</h1><p>answers with a text that is much longer than a message ought "  \
    "to be, of which only the beginning is shown.</p></body></html>"
#define PAGE_WORDS                                                                                 \
    "Sorry, the proxy answers with a text that is much longer than a message ought t..."

static const struct refusal_line refusals[] = {
    {400, JSON "; charset=UTF-8",
     "{\"error\":{\"root_cause\":[{\"type\":\"x\",\"reason\":\"y\"}],\"type\":"
     "\"mapper_parsing_exception\",\"reason\":\"No handler for type [bogus] declared on field "
     "[a]\"},\"status\":400}",
     ERR_REJECTED,
     "400 mapper_parsing_exception: No handler for type [bogus] declared on field [a]"},
    {406, JSON, "{\"error\":\"not\\nsupported\",\"status\":406}", ERR_REJECTED,
     "406 not\\nsupported"},
    {401, "text/plain", "Unauthorized", ERR_REJECTED, "401 Unauthorized"},
    {403, JSON, "{\"error\":{\"root_cause\":[{\"type\":\"security_exception\"}]}}", ERR_REJECTED,
     "403 security_exception"},
    {401, "text/plain", "key expired\n", ERR_REJECTED, "401 Unauthorized: key expired"},
    {404, "text/plain", "", ERR_REJECTED, "404 Not Found"},
    {502, "text/html", "<h1>\x1b[m\nx</h1>", ERR_TRANSIENT, "502 Bad Gateway: [m x"},
    {502, "text/html", PAGE("<title>502 Bad Gateway</title>"), ERR_TRANSIENT, "502 Bad Gateway"},
    {503, "text/html", PAGE("<title>\n Down for\n  repair</title>"), ERR_TRANSIENT,
     "503 Service Unavailable: Down for repair"},
    {403, "text/html", PAGE(""), ERR_REJECTED, "403 Forbidden: " PAGE_WORDS},
    {599, "text/html", PAGE(""), ERR_REJECTED, "599 " PAGE_WORDS},
    {503, JSON, "{\"error\":{\"type\":\"master_not_discovered_exception\",\"reason\":null}}",
     ERR_TRANSIENT, "503 master_not_discovered_exception"},
    {500, JSON, "{\"er", ERR_REJECTED, "500 Internal Server Error: {\"er"},
    {408, JSON, "{\"timed_out\":true}", ERR_TRANSIENT, "408 Request Timeout: {\"timed_out\":true}"},
    {429, JSON, "[]", ERR_TRANSIENT, "429 Too Many Requests: []"},
};

START_TEST(a_refusal_becomes_one_line)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        const struct refusal_line *line = &refusals[i];
        char text[1024];
        char wanted[256];
        snprintf(text, sizeof(text),
                 "HTTP/1.1 %d No\r\nContent-Type: %s\r\n"
                 "Content-Length: %zu\r\n\r\n%s",
                 line->status, line->type, strlen(line->body), line->body);
        const char *const answers[] = {text, NULL};
        struct fixture f = {0};
        start(&f, answers, SIZE_MAX);
        ck_assert_int_eq(
            http_request(f.service, "PUT", "/i?x=1", span_make("{}", 2), &f.answer, &f.err), 0);
        ck_assert_int_eq(http_refuse(&f.answer, "PUT", "/i?x=1", &f.err), line->class);
        snprintf(wanted, sizeof(wanted), "PUT /i of 127.0.0.1:%d: %s", f.server->port,
                 line->message);
        ck_assert_str_eq(f.err.message, wanted);
        ck_assert_int_eq(f.err.http_status, line->status);
        ck_assert(strchr(line->body, '<') == NULL || f.err.detail[0] == '\0');
        stop(&f);
    }
}
END_TEST

static const struct {
    const char *error; /* value of "error" in the body */
    const char *service_type;
    enum service_reason service_reason;
} meanings[] = {
    {"{\"type\":\"resource_already_exists_exception\",\"reason\":\"knn\"}",
     "resource_already_exists_exception", SERVICE_REASON_VECTOR},
    {"{\"root_cause\":[{\"type\":\"security_exception\"}]}", "security_exception",
     SERVICE_REASON_OTHER},
    {"\"no handler found for uri [/_x] and method [GET]\"", "", SERVICE_REASON_NO_SECURITY},
    {"{\"type\":\"invalid_index_name_exception\",\"reason\":\"Invalid index name [knn], already "
     "exists as alias\"}",
     "invalid_index_name_exception", SERVICE_REASON_NAME_TAKEN},
    {"{\"type\":\"illegal_argument_exception\",\"reason\":\"no matching index template found for "
     "data stream [s]\"}",
     "illegal_argument_exception", SERVICE_REASON_NO_TEMPLATE},
    {"{\"type\":\"mapper_parsing_exception\",\"reason\":\"The number of dimensions is 9999\"}",
     "mapper_parsing_exception", SERVICE_REASON_VECTOR},
    /* foreign bytes: only a plain and short type is kept */
    {"{\"type\":\"x\\u001b[31m\",\"reason\":\"y\"}", "", SERVICE_REASON_OTHER},
    {"{\"type\":\"x y\"}", "", SERVICE_REASON_OTHER},
    {"{\"type\":\"a23456789012345678901234567890123456789012345678901234567890123\"}",
     "a23456789012345678901234567890123456789012345678901234567890123", SERVICE_REASON_OTHER},
    {"{\"type\":\"a234567890123456789012345678901234567890123456789012345678901234\"}", "",
     SERVICE_REASON_OTHER},
    {"{\"type\":{\"x\":1}}", "", SERVICE_REASON_OTHER},
};

START_TEST(a_refusal_keeps_the_error_type_and_the_meaning_of_its_reason)
{
    for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
        char text[512];
        struct err err;
        struct http_answer answer = {.status = 400, .json = true};
        buf_init(&answer.body, sizeof(text));
        buf_printf(&answer.body, "{\"error\":%s,\"status\":400}", meanings[i].error);
        ck_assert_int_eq(http_refuse(&answer, "PUT", "/knn", &err), ERR_REJECTED);
        ck_assert_str_eq(err.service_type, meanings[i].service_type);
        ck_assert_int_eq(err.service_reason, meanings[i].service_reason);
        ck_assert_ptr_null(strchr(err.message, '\x1b'));
        http_answer_release(&answer);
    }
}
END_TEST

static const struct {
    int status;
    const char *body;
    const char *hint; /* part of the hint; "" none */
} hints[] = {
    {403,
     "{\"error\":{\"type\":\"cluster_block_exception\",\"reason\":\"index [i] blocked by: "
     "[FORBIDDEN/8/index write (api)];\"},\"status\":403}",
     "index.blocks.write"},
    {403,
     "{\"error\":{\"type\":\"cluster_block_exception\",\"reason\":\"index [i] blocked by: "
     "[FORBIDDEN/5/index read-only (api)];\"},\"status\":403}",
     "PUT /INDEX/_settings"},
    {403,
     "{\"error\":{\"type\":\"cluster_block_exception\",\"reason\":\"blocked by: "
     "[FORBIDDEN/6/cluster read-only (api)];\"},\"status\":403}",
     "PUT /_cluster/settings"},
    {429,
     "{\"error\":{\"type\":\"cluster_block_exception\",\"reason\":\"index [i] blocked by: "
     "[TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has "
     "read-only-allow-delete block];\"},\"status\":429}",
     "index.blocks.read_only_allow_delete"},
    {403,
     "{\"error\":{\"type\":\"security_exception\",\"reason\":\"no permissions for "
     "[indices:data/write/index]\"},\"status\":403}",
     "service.auth lacks this privilege"},
    {403, "Forbidden", "service.auth lacks this privilege"},
};

START_TEST(an_index_block_is_not_reported_as_a_missing_privilege)
{
    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
        char text[1024];
        snprintf(text, sizeof(text),
                 "HTTP/1.1 %d No\r\nContent-Type: application/json\r\n"
                 "Content-Length: %zu\r\n\r\n%s",
                 hints[i].status, strlen(hints[i].body), hints[i].body);
        const char *const answers[] = {text, NULL};
        struct fixture f = {0};
        start(&f, answers, SIZE_MAX);
        ck_assert_int_eq(
            http_request(f.service, "PUT", "/i", span_make("{}", 2), &f.answer, &f.err), 0);
        ck_assert_int_lt(http_refuse(&f.answer, "PUT", "/i", &f.err), 0);
        ck_assert_msg(strstr(f.err.hint, hints[i].hint) != NULL, "%zu: %s", i, f.err.hint);
        ck_assert_int_eq(strstr(f.err.hint, "privilege") != NULL,
                         strstr(hints[i].hint, "privilege") != NULL);
        stop(&f);
    }
}
END_TEST

START_TEST(a_secret_that_the_service_echoes_is_masked)
{
    static const char *const answers[] = {"HTTP/1.1 401 No\r\nContent-Length: 24\r\n\r\n"
                                          "bad key: " SECRET "!",
                                          NULL};
    struct fixture f = {.options.credentials[SERVICE_API_KEY].value = SECRET};
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(get(&f, "/"), 0);
    ck_assert_int_eq(http_refuse(&f.answer, "GET", "/", &f.err), ERR_REJECTED);
    ck_assert_str_eq(strstr(f.err.message, "401 "), "401 Unauthorized: bad key: **************!");
    ck_assert_ptr_null(strstr(f.err.detail, SECRET));
    ck_assert_ptr_nonnull(strstr(f.err.hint, "service.auth"));
    stop(&f);
}
END_TEST

START_TEST(a_password_that_the_service_echoes_is_masked)
{
    static const char *const answers[] = {"HTTP/1.1 401 No\r\nContent-Length: 29\r\n\r\n"
                                          "bad login: Basic dXM6ZXI6cCJ3",
                                          NULL};
    struct fixture f = {
        .options = {.user = "us:er", .credentials[SERVICE_PASSWORD].value = "p\"w"}};
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(get(&f, "/"), 0);
    ck_assert_int_eq(http_refuse(&f.answer, "GET", "/", &f.err), ERR_REJECTED);
    ck_assert_str_eq(strstr(f.err.message, "401 "),
                     "401 Unauthorized: bad login: Basic ************");
    stop(&f);
}
END_TEST

static void check_header(struct service_options options, const char *wanted)
{
    static const char *const answers[] = {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", NULL};
    struct fixture f = {.options = options};
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(get(&f, "/"), 0);
    if (wanted == NULL) {
        ck_assert_ptr_null(strcasestr(f.server->request, "authorization"));
    } else {
        ck_assert_msg(strstr(f.server->request, wanted) != NULL, "%s", f.server->request);
    }
    stop(&f);
}

START_TEST(the_credential_travels_in_its_header)
{
    check_header((struct service_options){0}, NULL);
    check_header((struct service_options){.credentials[SERVICE_API_KEY].value = SECRET},
                 "\r\nAuthorization: ApiKey " SECRET "\r\n");
    check_header((struct service_options){.credentials[SERVICE_BEARER].value = "abc.def"},
                 "\r\nAuthorization: Bearer abc.def\r\n");
    check_header(
        (struct service_options){.user = "us:er", .credentials[SERVICE_PASSWORD].value = "p\"w"},
        "\r\nAuthorization: Basic dXM6ZXI6cCJ3\r\n");
}
END_TEST

START_TEST(a_proxy_of_the_environment_is_not_used)
{
    static const char *const answers[] = {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", NULL};
    char proxy[64];
    snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%d", scripted_closed_port());
    setenv("http_proxy", proxy, 1);
    setenv("ALL_PROXY", proxy, 1);
    struct fixture f = {.options.credentials[SERVICE_API_KEY].value = SECRET};
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(get(&f, "/"), 0);
    stop(&f);
}
END_TEST

START_TEST(an_address_with_a_password_is_refused_without_showing_it)
{
    static const char *const wrong[] = {"http://user:hunter22@localhost:9200", "ftp://localhost",
                                        "not an address", ""};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct service *s = NULL;
        struct err err;
        struct service_options options = {.urls = &wrong[i], .url_count = 1, .in_flight = 1};
        ck_assert_int_eq(http_service_open(&s, &options, &err), ERR_CONFIG);
        ck_assert_ptr_null(s);
        ck_assert_ptr_null(strstr(err.message, "hunter22"));
    }
}
END_TEST

START_TEST(a_path_prefix_is_kept)
{
    static const char *const answers[] = {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", NULL};
    struct fixture f = {0};
    f.server = scripted_start(answers, SIZE_MAX, false);
    snprintf(f.url[0], sizeof(f.url[0]), "http://127.0.0.1:%d/search/v1/", f.server->port);
    f.urls[0] = f.url[0];
    connect_to(&f, 1);
    ck_assert_int_eq(get(&f, "/_count"), 0);
    ck_assert_int_eq(strncmp(f.server->request, "GET /search/v1/_count HTTP", 26), 0);
    stop(&f);
}
END_TEST

START_TEST(a_segment_is_encoded)
{
    struct buf out;
    buf_init(&out, 256);
    text_percent(&out, "a/b?c%d \xc3\xa9-_.~", 14);
    ck_assert_str_eq(buf_text(&out), "a%2Fb%3Fc%25d%20%C3%A9-_.~");
    buf_release(&out);
}
END_TEST

START_TEST(an_address_in_brackets_is_reached_and_named)
{
    static const char *const answers[] = {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", NULL};
    struct fixture f = {0};
    char host[64];
    int port;
    int listener = scripted_bind_six(&port);
    if (listener < 0) {
        return; /* a machine without IPv6 */
    }
    f.server = scripted_start_on(listener, port, answers, SIZE_MAX, false);
    snprintf(f.url[0], sizeof(f.url[0]), "http://[::1]:%d/a/b/", port);
    f.urls[0] = f.url[0];
    connect_to(&f, 1);
    ck_assert_int_eq(get(&f, "/x"), 0);
    snprintf(host, sizeof(host), "\r\nHost: [::1]:%d\r\n", port);
    ck_assert_ptr_nonnull(strstr(f.server->request, host));
    ck_assert_int_eq(strncmp(f.server->request, "GET /a/b/x HTTP/1.1\r\n", 21), 0);
    stop(&f);
}
END_TEST

SUITE_MAIN("service/http", an_address_in_brackets_is_reached_and_named,
           a_refused_port_is_temporary_and_named,
           the_second_address_is_tried_when_the_first_is_away,
           a_body_and_its_content_type_are_returned, a_connection_cut_at_any_byte_is_temporary,
           a_request_to_a_silent_service_times_out,
           a_reused_connection_that_falls_silent_is_a_missing_answer,
           an_address_that_accepts_and_never_answers_is_skipped, a_redirect_is_not_followed,
           an_answer_over_the_maximum_is_refused, a_refusal_becomes_one_line,
           an_index_block_is_not_reported_as_a_missing_privilege,
           a_refusal_keeps_the_error_type_and_the_meaning_of_its_reason,
           a_secret_that_the_service_echoes_is_masked, a_password_that_the_service_echoes_is_masked,
           the_credential_travels_in_its_header, a_proxy_of_the_environment_is_not_used,
           an_address_with_a_password_is_refused_without_showing_it, a_path_prefix_is_kept,
           a_segment_is_encoded)
