/* SPDX-License-Identifier: Apache-2.0 */
/* Connections to a source on another host use TLS, or fail, unless the user permits plain text. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cluster.h"
#include "pg/pg_private.h"
#include "rowferry/source/pg/pg.h"
#include "server.h"
#include "sql.h"
#include "suite.h"
#include "wait.h"

#define OPENSSL "/usr/bin/openssl"

/* Creates key and certificate in the server's folder, as the server's own user. */
static void offer_tls(void)
{
    PGconn *conn = sql_open(own_cluster.uri);
    sql_exec(conn, "copy (select 1) to program '" OPENSSL
                   " req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "
                   "/CN=db.example -keyout server.key -out server.crt 2>&1'");
    sql_exec(conn, "alter system set ssl = on");
    sql_exec(conn, "select pg_reload_conf()");
    struct deadline deadline = deadline_after(WAIT_MS);
    while (sql_int(conn, "select (current_setting('ssl') = 'on')::int") == 0) {
        ck_assert(deadline_wait(&deadline));
        PQfinish(conn);
        conn = sql_open(own_cluster.uri);
    }
    PQfinish(conn);
}

/* Formats a URI of the same server with an address that does not name this machine, but reaches
 * it. */
static void other_host(char *out, size_t size, const char *query)
{
    const char *at = strchr(own_cluster.uri, '@');
    ck_assert_ptr_nonnull(at);
    const char *port = strrchr(at, ':');
    ck_assert_ptr_nonnull(port);
    snprintf(out, size, "%.*s0.0.0.0%s%s", (int)(at + 1 - own_cluster.uri), own_cluster.uri, port,
             query);
}

static int try_open(const char *query, bool *encrypted, struct err *err)
{
    char uri[512];
    struct pg *pg = NULL;
    struct pg_result *r = NULL;
    const struct source_options options = {
        .uri = uri, .connect_timeout_ms = 5000, .lock_timeout_ms = 1000};
    other_host(uri, sizeof(uri), query);
    int rc = pg_open(&pg, &options, err);
    if (rc == 0) {
        rc = pg_query(pg, &r, "one: bool",
                      "select ssl from pg_stat_ssl where pid = pg_backend_pid()", NULL, 0, err);
        *encrypted = rc == 0 && pg_true(r, 0, 0);
    }
    pg_result_release(r);
    pg_close(pg);
    return rc;
}

START_TEST(another_host_is_reached_with_tls_where_it_has_some)
{
    struct err err = {0};
    bool encrypted = false;
    ck_assert_int_eq(try_open("", &encrypted, &err), ERR_REJECTED);
    ck_assert_msg(strstr(err.hint, "ssl = on") != NULL, "%s", err.hint);
    ck_assert_int_eq(try_open("?sslmode=prefer", &encrypted, &err), 0);
    ck_assert(!encrypted);
    offer_tls();
    ck_assert_msg(try_open("", &encrypted, &err) == 0, "%s", err.message);
    ck_assert(encrypted);
    ck_assert_int_eq(try_open("?sslmode=disable", &encrypted, &err), 0);
    ck_assert(!encrypted);
    ck_assert_int_eq(try_open("?sslmode=verify-full&sslrootcert=/nonexistent/ca", &encrypted, &err),
                     ERR_REJECTED);
    ck_assert_msg(strstr(err.message, "root certificate file") != NULL, "%s", err.message);
}
END_TEST

static int http_service_open(const char *mode, bool *encrypted, struct err *err)
{
    char text[256];
    char *dir = scratch_new();
    const char *user = strstr(own_cluster.uri, "://") + 3;
    const char *port = strrchr(strchr(own_cluster.uri, '@'), ':') + 1;
    snprintf(text, sizeof(text), "[shop]\nhost=0.0.0.0\nport=%.*s\nuser=%.*s\ndbname=postgres\n%s",
             (int)strcspn(port, "/"), port, (int)strcspn(user, "@"), user, mode);
    char *file = scratch_write(dir, "services", text);
    ck_assert_int_eq(setenv("PGSERVICEFILE", file, 1), 0);
    struct pg *pg = NULL;
    struct pg_result *r = NULL;
    const struct source_options options = {.uri = "postgresql:///?service=shop",
                                           .connect_timeout_ms = 5000};
    int rc = pg_open(&pg, &options, err);
    if (rc == 0) {
        rc = pg_query(pg, &r, "one: bool",
                      "select ssl from pg_stat_ssl where pid = pg_backend_pid()", NULL, 0, err);
        *encrypted = rc == 0 && pg_true(r, 0, 0);
    }
    pg_result_release(r);
    pg_close(pg);
    free(file);
    scratch_remove(dir);
    return rc;
}

