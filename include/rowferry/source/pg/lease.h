/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hold of a pipeline in the source, from the first round of a `run` to its last, whatever the
 * connections that read do meanwhile: an advisory lock on a session that has nothing else to do.
 *
 * It is a lease: the server ends the session, and with it the hold, when the other end is gone
 * (TCP keepalives: LEASE_GONE_MS) or has not said anything for LEASE_MS (PostgreSQL 14 or
 * newer; a process that hangs or was stopped). So a holder calls lease_beat every LEASE_BEAT_MS.
 *
 * Whoever has the hold may end the sessions of a run that lost it (source_options.fences).
 */
#ifndef ROWFERRY_SOURCE_LEASE_H
#define ROWFERRY_SOURCE_LEASE_H

#include "rowferry/source/pg/pg.h"

#define LEASE_BEAT_MS 5000
#define LEASE_MS 20000
#define LEASE_GONE_MS 11000

struct lease; /* opaque; for one thread */

/* Connects; on the primary where the source is a standby that has one. */
int lease_open(struct lease **out, const struct source_options *options,
               struct err *err) MUST_CHECK;
void lease_close(struct lease *h); /* null is allowed; gives it back */

int lease_try(struct lease *h, const char *name, bool *got, struct err *err) MUST_CHECK;
/* ERR_HELD: says who has it. */
int lease_who(struct lease *h, const char *name, struct err *err) MUST_CHECK;

/* What PostgreSQL shows of the session from now on. */
int lease_show_as(struct lease *h, const char *application_name, struct err *err) MUST_CHECK;

/* Says that it is here still. An error: the session is lost, and the hold with it. */
int lease_beat(struct lease *h, struct err *err) MUST_CHECK;

/* The same for a consumer of the change log that nobody reads for now: its entries stay. */
int lease_attend(struct lease *h, const char *consumer, struct err *err) MUST_CHECK;

/* Readable when the server has ended the session. */
int lease_fd(const struct lease *h);

#endif
