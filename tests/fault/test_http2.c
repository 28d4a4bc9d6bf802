/* SPDX-License-Identifier: Apache-2.0 */
/* Bulk requests over HTTP/2: a server that uses all freedom of the protocol, and a real proxy. */
#include <signal.h>
#include <unistd.h>

#include "http.h"
#include "server.h"
#include "sql.h"
#include "wire.h"
#include "world.h"

#define PYTHON "/usr/bin/python3"
#define OPENSSL "/usr/bin/openssl"
#define NGHTTPX "/usr/sbin/nghttpx"
#define ROWS 20000

struct certificate {
    char *dir;
    char *cert;
    char *key;
};

static void certificate_new(struct certificate *c)
{
    struct program program;
    struct program_result result;
    c->dir = scratch_new();
    c->cert = scratch_path(c->dir, "cert.pem");
    c->key = scratch_path(c->dir, "key.pem");
    const char *const argv[] = {OPENSSL,
                                "req",
                                "-x509",
                                "-newkey",
                                "ec",
                                "-pkeyopt",
                                "ec_paramgen_curve:P-256",
                                "-nodes",
                                "-days",
                                "2",
                                "-subj",
                                "/CN=http2",
                                "-addext",
                                "subjectAltName=IP:127.0.0.1",
                                "-keyout",
                                c->key,
                                "-out",
                                c->cert,
                                NULL};
    program_start(&program, argv, NULL);
    program_finish(&program, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    program_result_release(&result);
}

static void certificate_release(struct certificate *c)
{
    free(c->cert);
    free(c->key);
    scratch_remove(c->dir);
}

/* --- forms of answers ------------------------------------------------------------------------ */

struct scripted {
    struct certificate certificate;
    struct program server;
    struct wire w;
};

static void start_scripted(struct scripted *s, size_t operations, size_t pad)
{
    char port[16];
    certificate_new(&s->certificate);
    char *port_file = scratch_path(s->certificate.dir, "port");
    s->w = (struct wire){.port = free_port(), .ca_file = s->certificate.cert};
    snprintf(port, sizeof(port), "%d", s->w.port);
    program_start(&s->server,
                  (const char *const[]){PYTHON, TEST_TOP "/tests/support/http2.py", port,
                                        s->certificate.cert, s->certificate.key, port_file, NULL},
                  NULL);
    struct deadline deadline = deadline_after(WAIT_MS);
    while (access(port_file, R_OK) != 0) {
        ck_assert_msg(program_running(&s->server) && deadline_wait(&deadline), "%s",
                      program_said(&s->server));
    }
    free(port_file);
    pthread_mutex_init(&s->w.lock, NULL);
    open_service(&s->w, PATIENT_MS);
    fill(&s->w, operations, pad);
}

static void stop_scripted(struct scripted *s)
{
    struct program_result result;
    http_service_close(s->w.service);
    batch_release(&s->w.batch);
    pthread_mutex_destroy(&s->w.lock);
    ck_assert_msg(program_running(&s->server), "%s", program_said(&s->server));
    program_signal(&s->server, SIGKILL);
    program_finish(&s->server, WAIT_MS, &result);
    ck_assert_msg(result.err[0] == '\0', "%s", result.err);
    program_result_release(&result);
    certificate_release(&s->certificate);
}

/* Gets each kind of answer twice. After each, the connection or a new one must work. */
static void expect_way(struct wire *w, const char *way, enum outcome wanted)
{
    for (size_t i = 0; i < 2; i++) {
        w->index = way;
        expect(w, wanted, way, i);
        w->index = "whole";
        expect(w, OUTCOME_DONE, way, i);
    }
}

START_TEST(an_answer_over_http2_that_is_whole_is_a_success_whatever_its_frames)
{
    static const char *const ways[] = {
        "whole",        "length",      "trailers",     "trailers-like-a-head",
        "empty-end",    "early-hints", "continue",     "continued-head",
        "small-frames", "reset-after", "goaway-after",
    };
    struct scripted s;
    start_scripted(&s, OPERATIONS, 0);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        expect_way(&s.w, ways[i], OUTCOME_DONE);
    }
    stop_scripted(&s);
}
END_TEST

