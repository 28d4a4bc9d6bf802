/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS is always verified: tests against devsearch with certificates made by openssl.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rowferry/service/bulk/bulk.h"
#include "rowferry/service/http/product.h"
#include "server.h"
#include "suite.h"
#include "wait.h"

#define OPENSSL "/usr/bin/openssl"
#define SETUP_MS WAIT_MS

struct place {
    struct devsearch stand_in;
    char *dir;
    char *cert;
    char *key;
    char *secret_file;
    char url[64];
};

static void run(const char *const *argv)
{
    struct program program;
    struct program_result result;
    program_start(&program, argv, NULL);
    program_finish(&program, SETUP_MS, &result);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    program_result_release(&result);
}

/* Makes a certificate with its own authority for this name ("IP:127.0.0.1",
 * "DNS:elsewhere.example"). */
static void enter(struct place *p, const char *name)
{
    char names[96];
    p->dir = scratch_new();
    p->cert = scratch_path(p->dir, "cert.pem");
    p->key = scratch_path(p->dir, "key.pem");
    p->secret_file = scratch_write(p->dir, "api-key", "canary-key-77aa\n");
    snprintf(names, sizeof(names), "subjectAltName=%s", name);
    run((const char *const[]){OPENSSL, "req", "-x509", "-newkey", "ec", "-pkeyopt",
                              "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                              "/CN=devsearch", "-addext", names, "-keyout", p->key, "-out", p->cert,
                              NULL});
    devsearch_start(&p->stand_in, (const char *const[]){"--tls-cert", p->cert, "--tls-key", p->key,
                                                        "--api-key-file", p->secret_file, NULL});
    snprintf(p->url, sizeof(p->url), "https://127.0.0.1:%d", p->stand_in.port);
}

static void leave(struct place *p)
{
    devsearch_stop(&p->stand_in);
    free(p->cert);
    free(p->key);
    free(p->secret_file);
    scratch_remove(p->dir);
}

/* Sends GET / with this authority (null: the system's store) and API key. */
static int ask(const char *url, const char *ca_file, const char *api_key, struct err *err)
{
    struct service *s = NULL;
    struct product_info info;
    struct service_options options = {
        .urls = &url,
        .url_count = 1,
        .ca_file = ca_file,
        .credentials[SERVICE_API_KEY].value = api_key,
        .request_timeout_ms = WAIT_MS,
        .connect_timeout_ms = WAIT_MS,
        .in_flight = 1,
    };
    ck_assert_int_eq(http_service_open(&s, &options, err), 0);
    int rc = product_detect(s, &info, err);
    http_service_close(s);
    return rc;
}

START_TEST(a_certificate_of_the_configured_authority_is_accepted)
{
    struct place p;
    struct err err;
    enter(&p, "IP:127.0.0.1");
    ck_assert_msg(ask(p.url, p.cert, "canary-key-77aa", &err) == 0, "%s", err.message);
    leave(&p);
}
END_TEST

START_TEST(an_unknown_authority_is_refused_with_a_hint)
{
    struct place p;
    struct err err;
    enter(&p, "IP:127.0.0.1");
    ck_assert_int_eq(ask(p.url, NULL, NULL, &err), ERR_REJECTED);
    ck_assert_msg(strstr(err.message, "cannot verify the certificate of 127.0.0.1:") != NULL, "%s",
                  err.message);
    ck_assert_ptr_nonnull(strstr(err.hint, "service.tls.ca_file"));
    leave(&p);
}
END_TEST

START_TEST(a_certificate_of_another_host_is_refused)
{
    struct place p;
    struct err err;
    enter(&p, "DNS:elsewhere.example");
    ck_assert_int_eq(ask(p.url, p.cert, NULL, &err), ERR_REJECTED);
    ck_assert_msg(strstr(err.message, "cannot verify the certificate") != NULL, "%s", err.message);
    leave(&p);
}
END_TEST

