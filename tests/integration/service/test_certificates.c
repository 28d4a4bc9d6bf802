/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each fault of a certificate has its own message and remedy, and a service that requires a client
 * certificate gets it. openssl makes certificates and servers.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rowferry/service/http/http.h"
#include "server.h"
#include "suite.h"
#include "wait.h"

#define OPENSSL "/usr/bin/openssl"
#define SETUP_MS WAIT_MS

static void run(const char *const *argv)
{
    struct program program;
    struct program_result result;
    program_start(&program, argv, NULL);
    program_finish(&program, SETUP_MS, &result);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    program_result_release(&result);
}

#define RUN(...) run((const char *const[]){OPENSSL, __VA_ARGS__, NULL})
#define CURVE "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"

/* Creates and enters a folder with the certificates of two authorities. */
static char *enter(void)
{
    char *dir = scratch_new();
    ck_assert_int_eq(chdir(dir), 0);
    RUN("req", "-x509", CURVE, "-days", "2", "-subj", "/CN=ours", "-keyout", "ca.key", "-out",
        "ca.pem");
    RUN("req", "-x509", CURVE, "-days", "2", "-subj", "/CN=theirs", "-keyout", "other.key", "-out",
        "other.pem");
    return dir;
}

static void leave(char *dir)
{
    ck_assert_int_eq(chdir("/"), 0);
    scratch_remove(dir);
}

/* Creates name.pem and name.key, signed by an authority; days "-1": expired yesterday. */
static void sign(const char *name, const char *subject, const char *days, const char *authority)
{
    char files[4][64];
    char alternative[96];
    snprintf(files[0], sizeof(files[0]), "%s.key", name);
    snprintf(files[1], sizeof(files[1]), "%s.pem", name);
    snprintf(files[2], sizeof(files[2]), "%s.pem", authority);
    snprintf(files[3], sizeof(files[3]), "%s.key", authority);
    snprintf(alternative, sizeof(alternative), "subjectAltName=%s", subject);
    RUN("req", CURVE, "-subj", "/CN=leaf", "-addext", alternative, "-keyout", files[0], "-out",
        "request");
    RUN("x509", "-req", "-in", "request", "-CA", files[2], "-CAkey", files[3], "-CAcreateserial",
        "-days", days, "-copy_extensions", "copy", "-out", files[1]);
}

struct server {
    struct program program;
    char url[64];
};

/* Starts openssl's server, which answers GET with a page; more ends with null. */
static void serve(struct server *s, const char *name, const char *const *more)
{
    char address[48];
    char files[2][64];
    int port = free_port();
    snprintf(address, sizeof(address), "127.0.0.1:%d", port);
    snprintf(files[0], sizeof(files[0]), "%s.pem", name);
    snprintf(files[1], sizeof(files[1]), "%s.key", name);
    snprintf(s->url, sizeof(s->url), "https://%s", address);
    const char *argv[24] = {OPENSSL,  "s_server", "-accept", address, "-cert",
                            files[0], "-key",     files[1],  "-www"};
    for (size_t i = 9; more != NULL && *more != NULL; i++) {
        argv[i] = *more++;
    }
    program_start(&s->program, argv, NULL);
    program_await(&s->program, "ACCEPT", SETUP_MS);
}

static void end(struct server *s)
{
    struct program_result result;
    program_signal(&s->program, SIGKILL);
    program_finish(&s->program, SETUP_MS, &result);
    program_result_release(&result);
}

static int ask(const struct server *at, const char *ca_file, const char *client, struct err *err)
{
    struct service *s = NULL;
    struct http_answer answer;
    char files[2][64];
    const char *url = at->url;
    struct service_options options = {.urls = &url,
                                      .url_count = 1,
                                      .ca_file = ca_file,
                                      .credentials[SERVICE_API_KEY].value = "canary-key-77aa",
                                      .request_timeout_ms = WAIT_MS,
                                      .connect_timeout_ms = WAIT_MS,
                                      .in_flight = 1};
    if (client != NULL) {
        snprintf(files[0], sizeof(files[0]), "%s.pem", client);
        snprintf(files[1], sizeof(files[1]), "%s.key", client);
        options.client_cert = files[0];
        options.client_key = files[1];
    }
    ck_assert_int_eq(http_service_open(&s, &options, err), 0);
    int rc = http_request(s, "GET", "/", span_make(NULL, 0), &answer, err);
    http_answer_release(&answer);
    http_service_close(s);
    return rc;
}