START_TEST(an_answer_over_http2_that_is_not_whole_is_no_success)
{
    static const char *const ways[] = {
        "reset-in-the-middle",
        "reset-before-the-end",
        "reset-without-error-in-the-middle",
        "reset-at-once",
        "reset-in-the-head",
        "end-in-the-middle",
        "end-without-end-stream",
        "goaway-in-the-middle",
        "goaway-without-answer",
        "too-long-a-length",
        "too-short-a-length",
        "hints-alone",
        "head-alone",
        "trailers-without-an-end",
        "data-without-a-head",
        "cut-in-a-frame",
    };
    struct scripted s;
    start_scripted(&s, OPERATIONS, 0);
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        expect_way(&s.w, ways[i], OUTCOME_UNKNOWN);
    }
    stop_scripted(&s);
}
END_TEST

/* The first attempt may fail, the second must succeed. */
static void expect_soon(struct wire *w, const char *way)
{
    w->index = way;
    enum outcome first = send_batch(w);
    ck_assert_msg(first == OUTCOME_DONE || first == OUTCOME_UNKNOWN, "%s: %s (%s)", way,
                  outcome_name(first), w->batch.failure.message);
    expect(w, OUTCOME_DONE, way, 1);
}

START_TEST(a_request_that_http2_refuses_is_worth_another_try)
{
    struct scripted s;
    start_scripted(&s, OPERATIONS, 0);
    expect_soon(&s.w, "refused-once");
    expect_soon(&s.w, "goaway-once");
    s.w.index = "goaway-and-end"; /* libcurl may notice both only at the next request */
    expect(&s.w, OUTCOME_DONE, "goaway-and-end", 0);
    expect_soon(&s.w, "whole");
    stop_scripted(&s);
}
END_TEST

START_TEST(a_refusal_over_http2_in_the_middle_of_the_upload_is_seen_as_too_much)
{
    struct scripted s;
    start_scripted(&s, OPERATIONS, 100000);
    s.w.index = "early-refusal";
    for (size_t i = 0; i < 5; i++) {
        enum outcome outcome = send_batch(&s.w);
        ck_assert_msg(outcome == OUTCOME_RETRY && s.w.batch.http_status == 413, "%s, %u, %s",
                      outcome_name(outcome), s.w.batch.http_status, s.w.batch.failure.message);
    }
    stop_scripted(&s);
}
END_TEST

START_TEST(a_large_batch_over_http2_arrives_whole)
{
    struct scripted s;
    start_scripted(&s, OPERATIONS, 100000);
    for (size_t i = 0; i < 3; i++) {
        expect_way(&s.w, "trailers", OUTCOME_DONE);
    }
    stop_scripted(&s);
}
END_TEST

/* --- a table through nghttpx ----------------------------------------------------------------- */

static void with_trailers(void *context, const struct proxy_request *request,
                          struct proxy_fault *fault)
{
    (void)context;
    (void)request;
    fault->trailers = true;
}

static void configure(struct world *w, const struct certificate *c, int port)
{
    struct buf text;
    buf_init(&text, 65536);
    buf_printf(&text,
               "{\"accept_admin\": true, \"source\": {\"uri\": \"%s\"}, \"service\": {\"url\": "
               "\"https://127.0.0.1:%d\", "
               "\"tls\": {\"ca_file\": \"%s\"}, \"auth\": {\"api_key\": {\"file\": \"key\"}}}, "
               "\"state\": {\"path\": \"state.db\"}, \"limits\": {\"retry_budget\": \"20s\"}, "
               "\"pipelines\": [{\"name\": \"articles\", \"from\": {\"table\": "
               "\"public.articles\"}, \"to\": {\"index\": \"shop-articles\", \"mappings\": "
               "{\"properties\": {" WORLD_PROPERTIES "}}}}]}",
               w->uri, port, c->cert);
    free(w->config);
    w->config = scratch_write(w->dir, "rowferry.json", buf_text(&text));
    buf_release(&text);
}

