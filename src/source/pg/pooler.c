/* SPDX-License-Identifier: Apache-2.0 */
/* Detects a connection pooler, refuses one that is not in session mode, and cleans up behind us. */
#include "pg/pooler.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "pg/pg_wait.h"
#include "rowferry/base/stop.h"

#define PROCESS "select pg_catalog.pg_backend_pid(), pg_catalog.pg_is_in_recovery()"
#define ROUNDS 4
#define UNLISTEN_TRIES 100
#define UNLISTEN_PAUSE_MS 5
#define SLICE_MS 100
#define LEAVE_MS 1000
#define HEAR_MS 5000 /* a server notifies an idle session at once */
#define POOLER_HINT                                                                                \
    "name the database's own host or port in source.uri (Neon: the host without \"-pooler\"; "     \
    "Supabase, Azure: port 5432), or a pool in session mode (docs/postgresql.md)"

/* The statement returns the server process and whether it is in recovery. */
static int pooler_run(struct pg *pg, const char *sql, int *backend, bool *in_recovery,
                      struct err *err)
{
    struct pg_result *r = NULL;
    int rc = pg_query_plain(pg, &r, "one: int, bool", sql, err);
    if (rc == 0) {
        *backend = (int)pg_int(r, 0, 0);
        *in_recovery = pg_true(r, 0, 1);
    }
    pg_result_release(r);
    return rc;
}

int pooler_ask(struct pg *pg, int *backend, bool *in_recovery, struct err *err)
{
    return pooler_run(pg, PROCESS, backend, in_recovery, err);
}

/* Step 1: whether the server process is seen to be shared. */
static int pooler_is_shared(struct pg *pg, struct pg *second, bool *shared, struct err *err)
{
    bool in_recovery;
    int again = pg->backend;
    int other = 0;
    int rc = 0;
    for (int round = 0; rc == 0 && !*shared && round < ROUNDS; round++) {
        rc = pooler_ask(pg, &again, &in_recovery, err);
        rc = rc == 0 ? pooler_ask(second, &other, &in_recovery, err) : rc;
        *shared = again != pg->backend || other == pg->backend;
    }
    return rc;
}

/* Waits for the notification, as an idle client. */
static int pooler_hear(struct pg *pg, const char *channel, bool *heard, struct err *err)
{
    int64_t until_ms = pg_now_ms() + HEAR_MS;
    while (!*heard && pg_now_ms() < until_ms) {
        struct pollfd fd = {.fd = PQsocket(pg->conn), .events = POLLIN};
        (void)poll(&fd, 1, SLICE_MS);
        if (PQconsumeInput(pg->conn) == 0) {
            return pg_fail(pg, NULL, err);
        }
        PGnotify *call = PQnotifies(pg->conn);
        *heard = call != NULL && strcmp(call->relname, channel) == 0;
        PQfreemem(call);
        if (!*heard && stop_asked()) {
            return err_set(err, ERR_TRANSIENT, "stopped before it was done");
        }
    }
    return 0;
}

/* In another mode than session the statement may first reach other server processes, where it has
 * no effect. */
static int pooler_unlisten(struct pg *pg, const char *channel, struct err *err)
{
    char sql[256];
    bool in_recovery;
    int at = 0;
    int rc = 0;
    snprintf(sql, sizeof(sql), "unlisten %s;" PROCESS, channel);
    for (int tried = 0; rc == 0 && at != pg->backend && tried < UNLISTEN_TRIES; tried++) {
        (void)poll(NULL, 0, tried > 0 ? UNLISTEN_PAUSE_MS : 0);
        rc = pooler_run(pg, sql, &at, &in_recovery, err);
    }
    return rc;
}

/* Step 2: whether the server connection is still ours while we are idle. */
static int pooler_is_kept(struct pg *pg, struct pg *second, bool *kept, struct err *err)
{
    char channel[48];
    char sql[64];
    struct err ignored;
    snprintf(channel, sizeof(channel), "rowferry_pooler_%u", (unsigned)PQbackendPID(pg->conn));
    snprintf(sql, sizeof(sql), "listen %s", channel);
    int rc = pg_script(pg, sql, err);
    snprintf(sql, sizeof(sql), "notify %s", channel);
    rc = rc == 0 ? pg_script(second, sql, err) : rc;
    rc = rc == 0 ? pooler_hear(pg, channel, kept, err) : rc;
    int ended = pooler_unlisten(pg, channel, rc < 0 ? &ignored : err);
    return rc < 0 ? rc : ended;
}

static int pooler_refuse(const struct pg *pg, struct err *err)
{
    err_set(err, ERR_REJECTED,
            pg->in_recovery
                ? "the source is a standby behind a connection pooler, whose mode cannot be found "
                  "out on a standby"
                : "the source is behind a connection pooler in transaction or statement mode, "
                  "which would hand our session's settings and locks to other clients");
    memcpy(err->sqlstate, PG_POOLER_SQLSTATE, sizeof(PG_POOLER_SQLSTATE));
    return err_hint(err, "%s",
                    pg->in_recovery ? "name the standby's own host and port in source.uri"
                                    : POOLER_HINT);
}

int pooler_check(struct pg *pg, struct err *err)
{
    struct pg *second;
    bool shared = false;
    pg->pooled = false;
    if (PQbackendPID(pg->conn) == pg->backend) {
        return 0;
    }
    int rc = pg_open_probe(&second, pg, err);
    rc = rc == 0 ? pooler_is_shared(pg, second, &shared, err) : rc;
    if (rc == 0 && !shared && !pg->in_recovery) {
        rc = pooler_is_kept(pg, second, &pg->pooled, err);
    }
    pg_close(second);
    if (rc < 0) {
        err_context(err, "a second connection has to show the connection pooler's mode");
        return err_hint(err, "let the pool have room for another connection (docs/postgresql.md)");
    }
    return pg->pooled ? 0 : pooler_refuse(pg, err);
}

/* A statement is under way, which may end by itself. So nothing is waited for: the server resets
 * the session before it reads anything of the next client. */
static void pooler_leave_pipeline(const struct pg *pg)
{
    static const char *const last[] = {"rollback", "discard all"};
    for (size_t i = 0; i < sizeof(last) / sizeof(last[0]); i++) {
        if (PQsendQueryParams(pg->conn, last[i], 0, NULL, NULL, NULL, NULL, 0) == 1) {
            (void)PQpipelineSync(pg->conn);
        }
    }
    (void)PQflush(pg->conn);
}

void pooler_leave(struct pg *pg)
{
    struct err ignored;
    const struct pg_silence silence = pg->silence;
    const bool probes = pg->probes;
    if (!pg->pooled) {
        return;
    }
    pg->pooled = false;
    pg->set_up = false;
    pg->probes = true; /* no other connection checks this one if it is silent */
    pg->silence.limit_ms = LEAVE_MS;
    if (PQpipelineStatus(pg->conn) != PQ_PIPELINE_OFF) {
        pooler_leave_pipeline(pg);
    } else if (PQtransactionStatus(pg->conn) == PQTRANS_IDLE ||
               pg_script(pg, "rollback", &ignored) == 0) {
        (void)!pg_script(pg, "discard all", &ignored);
    }
    pg->silence = silence;
    pg->probes = probes;
}