static void expect_refused(const char *name, const char *ca_file, const char *words,
                           const char *hint)
{
    struct server s;
    struct err err;
    serve(&s, name, NULL);
    ck_assert_int_eq(ask(&s, ca_file, NULL, &err), ERR_REJECTED);
    ck_assert_msg(strstr(err.message, "cannot verify the certificate of 127.0.0.1:") != NULL &&
                      strstr(err.message, words) != NULL,
                  "%s", err.message);
    ck_assert_msg(strstr(err.hint, hint) != NULL, "%s", err.hint);
    end(&s);
}

START_TEST(an_expired_certificate_is_called_expired)
{
    char *dir = enter();
    sign("expired", "IP:127.0.0.1", "-1", "ca");
    expect_refused("expired", "ca.pem", ": it has expired", "new certificate");
    leave(dir);
}
END_TEST

START_TEST(a_self_signed_certificate_is_called_self_signed)
{
    char *dir = enter();
    RUN("req", "-x509", CURVE, "-days", "2", "-subj", "/CN=self", "-addext",
        "subjectAltName=IP:127.0.0.1", "-keyout", "self.key", "-out", "self.pem");
    expect_refused("self", "ca.pem", ": it is self-signed", "ca_file to this certificate");
    expect_refused("self", NULL, ": it is self-signed", "ca_file to this certificate");
    leave(dir);
}
END_TEST

START_TEST(a_certificate_for_another_name_is_reported)
{
    char *dir = enter();
    sign("elsewhere", "DNS:elsewhere.example", "2", "ca");
    expect_refused("elsewhere", "ca.pem", ": it does not match that name", "host name");
    leave(dir);
}
END_TEST

START_TEST(a_certificate_of_an_unknown_authority_is_reported)
{
    char *dir = enter();
    sign("stranger", "IP:127.0.0.1", "2", "other");
    expect_refused("stranger", "ca.pem", ": the authority that signed it is unknown here",
                   "certificate of the authority");
    expect_refused("stranger", NULL, ": the authority that signed it is unknown here",
                   "certificate of the authority");
    leave(dir);
}
END_TEST

START_TEST(a_client_certificate_is_asked_for_shown_and_refused)
{
    char *dir = enter();
    struct server s;
    struct err err;
    sign("good", "IP:127.0.0.1", "2", "ca");
    sign("client", "DNS:client.example", "2", "ca");
    sign("stranger", "DNS:client.example", "2", "other");
    serve(&s, "good",
          (const char *const[]){"-CAfile", "ca.pem", "-Verify", "2", "-verify_return_error", NULL});
    ck_assert_msg(ask(&s, "ca.pem", "client", &err) == 0, "%s", err.message);
    ck_assert_int_eq(ask(&s, "ca.pem", NULL, &err), ERR_REJECTED);
    ck_assert_msg(strstr(err.message, "requires a client certificate") != NULL, "%s", err.message);
    ck_assert_ptr_nonnull(strstr(err.hint, "service.tls.client_cert"));
    ck_assert_int_eq(ask(&s, "ca.pem", "stranger", &err), ERR_REJECTED);
    ck_assert_msg(strstr(err.message, "refuses the client certificate") != NULL, "%s", err.message);
    end(&s);
    leave(dir);
}
END_TEST

START_TEST(older_protocols_are_refused)
{
    char *dir = enter();
    struct server s;
    struct err err;
    sign("good", "IP:127.0.0.1", "2", "ca");
    serve(&s, "good", (const char *const[]){"-tls1_1", "-cipher", "DEFAULT:@SECLEVEL=0", NULL});
    ck_assert_int_eq(ask(&s, "ca.pem", NULL, &err), ERR_REJECTED);
    ck_assert_msg(strstr(err.message, "does not speak TLS 1.2 or newer") != NULL, "%s",
                  err.message);
    end(&s);
    serve(&s, "good", (const char *const[]){"-tls1_2", NULL});
    ck_assert_msg(ask(&s, "ca.pem", NULL, &err) == 0, "%s", err.message);
    end(&s);
    leave(dir);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        an_expired_certificate_is_called_expired,
        a_self_signed_certificate_is_called_self_signed,
        a_certificate_for_another_name_is_reported,
        a_certificate_of_an_unknown_authority_is_reported,
        a_client_certificate_is_asked_for_shown_and_refused,
        older_protocols_are_refused,
    };
    if (access(OPENSSL, X_OK) != 0) {
        puts("skip: there is no " OPENSSL);
        return 77;
    }
    return suite_run("integration/certificates", tests, sizeof(tests) / sizeof(tests[0]));
}
