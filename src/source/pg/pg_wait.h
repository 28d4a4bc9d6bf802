/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for the server, never inside libpq.
 *
 * A wait ends with the next result, when the connection is lost, when more bytes have come than
 * the statement may give, when the server is silent, or when the process is asked to stop.
 * Silent is a server from which nothing came for pg->silence_ms although its session does not work
 * on the statement any more: a second connection asks for that, so a statement may take as long as
 * it needs. After a stop, silence of PG_STOP_MS in all is enough. The connection is then closed.
 */
#ifndef ROWFERRY_SOURCE_PG_WAIT_H
#define ROWFERRY_SOURCE_PG_WAIT_H

#include "pg/pg_private.h"

#define PG_SILENCE_MS 20000
#define PG_STOP_MS 2000
#define PG_STOP_LATE_MS 500                      /* of a connection that begins after the stop */
#define PG_ANSWER_MAX_BYTES ((uint64_t)12 << 20) /* of a small statement's answer on the wire */

/* A statement is sent now: its silence and its bytes are counted from here.
 * most_bytes 0: no limit. */
void pg_wait_begin(struct pg *pg, uint64_t most_bytes);

/* Takes the next result, null at the end of a statement's results. */
int pg_take(struct pg *pg, PGresult **out, struct err *err) MUST_CHECK;

/* Sends all that libpq holds back. */
int pg_flush(struct pg *pg, struct err *err) MUST_CHECK;

/* Reads what has come without waiting. Returns 1 if a result can be taken, 0 if not yet. */
int pg_hear(struct pg *pg, struct err *err) MUST_CHECK;

/* Waits for an event of the handshake, at most until deadline_ms. Returns true if it came, false at
 * the deadline, if the process is asked to stop, or if the server has sent more than 1 MiB. */
bool pg_wait_handshake(struct pg *pg, PGconn *conn, short events, int64_t deadline_ms);

/* Closes the connection of a server that is not believed any more. Returns ERR_TRANSIENT. */
int pg_give_up(struct pg *pg, struct err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
