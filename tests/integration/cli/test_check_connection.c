/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of check about the connection to the service, and their remedies: names, ports,
 * certificates (made with openssl), credentials, clocks. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lines.h"
#include "suite.h"
#include "wait.h"

#define OPENSSL "/usr/bin/openssl"
#define WIDE_BYTES 16384

/* Replaces the first occurrence of a text in the configuration. */
static void rewrite(struct world *w, const char *from, const char *to)
{
    char text[WIDE_BYTES];
    char wide[WIDE_BYTES];
    FILE *file = fopen(w->config, "r");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    char *at = strstr(text, from);
    ck_assert_msg(at != NULL, "no \"%s\" in %s", from, text);
    snprintf(wide, sizeof(wide), "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    free(w->config);
    w->config = scratch_write(w->dir, "rowferry.json", wide);
}

/* Expects the line, and the text in its remedy. */
static void found(const struct world *w, const char *const *env, const char *line,
                  const char *status, const char *words, const char *remedy)
{
    struct lines l;
    lines_look(&l, w->config, "--accept-admin", env);
    const char *said = lines_expect(&l, line, status, words);
    ck_assert_msg(strstr(said, remedy) != NULL, "no \"%s\" in \"%s\"", remedy, said);
    ck_assert_int_eq(l.exit_code, strcmp(status, "FAIL") == 0 ? 4 : 0);
    lines_release(&l);
}

static void passes(const struct world *w, const char *const *env, const char *line,
                   const char *words)
{
    struct lines l;
    lines_look(&l, w->config, "--accept-admin", env);
    lines_expect(&l, line, "PASS", words);
    lines_expect_none(&l, line, "WARN", "");
    lines_expect_none(&l, line, "FAIL", "");
    ck_assert_msg(l.exit_code == 0, "%s", json_object_to_json_string(l.tree));
    lines_release(&l);
}

START_TEST(a_host_that_is_unknown_and_a_port_that_is_closed_are_told)
{
    struct world w;
    char closed[96];
    char both[192];
    world_start(&w, 5, NULL);
    world_install(&w);
    int port = free_port();
    snprintf(closed, sizeof(closed), "http://127.0.0.1:%d", port);
    rewrite(&w, w.service.url, "https://search.rowferry.invalid:9200");
    found(&w, NULL, "service name", "FAIL", "\"search.rowferry.invalid\"",
          "correct the host in service.url");
    rewrite(&w, "https://search.rowferry.invalid:9200", closed);
    found(&w, NULL, "service port", "FAIL", "connection refused", "start the service");
    rewrite(&w, closed, w.service.url);
    passes(&w, NULL, "service name", "127.0.0.1 is an address");
    passes(&w, NULL, "service port", "is open");
    /* one of two is enough */
    snprintf(both, sizeof(both), "\"url\": [\"%s\", \"%s\"]", closed, w.service.url);
    char one[96];
    snprintf(one, sizeof(one), "\"url\": \"%s\"", w.service.url);
    rewrite(&w, one, both);
    found(&w, NULL, "service port", "WARN", "connection refused", "start the service");
    struct devsearch second;
    char *key = scratch_path(w.dir, "key");
    devsearch_start_at(&second, port, (const char *const[]){"--api-key-file", key, NULL});
    passes(&w, NULL, "service port", "is open");
    devsearch_stop(&second);
    free(key);
    world_stop(&w);
}
END_TEST

START_TEST(a_credential_that_is_not_known_is_told)
{
    struct world w;
    world_start(&w, 5, NULL);
    world_install(&w);
    free(scratch_write(w.dir, "key", "another\n"));
    found(&w, NULL, "credential", "FAIL", "401", "see service.auth");
    free(scratch_write(w.dir, "key", WORLD_API_KEY "\n"));
    passes(&w, NULL, "credential", "accepts the credential");
    world_stop(&w);
}
END_TEST

/* --- certificates ------------------------------------------------------------------------------
 */

struct secure {
    struct world w;
    char *cert;
    char *key;
    char *api_key;
};

/* Makes a certificate with its own authority. */
static void certify(struct secure *s, const char *name, const char *days)
{
    struct program program;
    struct program_result r;
    char names[96];
    snprintf(names, sizeof(names), "subjectAltName=%s", name);
    program_start(&program,
                  (const char *const[]){OPENSSL, "req", "-x509", "-newkey", "ec", "-pkeyopt",
                                        "ec_paramgen_curve:P-256", "-nodes", "-days", days, "-subj",
                                        "/CN=devsearch", "-addext", names, "-keyout", s->key,
                                        "-out", s->cert, NULL},
                  NULL);
    program_finish(&program, WAIT_MS, &r);
    ck_assert_msg(r.exit_code == 0, "%s", r.err);
    program_result_release(&r);
}

static void serve(struct secure *s, int port)
{
    devsearch_start_at(&s->w.service, port,
                       (const char *const[]){"--tls-cert", s->cert, "--tls-key", s->key,
                                             "--api-key-file", s->api_key, NULL});
}

/* Replaces http by https on the same port. If trusted, the configuration names the authority. */
static void enter(struct secure *s, const char *name, const char *days, bool trusted)
{
    char https[64];
    char tls[512];
    struct world *w = &s->w;
    world_start(w, 5, NULL);
    world_install(w);
    s->cert = scratch_path(w->dir, "cert.pem");
    s->key = scratch_path(w->dir, "key.pem");
    s->api_key = scratch_path(w->dir, "key");
    certify(s, name, days);
    snprintf(https, sizeof(https), "https://127.0.0.1:%d", w->service.port);
    rewrite(w, w->service.url, https);
    if (trusted) {
        snprintf(tls, sizeof(tls), "\"tls\": {\"ca_file\": \"%s\"}, \"auth\"", s->cert);
        rewrite(w, "\"auth\"", tls);
    }
    int port = w->service.port;
    devsearch_stop(&w->service);
    serve(s, port);
}

/* Gives the service another certificate. */
static void renew(struct secure *s, const char *name)
{
    int port = s->w.service.port;
    certify(s, name, "365");
    devsearch_stop(&s->w.service);
    serve(s, port);
}

static void leave(struct secure *s)
{
    world_stop(&s->w);
    free(s->cert);
    free(s->key);
    free(s->api_key);
}

START_TEST(an_authority_that_is_unknown_is_told)
{
    struct secure s;
    char tls[512];
    enter(&s, "IP:127.0.0.1", "365", false);
    found(&s.w, NULL, "service TLS", "FAIL", "cannot verify the certificate",
          "set service.tls.ca_file to this certificate");
    snprintf(tls, sizeof(tls), "\"tls\": {\"ca_file\": \"%s\"}, \"auth\"", s.cert);
    rewrite(&s.w, "\"auth\"", tls);
    passes(&s.w, NULL, "service TLS", "certificate of CN = devsearch, by CN = devsearch: 36");
    leave(&s);
}
END_TEST

START_TEST(a_certificate_of_another_name_is_told)
{
    struct secure s;
    enter(&s, "DNS:elsewhere.example", "365", true);
    found(&s.w, NULL, "service TLS", "FAIL", "cannot verify the certificate",
          "that the certificate contains, or give the service a certificate with this name");
    renew(&s, "IP:127.0.0.1");
    passes(&s.w, NULL, "service TLS", ": 36");
    leave(&s);
}
END_TEST

START_TEST(a_certificate_that_ends_soon_is_told)
{
    struct secure s;
    enter(&s, "IP:127.0.0.1", "3", true);
    found(&s.w, NULL, "service TLS", "WARN", " days left", "give the service a new certificate");
    renew(&s, "IP:127.0.0.1");
    passes(&s.w, NULL, "service TLS", ": 36");
    leave(&s);
}
END_TEST

START_TEST(a_port_without_tls_is_told)
{
    struct world w;
    char https[64];
    world_start(&w, 5, NULL);
    world_install(&w);
    snprintf(https, sizeof(https), "https://127.0.0.1:%d", w.service.port);
    rewrite(&w, w.service.url, https);
    found(&w, NULL, "service TLS", "FAIL", "does not speak TLS", "use http://127.0.0.1:");
    rewrite(&w, https, w.service.url);
    passes(&w, NULL, "service TLS", "none: http to this machine");
    world_stop(&w);
}
END_TEST

/* Exit code 1: a sync that waited for its retry budget would end with 6. */
START_TEST(a_sync_with_a_wrong_host_or_scheme_ends_at_once_and_names_the_right_one)
{
    struct secure s;
    char https[64];
    char http[64];
    enter(&s, "IP:127.0.0.1", "365", true);
    snprintf(https, sizeof(https), "https://127.0.0.1:%d", s.w.service.port);
    snprintf(http, sizeof(http), "http://127.0.0.1:%d", s.w.service.port);
    rewrite(&s.w, https, http);
    world_sync_says(&s.w, 1, "speaks TLS");
    world_sync_says(&s.w, 1, https);
    rewrite(&s.w, http, "https://search.rowferry.invalid:9200");
    world_sync_says(&s.w, 1, "correct the host in service.url");
    rewrite(&s.w, "@127.0.0.1:", "@source.rowferry.invalid:");
    world_sync_says(&s.w, 1, "correct the host in source.uri");
    leave(&s);

    world_start(&s.w, 5, NULL);
    world_install(&s.w);
    snprintf(https, sizeof(https), "https://127.0.0.1:%d", s.w.service.port);
    rewrite(&s.w, s.w.service.url, https);
    world_sync_says(&s.w, 1, "use http://127.0.0.1:");
    world_stop(&s.w);
}
END_TEST

/* --- clocks ------------------------------------------------------------------------------------
 */

struct ahead {
    char preload[512];
    char clock[512];
    const char *env[4];
};

/* Sets this machine's clock ahead, for the program only. */
static void go_ahead(struct ahead *a, const struct world *w, const char *seconds)
{
    char *path = scratch_write(w->dir, "ahead", seconds);
    snprintf(a->preload, sizeof(a->preload), "LD_PRELOAD=%s", TEST_ELSEWHERE);
    snprintf(a->clock, sizeof(a->clock), "ROWFERRY_TEST_CLOCK=%s", path);
    a->env[0] = a->preload;
    a->env[1] = a->clock;
    a->env[2] = "ASAN_OPTIONS=verify_asan_link_order=0";
    a->env[3] = NULL;
    free(path);
}

START_TEST(clocks_that_are_apart_are_told)
{
    struct world w;
    struct ahead a;
    world_start(&w, 5, NULL);
    world_install(&w);
    go_ahead(&a, &w, "3600");
    found(&w, a.env, "source clock", "WARN", "behind this machine's", "NTP");
    found(&w, a.env, "service clock", "WARN", "apart", "NTP");
    go_ahead(&a, &w, "-3600");
    found(&w, a.env, "source clock", "WARN", "ahead of this machine's", "NTP");
    go_ahead(&a, &w, "0");
    passes(&w, a.env, "source clock", "agree");
    passes(&w, a.env, "service clock", "agree");
    world_stop(&w);
}
END_TEST

START_TEST(a_certificate_that_has_ended_is_told)
{
    struct secure s;
    struct ahead a;
    enter(&s, "IP:127.0.0.1", "3", true);
    go_ahead(&a, &s.w, "864000");
    found(&s.w, a.env, "service TLS", "FAIL", "expired", "give the service a new certificate");
    renew(&s, "IP:127.0.0.1");
    passes(&s.w, a.env, "service TLS", ": 35");
    leave(&s);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_host_that_is_unknown_and_a_port_that_is_closed_are_told,
        a_credential_that_is_not_known_is_told,
        an_authority_that_is_unknown_is_told,
        a_certificate_of_another_name_is_told,
        a_certificate_that_ends_soon_is_told,
        a_port_without_tls_is_told,
        a_sync_with_a_wrong_host_or_scheme_ends_at_once_and_names_the_right_one,
        clocks_that_are_apart_are_told,
        a_certificate_that_has_ended_is_told,
    };
    if (access(OPENSSL, X_OK) != 0) {
        puts("skip: there is no " OPENSSL);
        return 77;
    }
    return suite_run("integration/check_way", tests, sizeof(tests) / sizeof(tests[0]));
}
