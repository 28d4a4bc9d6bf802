/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The leases of pipelines in the source. A `run` holds that of a pipeline from the first round to
 * the last, even if its other connections are lost. A lease is an advisory lock. All leases of a
 * process are on one session, which is for them alone.
 *
 * The server ends the session, and thus the leases, if the other end is gone (TCP keepalives:
 * LEASE_GONE_MS). It also does so after LEASE_MS without a message (PostgreSQL 14 or newer), when
 * the process hangs or was stopped. So the holder must call lease_beat every LEASE_BEAT_MS.
 *
 * The lease holder may end the sessions of a run that has lost the lease (source_options.fences).
 */
#pragma once

#include "rowferry/source/pg/pg.h"

#define LEASE_BEAT_MS 5000
#define LEASE_MS 20000
#define LEASE_GONE_MS 11000

struct lease; /* opaque; for one thread */

/* Connects; if the source is a standby with a configured primary, to the primary. */
int lease_open(struct lease **out, const struct source_options *options,
               struct err *err) MUST_CHECK;
void lease_close(struct lease *h); /* null is allowed; releases all leases */

int lease_try(struct lease *h, const char *name, bool *got, struct err *err) MUST_CHECK;
/* Returns ERR_HELD, which names the lease holder. */
int lease_who(struct lease *h, const char *name, struct err *err) MUST_CHECK;

int lease_release(struct lease *h, const char *name, struct err *err) MUST_CHECK;

/* Shows to consumer_lock_waiting that the session waits for the lease of a pipeline, or not. */
int lease_show_waiting(struct lease *h, const char *pipeline, bool waits,
                       struct err *err) MUST_CHECK;

/* Renews the leases (heartbeat). An error means that the session and the leases are lost. */
int lease_beat(struct lease *h, struct err *err) MUST_CHECK;

/* Marks a consumer of the change log as present although it is not being read, so that its entries
 * are kept. */
int lease_attend(struct lease *h, const char *consumer, struct err *err) MUST_CHECK;

/* Readable when the server has ended the session. */
int lease_fd(const struct lease *h);
