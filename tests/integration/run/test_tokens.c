/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A database whose passwords are tokens that expire, as clouds check them: by PAM, which reports
 * 28000 in place of 28P01. Here each token is good for one login.
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
static void accept_each_token_once(const char *folder)
{
    char text[1024];
    snprintf(text, sizeof(text),
             "#!/bin/sh\n"
             "token=$(tr -d '\\0')\n"
             "grep -qx -- \"$token\" %1$s/issued && mkdir %1$s/used/\"$token\" && exit 0\n"
             "echo \"$token\" >> %1$s/refused; exit 1\n",
             folder);
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
             "umask 0; mkdir %1$s/used; : > %1$s/refused; : > %1$s/issued; chmod 711 %1$s", folder);
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

static void configure_reader(struct world *w, char *source, size_t size, const char *fresh)
{
    char text[512];
    snprintf(text, sizeof(text),
             "#!/bin/sh\ntoken=canary-$(head -c 9 /dev/urandom | od -An -tx1 | tr -d ' ')\n"
             "echo $token >> %1$s/issued; echo $token\n",
             w->dir);
    free(write_program(w->dir, "issue", text));
    char *uri = uri_as(w->uri, "token_reader");
    snprintf(source, size, "\"uri\": \"%s\", \"password\": {\"command\": \"%s/issue\"%s}", uri,
             w->dir, fresh);
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

static int refused_in_a_run(const char *fresh)
{
    struct world w;
    char source[1024];
    char service[64];
    world_start(&w, 100, NULL);
    accept_each_token_once(w.dir);
    admit_by_pam(w.conn);
    configure_reader(&w, source, sizeof(source), fresh);
    int refused = follow_while_sessions_end(&w);
    sql_exec(w.conn, "drop owned by token_reader; drop role token_reader");
    world_stop(&w);
    pam_service(service, sizeof(service), PAM_FOLDER);
    unlink(service);
    return refused;
}

START_TEST(a_token_that_has_expired_is_read_again)
{
    if (geteuid() == 0) { /* else PAM cannot be told how to check */
        ck_assert_int_gt(refused_in_a_run(""), 0);
    }
}
END_TEST

START_TEST(a_fresh_token_is_never_refused)
{
    if (geteuid() == 0) {
        ck_assert_int_eq(refused_in_a_run(", \"fresh\": true"), 0);
    }
}
END_TEST

CLUSTER_MAIN("run/tokens", a_token_that_has_expired_is_read_again, a_fresh_token_is_never_refused)
