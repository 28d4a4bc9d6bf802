/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signed requests pass an independent verifier: all kinds of requests, below a path prefix, with
 * commas and stars in names, and with large bodies.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sql.h"
#include "suite.h"
#include "world.h"

#define PYTHON "/usr/bin/python3"
#define SECRET_KEY "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"

struct signer {
    struct world w;
    struct program verifier;
    int port;
};

static void start_verifier(struct signer *s)
{
    char numbers[2][16];
    char *port_file = scratch_path(s->w.dir, "verifier-port");
    s->port = free_port();
    snprintf(numbers[0], sizeof(numbers[0]), "%d", s->port);
    snprintf(numbers[1], sizeof(numbers[1]), "%d", s->w.service.port);
    program_start(&s->verifier,
                  (const char *const[]){PYTHON, TEST_TOP "/tests/support/signed.py", numbers[0],
                                        numbers[1], port_file, NULL},
                  (const char *const[]){"SIGNED_TOKEN=canary/token==", NULL});
    struct deadline deadline = deadline_after(WAIT_MS);
    while (access(port_file, R_OK) != 0) {
        ck_assert(program_running(&s->verifier) && deadline_wait(&deadline));
    }
    free(port_file);
}

static void configure(struct signer *s, const char *secret_key)
{
    char *text = NULL;
    struct world *w = &s->w;
    free(scratch_write(w->dir, "secret-key", secret_key));
    ck_assert_int_gt(
        asprintf(&text,
                 "{\"accept_admin\": true, \"source\": {\"uri\": \"%s\"}, \"service\": {\"url\": "
                 "\"http://127.0.0.1:%d/shop/\", \"auth\": {\"aws_sigv4\": {\"region\": "
                 "\"eu-west-1\", \"access_key_id\": {\"env\": \"SIGNED_KEY_ID\"}, "
                 "\"secret_access_key\": {\"file\": \"secret-key\"}, \"session_token\": {\"file\": "
                 "\"token\"}}}},\n\"state\": {\"path\": \"state.db\"}, \"pipelines\": [{\"name\": "
                 "\"articles\", \"from\": {\"table\": \"public.articles\"}, \"to\": {\"index\": "
                 "\"shop-articles\", \"mappings\": {\"properties\": {" WORLD_PROPERTIES "}}}}]}",
                 w->uri, s->port),
        0);
    free(w->config);
    w->config = scratch_write(w->dir, "rowferry.json", text);
    free(text);
}

static void enter(struct signer *s)
{
    world_start(&s->w, 3000, NULL);
    world_install(&s->w);
    devsearch_stop(&s->w.service);
    devsearch_start(&s->w.service, NULL);
    start_verifier(s);
    ck_assert_int_eq(setenv("SIGNED_KEY_ID", "AKIAIOSFODNN7EXAMPLE", 1), 0);
    free(scratch_write(s->w.dir, "token", "canary/token==\n"));
    configure(s, SECRET_KEY);
}

static void leave(struct signer *s)
{
    struct program_result result;
    program_signal(&s->verifier, SIGKILL);
    program_finish(&s->verifier, WAIT_MS, &result);
    program_result_release(&result);
    world_stop(&s->w);
}

START_TEST(whatever_is_asked_is_signed_as_the_verifier_reckons)
{
    struct signer s;
    enter(&s);
    rowferry_expect(0, s.w.config, "sync", NULL);
    world_expect_equal(&s.w);
    sql_exec(s.w.conn, "update articles set title = 'é & ü+' where source_id < 500;"
                       "delete from articles where source_id = 7");
    rowferry_expect(0, s.w.config, "sync", "--refresh", NULL);
    rowferry_expect(0, s.w.config, "verify", NULL);
    rowferry_expect(0, s.w.config, "reindex", NULL);
    rowferry_expect(0, s.w.config, "smoke", NULL);
    world_expect_equal(&s.w);
    char *said = program_said(&s.verifier);
    ck_assert_str_eq(said, "");
    free(said);
    leave(&s);
}
END_TEST

START_TEST(a_wrong_key_is_refused_and_the_services_words_are_told)
{
    struct signer s;
    struct program_result result;
    enter(&s);
    configure(&s, "not-the-key-that-it-is");
    rowferry_run(&result, s.w.config, "sync", NULL);
    ck_assert_int_eq(result.exit_code, 1);
    ck_assert_msg(strstr(result.err, "the signature does not match") != NULL, "%s", result.err);
    program_result_release(&result);
    leave(&s);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        whatever_is_asked_is_signed_as_the_verifier_reckons,
        a_wrong_key_is_refused_and_the_services_words_are_told,
    };
    if (access(PYTHON, X_OK) != 0) {
        puts("skip: there is no " PYTHON);
        return 77;
    }
    return suite_run("cli/signed", tests, sizeof(tests) / sizeof(tests[0]));
}
