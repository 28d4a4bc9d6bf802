/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A database whose passwords are tokens that expire, as clouds check them: by PAM, which reports
 * 28000 in place of 28P01. Here a token expires when the test says so, or after one login.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "cluster.h"
#include "runs.h"

#define PAM_FOLDER "/etc/pam.d/"

static void pam_service(char *name, size_t size, const char *folder)
{
    snprintf(name, size, "%srowferry-test-%d", folder, (int)getpid());
}

/* Writes a program into a folder that the server's user may write. */
static char *write_program(const char *folder, const char *name, const char *text)
{
    char *path = scratch_write(folder, name, text);
    ck_assert_int_eq(chmod(path, 0755), 0);
    return path;
}

/* PAM passes the token on standard input, without a newline and perhaps with a zero byte. */
static void accept_tokens(const char *folder, const char *condition)
{
    char text[1024];
    snprintf(text, sizeof(text),
             "#!/bin/sh\n"
             "cd %s; token=$(tr -d '\\0')\n"
             "%s && exit 0\n"
             "echo \"$token\" >> refused; exit 1\n",
             folder, condition);
    char *check = write_program(folder, "check", text);
    snprintf(text, sizeof(text),
             "auth required pam_exec.so quiet expose_authtok %s\naccount required pam_permit.so\n",
             check);
    char path[64];
    pam_service(path, sizeof(path), PAM_FOLDER);
    FILE *service = fopen(path, "we");
    ck_assert_ptr_nonnull(service);
    fputs(text, service);
    ck_assert_int_eq(fclose(service), 0);
    snprintf(text, sizeof(text),
             "umask 0; mkdir %1$s/used; : > %1$s/refused; : > %1$s/issued; : > %1$s/valid; chmod "
             "711 %1$s",
             folder);
    ck_assert_int_eq(system(text), 0);
    free(check);
}

static void admit_by_pam(PGconn *conn)
{
    char name[64];
    pam_service(name, sizeof(name), "");
    char *file = sql_text(conn, "show hba_file");
    sql_exec(conn,
             "create role token_reader login; copy (values "
             "('host all token_reader all pam pamservice=%s'), "
             "('host all all all trust'), ('local all all trust')) to '%s'",
             name, file);
    sql_exec(conn, "select pg_reload_conf()");
    free(file);
}

/* `password` is the origin, in which %s is the folder. */
static void configure_reader(struct world *w, char *source, size_t size, const char *password)
{
    char text[512];
    char origin[512];
    snprintf(text, sizeof(text),
             "#!/bin/sh\ntoken=canary-$(head -c 9 /dev/urandom | od -An -tx1 | tr -d ' ')\n"
             "echo $token >> %1$s/issued; echo $token >> %1$s/valid; echo $token\n",
             w->dir);
    free(write_program(w->dir, "issue", text));
    char *uri = uri_as(w->uri, "token_reader");
    snprintf(origin, sizeof(origin), password, w->dir);
    snprintf(source, size, "\"uri\": \"%s\", \"password\": {%s}", uri, origin);
    free(uri);
    rowferry_expect(0, w->config, "source", "install", "--reader", "token_reader", NULL);
    sql_exec(w->conn, "grant select on articles to token_reader");
    w->source = source;
    world_configure(w, WORLD_PROPERTIES, "\"retry_budget\": \"20s\"");
}

/* Returns the number of tokens that PAM refused. */
static int follow_while_sessions_end(struct world *w)
{
    struct program p;
    struct program_result result;
    start_run(w, &p);
    for (int turn = 0; turn < 3; turn++) {
        char title[32];
        snprintf(title, sizeof(title), "turn %d", turn);
        free(scratch_write(w->dir, "valid", "")); /* now all tokens have expired */
        sql_exec(w->conn, "select pg_terminate_backend(pid) from pg_stat_activity where usename = "
                          "'token_reader' and datname = current_database()");
        set_title(w, 5, title);
        await_title(w, 5, title);
    }
    ck_assert(program_running(&p));
    stop_run(&p, SIGTERM, 0, &result);
    ck_assert_ptr_null(strstr(result.err, "canary"));
    ck_assert_ptr_null(strstr(result.err, "authentication failed"));
    program_result_release(&result);
    int refused = 0;
    char *path = scratch_path(w->dir, "refused");
    FILE *file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    for (int c = fgetc(file); c != EOF; c = fgetc(file)) {
        refused += c == '\n';
    }
    fclose(file);
    free(path);
    return refused;
}

static int refused_in_a_run(const char *password, const char *condition)
{
    struct world w;
    char source[1024];
    char service[64];
    world_start(&w, 100, NULL);
    accept_tokens(w.dir, condition);
    admit_by_pam(w.conn);
    configure_reader(&w, source, sizeof(source), password);
    int refused = follow_while_sessions_end(&w);
    sql_exec(w.conn, "drop owned by token_reader; drop role token_reader");
    world_stop(&w);
    pam_service(service, sizeof(service), PAM_FOLDER);
    unlink(service);
    return refused;
}

#define ONCE "grep -qx -- \"$token\" issued && mkdir used/\"$token\""

START_TEST(a_token_that_has_expired_is_read_again)
{
    if (geteuid() == 0) { /* else PAM cannot be told how to check */
        ck_assert_int_gt(
            refused_in_a_run("\"command\": \"%s/issue\"", "grep -qx -- \"$token\" valid"), 0);
    }
}
END_TEST

START_TEST(a_fresh_token_is_never_refused)
{
    if (geteuid() == 0) {
        ck_assert_int_eq(refused_in_a_run("\"command\": \"%s/issue\", \"fresh\": true", ONCE), 0);
    }
}
END_TEST

/* Only the form is checked, because nothing here knows Amazon's keys. */
START_TEST(a_token_of_rds_is_signed_for_each_connection)
{
    if (geteuid() == 0) {
        ck_assert_int_eq(setenv("AWS_ACCESS_KEY_ID", "akid", 1), 0);
        ck_assert_int_eq(setenv("AWS_SECRET_ACCESS_KEY", "canary-secret-key", 1), 0);
        int refused = refused_in_a_run(
            "\"aws_rds_iam\": \"eu-west-1\"",
            "expr \"$token\" : '127.0.0.1:[0-9]*/?Action=connect&DBUser=token_reader&.*&X-Amz-"
            "Credential=akid%2F[0-9]*%2Feu-west-1%2Frds-db%2F.*&X-Amz-Signature=[0-9a-f]*$' "
            "> /dev/null");
        ck_assert_int_eq(refused, 0);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_token_that_has_expired_is_read_again,
                                  a_fresh_token_is_never_refused,
                                  a_token_of_rds_is_signed_for_each_connection};
    PGconn *conn = PQconnectdb(getenv("ROWFERRY_TEST_PG"));
    PGresult *pam = PQexec(conn, "select from pg_config where setting like '%--with-pam%'");
    bool can = PQntuples(pam) > 0;
    PQclear(pam);
    PQfinish(conn);
    if (!can) {
        puts("skip: this PostgreSQL is built without PAM");
        return 77;
    }
    return cluster_suite("run/tokens", tests, sizeof(tests) / sizeof(tests[0]));
}
