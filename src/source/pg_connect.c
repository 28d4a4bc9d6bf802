/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a connection: within a time, with the session's settings, and again after an error. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pg_private.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/embed.h"
#include "rowferry/base/text.h"
#include "rowferry/source/lookup.h"
#include "sqlstate.h"

#define MESSAGE_MAX_BYTES ((size_t)64 * 1024)
#define CONNECT_TIMEOUT_MS 10000

/* libpq prints notices to stderr by itself otherwise. */
static void ignore_notice(void *context, const PGresult *result)
{
    (void)context;
    (void)result;
}

int64_t pg_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Keepalives stand before the URI, so that it may say otherwise; the password after it. */
static PGconn *begin(const struct pg *pg)
{
    const char *const names[] = {"keepalives",
                                 "keepalives_idle",
                                 "keepalives_interval",
                                 "keepalives_count",
                                 "tcp_user_timeout",
                                 "dbname",
                                 "password",
                                 "client_encoding",
                                 "application_name",
                                 NULL};
    const char *const values[] = {
        "1", "30", "10", "3", "60000", pg->uri, pg->password, "UTF8", pg->application_name, NULL};
    PGconn *conn = PQconnectStartParams(names, values, 1);
    if (conn != NULL) {
        PQsetNoticeReceiver(conn, ignore_notice, NULL);
        PQsetErrorVerbosity(conn, PQERRORS_VERBOSE);
    }
    return conn;
}

/* Runs the handshake until it is done, failed or out of time; true where out of time. */
static bool handshake(PGconn *conn, int64_t deadline_ms)
{
    PostgresPollingStatusType want = PGRES_POLLING_WRITING;
    while (PQstatus(conn) != CONNECTION_BAD && want != PGRES_POLLING_OK &&
           want != PGRES_POLLING_FAILED) {
        int64_t left_ms = deadline_ms - pg_now_ms();
        if (left_ms <= 0) {
            return true;
        }
        short events = want == PGRES_POLLING_READING ? POLLIN : POLLOUT;
        struct pollfd fd = {.fd = PQsocket(conn), .events = events};
        if (poll(&fd, 1, (int)(left_ms < 1000 ? left_ms : 1000)) > 0) {
            want = PQconnectPoll(conn);
        }
    }
    return false;
}

static int refused(const struct pg *pg, struct err *err)
{
    struct buf line;
    char sqlstate[6];
    const char *message = PQerrorMessage(pg->conn);
    enum err_class class = sqlstate_of_connection(message, sqlstate);
    buf_init(&line, MESSAGE_MAX_BYTES);
    sqlstate_one_line(&line, message, pg->password);
    err_set(err, class, "%s connect to the source: %s",
            class == ERR_TRANSIENT ? "could not" : "cannot", buf_text(&line));
    if (class == ERR_CONFIG) {
        err_hint(err, "see source.uri");
    } else if (strcmp(sqlstate, "28P01") == 0 || strstr(message, "no password supplied") != NULL) {
        err_hint(err, "see source.password");
    }
    memcpy(err->sqlstate, sqlstate, sizeof(sqlstate));
    buf_release(&line);
    return class;
}

static int set_up(struct pg *pg, struct err *err)
{
    struct buf sql;
    buf_init(&sql, MESSAGE_MAX_BYTES);
    buf_push_text(&sql, embedded_text(source_sql, "session"));
    buf_printf(&sql, "set lock_timeout = %" PRId64 ";", pg->lock_timeout_ms);
    int rc = pg_script(pg, buf_text(&sql), err);
    buf_release(&sql);
    if (rc < 0) {
        return err_context(err, "could not set the session up");
    }
    if (PQserverVersion(pg->conn) < 130000) {
        return err_set(err, ERR_REJECTED, "the source is PostgreSQL %d, 13 or newer is needed",
                       PQserverVersion(pg->conn) / 10000);
    }
    return 0;
}

int pg_connect(struct pg *pg, struct err *err)
{
    int64_t timeout_ms = pg->connect_timeout_ms > 0 ? pg->connect_timeout_ms : CONNECT_TIMEOUT_MS;
    PQfinish(pg->conn);
    pg->conn = begin(pg);
    if (pg->conn == NULL) {
        return err_set(err, ERR_TRANSIENT, "could not connect to the source: out of memory");
    }
    if (handshake(pg->conn, pg_now_ms() + timeout_ms)) {
        return err_set(err, ERR_TRANSIENT,
                       "could not connect to the source: no answer within %" PRId64 " ms",
                       timeout_ms);
    }
    if (PQstatus(pg->conn) != CONNECTION_OK) {
        return refused(pg, err);
    }
    PQsetErrorVerbosity(pg->conn, PQERRORS_DEFAULT);
    return set_up(pg, err);
}

int pg_recover(struct pg *pg, struct err *err)
{
    PGTransactionStatusType status = PQtransactionStatus(pg->conn);
    if (PQpipelineStatus(pg->conn) == PQ_PIPELINE_OFF &&
        (status == PQTRANS_INTRANS || status == PQTRANS_INERROR)) {
        struct err ignored;
        if (pg_script(pg, "rollback", &ignored) == 0) {
            return 0;
        }
    } else if (status == PQTRANS_IDLE && PQpipelineStatus(pg->conn) == PQ_PIPELINE_OFF) {
        return 0;
    }
    char *held = pg->held;
    pg->held = NULL;
    int rc = pg_connect(pg, err);
    if (rc == 0 && held != NULL) {
        rc = lookup_hold(pg, held, err);
    }
    if (pg->held == NULL) {
        pg->held = held;
        held = NULL;
    }
    free(held);
    return rc;
}

int pg_open(struct pg **out, const struct source_options *options, struct err *err)
{
    struct pg *pg = mem_zero(1, sizeof(*pg));
    *out = NULL;
    pg->uri = text_copy(options->uri);
    pg->password = options->password != NULL ? text_copy(options->password) : NULL;
    pg->application_name =
        text_copy(options->application_name != NULL ? options->application_name : "rowferry");
    pg->connect_timeout_ms = options->connect_timeout_ms;
    pg->lock_timeout_ms = options->lock_timeout_ms;
    int rc = pg_connect(pg, err);
    if (rc < 0) {
        pg_close(pg);
        return rc;
    }
    *out = pg;
    return 0;
}

void pg_close(struct pg *pg)
{
    if (pg == NULL) {
        return;
    }
    PQfinish(pg->conn);
    text_wipe(pg->password);
    free(pg->password);
    free(pg->uri);
    free(pg->application_name);
    free(pg->held);
    free(pg);
}