START_TEST(a_service_file_is_heard)
{
    struct err err = {0};
    bool encrypted = false;
    offer_tls();
    ck_assert_msg(http_service_open("", &encrypted, &err) == 0, "%s", err.message);
    ck_assert(encrypted);
    ck_assert_msg(http_service_open("sslmode=disable\n", &encrypted, &err) == 0, "%s", err.message);
    ck_assert(!encrypted);
}
END_TEST

#define PASSWORD "canary-database-password"

/* Creates roles with clear-text, md5 and SCRAM passwords, and one without a password. */
static void ask_for_passwords(void)
{
    PGconn *conn = sql_open(own_cluster.uri);
    sql_exec(conn, "set password_encryption = 'scram-sha-256';"
                   "create role in_clear login password '" PASSWORD "';"
                   "create role by_scram login password '" PASSWORD "';"
                   "create role by_nothing login;"
                   "set password_encryption = 'md5';"
                   "create role by_md5 login password '" PASSWORD "'");
    char *file = sql_text(conn, "show hba_file");
    sql_exec(conn,
             "copy (values ('host all in_clear all password'), ('host all by_md5 all md5'), "
             "('host all by_scram all scram-sha-256'), ('host all all all trust'), "
             "('local all all trust')) to '%s'",
             file);
    sql_exec(conn, "select pg_reload_conf()");
    free(file);
    PQfinish(conn);
}

/* Returns the result of pg_open with the password. */
static int open_with_password(const char *role, const char *query, struct err *err)
{
    char uri[512];
    struct pg *pg = NULL;
    const char *at = strchr(own_cluster.uri, '@');
    const char *port = strrchr(at, ':');
    const struct source_options options = {
        .uri = uri, .password = PASSWORD, .connect_timeout_ms = 5000, .lock_timeout_ms = 1000};
    snprintf(uri, sizeof(uri), "postgresql://%s@0.0.0.0%s%s", role, port, query);
    int rc = pg_open(&pg, &options, err);
    pg_close(pg);
    return rc;
}

static void expect_refused(const char *role, const char *query)
{
    struct err err = {0};
    ck_assert_msg(open_with_password(role, query, &err) == ERR_REJECTED, "%s%s: %s", role, query,
                  err.message);
    ck_assert_msg(strstr(err.message, "hannel binding") != NULL, "%s", err.message);
    ck_assert_msg(strstr(err.hint, "sslmode=verify-full") != NULL, "%s", err.hint);
    ck_assert_msg(strstr(err.hint, "channel_binding=prefer") != NULL, "%s", err.hint);
}

static void expect_open(const char *role, const char *query)
{
    struct err err = {0};
    ck_assert_msg(open_with_password(role, query, &err) == 0, "%s%s: %s", role, query, err.message);
}

/* An impostor would receive the password, or data for guessing it. */
START_TEST(a_server_that_nobody_verifies_does_not_get_the_password)
{
    char query[512];
    offer_tls();
    ask_for_passwords();
    expect_open("by_scram", "");
    expect_open("by_scram", "?sslmode=require");
    static const char *const unverified[] = {"", "?sslmode=require", "?sslmode=prefer"};
    for (size_t i = 0; i < sizeof(unverified) / sizeof(unverified[0]); i++) {
        expect_refused("in_clear", unverified[i]);
        expect_refused("by_md5", unverified[i]);
        expect_refused("by_nothing", unverified[i]);
    }
    expect_open("in_clear", "?channel_binding=prefer");
    PGconn *conn = sql_open(own_cluster.uri);
    char *folder = sql_text(conn, "show data_directory");
    snprintf(query, sizeof(query), "?sslmode=verify-ca&sslrootcert=%s/server.crt", folder);
    expect_open("in_clear", query);
    expect_open("by_md5", query);
    free(folder);
    PQfinish(conn);
    ck_assert_int_eq(setenv("PGCHANNELBINDING", "disable", 1), 0);
    expect_open("by_md5", "");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {another_host_is_reached_with_tls_where_it_has_some,
                                  a_service_file_is_heard,
                                  a_server_that_nobody_verifies_does_not_get_the_password};
    if (access(OPENSSL, X_OK) != 0) {
        puts("skip: there is no " OPENSSL);
        return 77;
    }
    return cluster_suite("source/encryption", tests, sizeof(tests) / sizeof(tests[0]));
}
