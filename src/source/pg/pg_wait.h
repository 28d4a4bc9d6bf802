/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for the server with poll(), never inside libpq.
 *
 * A wait ends with the next result, when the connection is lost, when the statement has returned
 * too many bytes, when the server is silent, or when the process is asked to stop. A server is
 * silent if nothing was received for pg->silence_ms and its session no longer works on the
 * statement. A second connection checks the latter, so a statement may take any time. After a stop
 * request, PG_STOP_MS of silence in total is enough. The connection is then closed.
 */
#pragma once

#include "pg/pg_private.h"

#define PG_SILENCE_MS 20000
#define PG_STOP_MS 2000
#define PG_STOP_LATE_MS 500                      /* if opened after the stop request */
#define PG_ANSWER_MAX_BYTES ((uint64_t)12 << 20) /* of a small statement's result on the wire */

/* Marks the sending of a statement: its silence and its bytes are counted from here.
 * most_bytes 0: no limit. */
void pg_wait_begin(struct pg *pg, uint64_t most_bytes);

/* Takes the next result; null at the end of a statement's results. */
int pg_take(struct pg *pg, PGresult **out, struct err *err) MUST_CHECK;

/* Sends all data that libpq has buffered. */
int pg_flush(struct pg *pg, struct err *err) MUST_CHECK;

/* Reads available input without waiting. Returns 1 if a result can be taken, 0 if not yet. */
int pg_hear(struct pg *pg, struct err *err) MUST_CHECK;

/* Waits for an event of the handshake, at most until deadline_ms. Returns true if it came. Returns
 * false at the deadline, if the process is asked to stop, or if the server has sent more than 1
 * MiB. */
bool pg_wait_handshake(struct pg *pg, PGconn *conn, short events, int64_t deadline_ms);

/* Closes the connection to a server that has violated a limit or the protocol. Returns
 * ERR_TRANSIENT. */
int pg_give_up(struct pg *pg, struct err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