/* Starts nghttpx with only HTTP/2 and TLS at the front, before a service on loopback. */
static int start_nghttpx(struct program *program, const struct certificate *c, int service_port,
                         const char *option)
{
    char front[64];
    char back[64];
    int port = free_port();
    snprintf(front, sizeof(front), "--frontend=127.0.0.1,%d", port);
    snprintf(back, sizeof(back), "--backend=127.0.0.1,%d", service_port);
    const char *const argv[] = {NGHTTPX,
                                "--conf=/dev/null",
                                "--single-process",
                                "--npn-list=h2",
                                front,
                                back,
                                "--no-ocsp",
                                c->key,
                                c->cert,
                                option,
                                NULL};
    program_start(program, argv, NULL);
    return port;
}

/* A world whose service is reached through nghttpx and answers with trailers. */
struct behind {
    struct world w;
    struct certificate certificate;
    struct program nghttpx;
    struct proxy *proxy;
};

static void start_behind(struct behind *b, const char *option)
{
    world_start(&b->w, ROWS, NULL);
    certificate_new(&b->certificate);
    b->proxy = proxy_start(b->w.service.port, with_trailers, NULL);
    configure(&b->w, &b->certificate,
              start_nghttpx(&b->nghttpx, &b->certificate, proxy_port(b->proxy), option));
    world_install(&b->w);
}

static void stop_behind(struct behind *b)
{
    struct program_result result;
    ck_assert(program_running(&b->nghttpx));
    program_signal(&b->nghttpx, SIGKILL);
    program_finish(&b->nghttpx, WAIT_MS, &result);
    program_result_release(&result);
    proxy_stop(b->proxy);
    certificate_release(&b->certificate);
    world_stop(&b->w);
}

static int64_t stat_of(const struct world *w, const char *name)
{
    struct json_object *value = NULL;
    struct json_object *stats =
        reply_json(200, "GET", w->service.url, "/_devsearch/stats", NULL, "ApiKey " WORLD_API_KEY);
    ck_assert(json_object_object_get_ex(stats, name, &value));
    int64_t number = json_object_get_int64(value);
    json_object_put(stats);
    return number;
}

static void sync_operations(struct world *w, int64_t wanted)
{
    struct program_result result;
    world_sync(w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "operations"), wanted);
    program_result_release(&result);
}

/* Syncs an initial load, no change, and an update, each with its checkpoint. */
static void load_and_change(struct world *w)
{
    sync_operations(w, ROWS);
    world_expect_equal(w);
    sync_operations(w, 0);
    sql_exec(w->conn, "update articles set title = 'changed' where source_id <= 10");
    sync_operations(w, 10);
    world_expect_equal(w);
    ck_assert_int_gt(stat_of(w, "bulk_bytes"), 2 << 20);
}

START_TEST(a_table_behind_an_http2_proxy_with_trailers_is_loaded_once_and_remembered)
{
    struct behind b;
    start_behind(&b, NULL);
    load_and_change(&b.w);
    ck_assert_int_eq(stat_of(&b.w, "bulk_operations"), ROWS + 10);
    stop_behind(&b);
}
END_TEST

START_TEST(an_http2_proxy_that_says_goaway_every_few_requests_holds_nothing_up)
{
    struct behind b;
    start_behind(&b, "--frontend-max-requests=3");
    load_and_change(&b.w);
    ck_assert_int_lt(stat_of(&b.w, "bulk_operations"), 2 * ROWS);
    stop_behind(&b);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        an_answer_over_http2_that_is_whole_is_a_success_whatever_its_frames,
        an_answer_over_http2_that_is_not_whole_is_no_success,
        a_request_that_http2_refuses_is_worth_another_try,
        a_refusal_over_http2_in_the_middle_of_the_upload_is_seen_as_too_much,
        a_large_batch_over_http2_arrives_whole,
        a_table_behind_an_http2_proxy_with_trailers_is_loaded_once_and_remembered,
        an_http2_proxy_that_says_goaway_every_few_requests_holds_nothing_up,
    };
    static const char *const programs[] = {PYTHON, OPENSSL, NGHTTPX,
                                           "/usr/lib/python3/dist-packages/h2/connection.py"};
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        if (access(programs[i], R_OK) != 0) {
            printf("skip: there is no %s\n", programs[i]);
            return 77;
        }
    }
    return suite_run("fault/http2", tests, sizeof(tests) / sizeof(tests[0]));
}
