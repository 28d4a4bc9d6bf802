/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for the server in short slices; checks the stop flag, silence and the byte limit. */
#include "pg/pg_wait.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "rowferry/base/stop.h"

#define HANDSHAKE_MAX_BYTES ((uint64_t)1 << 20)
#define SLICE_MS 100 /* delay until a stop request is noticed */
#define REASON_BYTES 200
#define TOO_MANY_CONNECTIONS "53300"
#define PG_UTF8 6 /* number of the encoding (PostgreSQL: mb/pg_wchar.h) */

int pg_give_up(struct pg *pg, struct err *err, const char *format, ...)
{
    char reason[REASON_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof(reason), format, arguments);
    va_end(arguments);
    PQfinish(pg->conn); /* never waits, because the connection is non-blocking */
    pg->conn = NULL;
    return err_set(err, ERR_TRANSIENT, "%s", reason);
}

/* Returns the bytes that the connection has received; 0 on a Unix socket, where they are
 * unknown. */
static uint64_t pg_wait_received_bytes(const struct pg *pg)
{
    struct tcp_info info;
    socklen_t len = sizeof(info);
    memset(&info, 0, sizeof(info));
    return getsockopt(PQsocket(pg->conn), IPPROTO_TCP, TCP_INFO, &info, &len) == 0
               ? info.tcpi_bytes_received
               : 0;
}

void pg_wait_begin(struct pg *pg, uint64_t most_bytes)
{
    pg->silence.heard_ms = pg_now_ms();
    pg->answer.most_bytes = most_bytes;
    pg->answer.received = most_bytes > 0 && pg->conn != NULL ? pg_wait_received_bytes(pg) : 0;
}

static int pg_wait_count_bytes(struct pg *pg, struct err *err)
{
    if (pg->answer.most_bytes == 0 ||
        pg_wait_received_bytes(pg) - pg->answer.received <= pg->answer.most_bytes) {
        return 0;
    }
    return pg_give_up(pg, err, "the source answered with more than %" PRIu64 " MiB",
                      pg->answer.most_bytes >> 20);
}

/* Asks over another connection if the server still works on this session's statement. A session
 * that waits for its client to read or write does not count: its data does not get through. */
static bool pg_wait_is_at_work(const struct pg *pg)
{
    struct err why;
    struct pg *probe;
    bool works = false;
    if (pg->probes) {
        return false;
    }
    if (pg_open_probe(&probe, pg, &why) < 0) {
        return strcmp(why.sqlstate, TOO_MANY_CONNECTIONS) == 0; /* it is alive */
    }
    (void)!pg_query_bool(
        probe,
        "select exists (select from pg_catalog.pg_stat_activity where pid = $1::integer "
        "and state in ('active', 'disabled') and wait_event_type is distinct from 'Client')",
        PG_PARAMS(PG_INT(pg->backend)), &works, &why);
    pg_close(probe);
    return works;
}

/* Called when nothing was received for `waited_ms`. */
static int pg_wait_meet_silence(struct pg *pg, int64_t waited_ms, struct err *err)
{
    if (stop_asked()) {
        pg->silence.stopping_ms += waited_ms;
        if (pg->silence.stopping_ms >= PG_STOP_MS) {
            return pg_give_up(pg, err, "stopped while the source did not answer");
        }
    }
    int64_t silence_ms = pg_now_ms() - pg->silence.heard_ms;
    if (silence_ms < pg->silence.limit_ms) {
        return 0;
    }
    if (!pg_wait_is_at_work(pg)) {
        pg_give_up(pg, err, "the source has been silent for %" PRId64 " s", silence_ms / 1000);
        return err_hint(err, "check the server, and any proxy or pooler before it");
    }
    pg->silence.heard_ms = pg_now_ms();
    return 0;
}

/* Waits for one slice of time. */
static int pg_wait_slice(struct pg *pg, short events, struct err *err)
{
    struct pollfd fd = {.fd = PQsocket(pg->conn), .events = events};
    int ready = poll(&fd, 1, SLICE_MS);
    if (ready > 0 && fd.revents != POLLOUT) {
        pg->silence.heard_ms = pg_now_ms();
    }
    return ready > 0 ? 0 : pg_wait_meet_silence(pg, ready == 0 ? SLICE_MS : 0, err);
}

/* Sends and receives available data. Returns 1 if libpq still has data to send. */
static int pg_wait_exchange(struct pg *pg, struct err *err)
{
    int unsent = PQflush(pg->conn);
    if (unsent < 0 || PQconsumeInput(pg->conn) == 0) {
        return pg_fail(pg, NULL, err);
    }
    int rc = pg_wait_count_bytes(pg, err);
    return rc < 0 ? rc : unsent;
}

int pg_flush(struct pg *pg, struct err *err)
{
    int unsent = pg->conn != NULL ? PQflush(pg->conn) : -1;
    while (unsent == 1) {
        int rc = pg_wait_slice(pg, POLLIN | POLLOUT, err);
        unsent = rc == 0 ? pg_wait_exchange(pg, err) : rc;
        if (unsent < 0) {
            return unsent;
        }
    }
    return unsent == 0 ? 0 : pg_fail(pg, NULL, err);
}

int pg_take(struct pg *pg, PGresult **out, struct err *err)
{
    *out = NULL;
    int unsent = pg->conn != NULL ? PQflush(pg->conn) : 0;
    while (PQisBusy(pg->conn) != 0) {
        int rc = pg_wait_slice(pg, unsent == 1 ? POLLIN | POLLOUT : POLLIN, err);
        unsent = rc == 0 ? pg_wait_exchange(pg, err) : rc;
        if (unsent < 0) {
            return unsent;
        }
    }
    *out = PQgetResult(pg->conn);
    bool still = pg->conn == NULL || !pg->set_up || PQclientEncoding(pg->conn) == PG_UTF8;
    if (!still) { /* sqlquote relies on it */
        PQclear(*out);
        *out = NULL;
        return pg_give_up(pg, err, "code in the source changed the session's client_encoding");
    }
    return 0;
}

int pg_hear(struct pg *pg, struct err *err)
{
    struct pollfd fd = {.fd = PQsocket(pg->conn), .events = POLLIN};
    if (PQisBusy(pg->conn) == 0) {
        return 1;
    }
    bool heard = poll(&fd, 1, 0) > 0;
    int unsent = pg_wait_exchange(pg, err);
    if (unsent < 0) {
        return unsent;
    }
    if (PQisBusy(pg->conn) == 0) {
        return 1;
    }
    if (heard) {
        pg->silence.heard_ms = pg_now_ms();
        return 0;
    }
    return pg_wait_meet_silence(pg, 0, err);
}

bool pg_wait_handshake(struct pg *pg, PGconn *conn, short events, int64_t deadline_ms)
{
    struct pollfd fd = {.fd = PQsocket(conn), .events = events};
    while (pg_now_ms() < deadline_ms && pg->silence.stopping_ms < PG_STOP_MS) {
        int ready = poll(&fd, 1, SLICE_MS);
        if (ready > 0) { /* libpq keeps all settings that a server sends before it is ready */
            return pg_wait_received_bytes(pg) <= HANDSHAKE_MAX_BYTES;
        }
        pg->silence.stopping_ms += stop_asked() ? SLICE_MS : 0;
    }
    return false;
}
