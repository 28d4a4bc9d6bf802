/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A foreign database whose owner is not a superuser, and a service: the environment of init.
 */
#pragma once

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "server.h"
#include "sql.h"

#define SHOP_PASSWORD "canary-password-77ab"

struct shop {
    char *dir;
    char *root;   /* URI of the superuser */
    char *uri;    /* URI of the owner, who needs a password */
    char *role;   /* the owner */
    PGconn *conn; /* superuser's connection, acting as the owner */
    struct devsearch service;
    char *config; /* written by init */
};

/* Creates the tables of sql as their owner. service_options: see devsearch_start. */
static inline void shop_open(struct shop *s, const char *sql, const char *const *service_options)
{
    *s = (struct shop){.dir = scratch_new(), .root = database_new()};
    s->conn = sql_open(s->root);
    s->role = sql_text(s->conn, "select 'owner_' || current_database()");
    sql_exec(s->conn, "create role \"%s\" login password '" SHOP_PASSWORD "'", s->role);
    sql_exec(s->conn, "alter schema public owner to \"%s\"", s->role);
    sql_exec(s->conn, "grant create on database \"%s\" to \"%s\"", strrchr(s->root, '/') + 1,
             s->role);
    sql_exec(s->conn, "set role \"%s\"", s->role);
    sql_exec(s->conn, "%s", sql);
    s->uri = uri_as(s->root, s->role);
    s->config = scratch_path(s->dir, "rowferry.json");
    ck_assert_int_eq(setenv("PGPASSWORD", SHOP_PASSWORD, 1), 0);
    devsearch_start(&s->service, service_options);
}

static inline void shop_close(struct shop *s)
{
    devsearch_stop(&s->service);
    sql_exec(s->conn, "reset role; drop owned by \"%s\" cascade", s->role);
    sql_exec(s->conn, "drop role \"%s\"", s->role);
    PQfinish(s->conn);
    database_drop(s->root);
    scratch_remove(s->dir);
    free(s->uri);
    free(s->role);
    free(s->config);
    unsetenv("PGPASSWORD");
}

/* Returns the written configuration; the caller frees it. */
static inline char *shop_text(const struct shop *s)
{
    static char part[4096];
    struct buf text;
    FILE *file = fopen(s->config, "re");
    ck_assert_msg(file != NULL, "no file \"%s\"", s->config);
    buf_init(&text, 16 << 20);
    for (size_t n; (n = fread(part, 1, sizeof(part), file)) > 0;) {
        buf_push(&text, part, n);
    }
    fclose(file);
    return buf_detach(&text);
}

static inline void shop_says(const struct shop *s, const char *part)
{
    char *text = shop_text(s);
    ck_assert_msg(strstr(text, part) != NULL, "no \"%s\" in:\n%s", part, text);
    free(text);
}

static inline bool shop_has(const struct shop *s, const char *part)
{
    char *text = shop_text(s);
    bool has = strstr(text, part) != NULL;
    free(text);
    return has;
}

/* Runs a command with the written configuration; it must end with 0. */
static inline void shop_runs(const struct shop *s, const char *command, const char *option)
{
    struct program_result r;
    rowferry_run(&r, s->config, command, option, NULL);
    const char *fail = strstr(r.out, "FAIL");
    ck_assert_msg(r.exit_code == 0, "%s ended with %d: %.2000s%.1000s", command, r.exit_code,
                  fail != NULL ? fail : r.out, r.err);
    ck_assert(strstr(r.out, SHOP_PASSWORD) == NULL && strstr(r.err, SHOP_PASSWORD) == NULL);
    program_result_release(&r);
}

/* Runs init for the table and up to three others, or with further options. The test then uses its
 * output unedited. */
static inline void shop_init(const struct shop *s, const char *table, const char *const *with)
{
    const char *argv[16] = {getenv("ROWFERRY_PROGRAM"),
                            "init",
                            "--source",
                            s->uri,
                            "--table",
                            table,
                            "--service",
                            s->service.url,
                            "-o",
                            s->config};
    size_t count = 10;
    struct program p;
    struct program_result r;
    if (with != NULL) {
        if (strncmp(with[0], "--", 2) != 0) {
            argv[count++] = "--with";
        }
        while (*with != NULL) {
            argv[count++] = *with++;
        }
    }
    program_start(&p, argv, NULL);
    program_finish(&p, WAIT_MS, &r);
    ck_assert_msg(r.exit_code == 0, "init ended with %d: %s%s", r.exit_code, r.out, r.err);
    ck_assert_str_eq(r.out, "");
    program_result_release(&r);
    ck_assert(!shop_has(s, SHOP_PASSWORD));
}

/* Runs check, sync and verify. Nothing may be rejected, and this number of documents is written. */
static inline void shop_loads(const struct shop *s, int64_t documents)
{
    struct program_result r;
    if (shop_has(s, "\n      \"capture\": { \"mode\": \"changelog\" }")) {
        shop_runs(s, "source", "install");
    }
    shop_runs(s, "check", NULL);
    rowferry_run(&r, s->config, "sync", "--json", NULL);
    ck_assert_msg(r.exit_code == 0, "sync ended with %d: %.2000s%.1000s", r.exit_code, r.out,
                  r.err);
    ck_assert_int_eq(program_json_int(&r, "upserts"), documents);
    program_result_release(&r);
    shop_runs(s, "verify", NULL);
}

/* Runs a sync after a change. It must send this number of documents and make the index equal. */
static inline void shop_follows(const struct shop *s, int64_t documents)
{
    struct program_result r;
    rowferry_run(&r, s->config, "sync", "--json", NULL);
    ck_assert_msg(r.exit_code == 0, "sync ended with %d: %.2000s%.1000s", r.exit_code, r.out,
                  r.err);
    ck_assert_int_eq(program_json_int(&r, "operations"), documents);
    program_result_release(&r);
    shop_runs(s, "verify", NULL);
}
