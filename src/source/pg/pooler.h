/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connection poolers in front of the source, such as PgBouncer.
 *
 * In transaction and statement mode a pooler lends one server connection to many clients in turn.
 * Settings, locks and prepared statements of a session would reach those clients. So each
 * connection is examined before it changes anything, and such a mode is refused.
 *
 * Is there a pooler? The handshake names the server process for cancel requests (BackendKeyData).
 * PgBouncer, Supavisor and Neon's proxy send a number of their own there. pg_backend_pid() returns
 * PostgreSQL's. A direct connection has the same number in both, and nothing else is asked.
 *
 * In session mode? Two steps:
 *
 * 1. Ask for the process once more, and then over a second connection, for four rounds. It is
 *    shared if the first has another one than before, or the second has the same. If no other
 *    client uses the pool, the first round finds every shared one. PgBouncer lends the connection
 *    that was returned last, so the second gets ours. With server_round_robin it lends them in
 *    turn: the first gets another one, or the second ours if there is only one. In a pool of five
 *    with one to eight busy clients, a round missed 6 of 143. This step changes nothing.
 * 2. Several PgBouncers may share a port (so_reuseport), and the second connection may lead to
 *    another one. So a session must be shown: the connection listens on a channel, and the second
 *    one notifies it. PgBouncer and Supavisor drop a notification for a server connection that no
 *    client has at the time ("got packet 'A' from server when not linked"), so an idle client
 *    receives it in session mode only. In any case UNLISTEN follows, until it has reached the
 *    server process. A standby cannot LISTEN: behind a pooler it is refused.
 *
 * A pooler does not have to clean a server connection up when its client goes, so pooler_leave
 * does. Sources: PgBouncer 1.18 and 1.25 (src/server.c, src/objects.c), Supavisor
 * (lib/supavisor/db_handler.ex), Neon (proxy/src/cancellation.rs).
 */
#pragma once

#include "pg/pg_private.h"

/* Asks for the server process and whether it is in recovery. Changes nothing, in any mode. */
int pooler_ask(struct pg *pg, int *backend, bool *in_recovery, struct err *err) MUST_CHECK;

/* Examines a new connection whose server process is known. Sets pg->pooled if there is a pooler in
 * session mode. Returns ERR_REJECTED if there is a pooler that is not shown to be in it. */
int pooler_check(struct pg *pg, struct err *err) MUST_CHECK;

/* Before a connection is closed: if a pooler keeps it for other clients, resets the session. */
void pooler_leave(struct pg *pg);