START_TEST(a_wrong_key_is_refused_without_being_shown)
{
    struct place p;
    struct err err;
    enter(&p, "IP:127.0.0.1");
    ck_assert_int_eq(ask(p.url, p.cert, "canary-key-wrong", &err), ERR_REJECTED);
    ck_assert_int_eq(err.http_status, 401);
    ck_assert_ptr_null(strstr(err.message, "canary"));
    ck_assert_ptr_null(strstr(err.detail, "canary"));
    ck_assert_ptr_nonnull(strstr(err.hint, "service.auth"));
    leave(&p);
}
END_TEST

START_TEST(an_authority_file_that_is_missing_is_named)
{
    struct place p;
    struct err err;
    enter(&p, "IP:127.0.0.1");
    ck_assert_int_eq(ask(p.url, "/nonexistent/ca.pem", NULL, &err), ERR_REJECTED);
    ck_assert_msg(strstr(err.message, "/nonexistent/ca.pem") != NULL, "%s", err.message);
    leave(&p);
}
END_TEST

START_TEST(a_bulk_request_to_an_unverified_host_sends_no_byte)
{
    struct place p;
    struct err err;
    struct batch b;
    struct service *s = NULL;
    enter(&p, "IP:127.0.0.1");
    const char *url = p.url;
    struct service_options options = {.urls = &url,
                                      .url_count = 1,
                                      .request_timeout_ms = WAIT_MS,
                                      .connect_timeout_ms = WAIT_MS,
                                      .in_flight = 1};
    ck_assert_int_eq(http_service_open(&s, &options, &err), 0);
    batch_init(&b, 1024, 1024, 10);
    batch_begin(&b, OPERATION_UPSERT, span_make("a", 1), 10, 1);
    buf_push_text(&b.bytes, "{\"index\":{\"_id\":\"a\"}}\n{}\n");
    ck_assert(batch_commit(&b));
    ck_assert_int_eq(bulk_send(s, "shop", NULL, &b, &err), 0);
    struct batch *taken = NULL;
    struct deadline deadline = deadline_after(WAIT_MS);
    while (taken == NULL) {
        bool readable;
        ck_assert_int_eq(bulk_wait(s, -1, 100, &readable, &err), 0);
        taken = bulk_take(s);
        ck_assert(taken != NULL || deadline_wait(&deadline));
    }
    ck_assert_ptr_eq(taken, &b);
    ck_assert_int_eq(b.operations[0].outcome, OUTCOME_FATAL);
    ck_assert_int_eq(b.failure.class, ERR_REJECTED);
    batch_release(&b);
    http_service_close(s);
    leave(&p);
}
END_TEST

START_TEST(https_to_a_port_without_tls_is_reported)
{
    struct place p;
    struct err err;
    enter(&p, "IP:127.0.0.1");
    struct devsearch plain;
    char url[64];
    devsearch_start(&plain, NULL);
    snprintf(url, sizeof(url), "https://127.0.0.1:%d", plain.port);
    ck_assert_int_eq(ask(url, p.cert, NULL, &err), ERR_REJECTED);
    ck_assert_msg(strstr(err.message, "does not speak TLS") != NULL, "%s", err.message);
    devsearch_stop(&plain);
    leave(&p);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_certificate_of_the_configured_authority_is_accepted,
        an_unknown_authority_is_refused_with_a_hint,
        a_certificate_of_another_host_is_refused,
        a_wrong_key_is_refused_without_being_shown,
        an_authority_file_that_is_missing_is_named,
        a_bulk_request_to_an_unverified_host_sends_no_byte,
        https_to_a_port_without_tls_is_reported,
    };
    if (getenv("DEVSEARCH_PROGRAM") == NULL || access(OPENSSL, X_OK) != 0) {
        puts("skip: DEVSEARCH_PROGRAM is not set or there is no " OPENSSL);
        return 77;
    }
    return suite_run("integration/tls", tests, sizeof(tests) / sizeof(tests[0]));
}
