/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The advisory lock that keeps a second holder on another host away.
 */
#ifndef ROWFERRY_SOURCE_CONSUMER_LOCK_H
#define ROWFERRY_SOURCE_CONSUMER_LOCK_H

#include "rowferry/source/pg/pg.h"

/* Tries the advisory lock of a pipeline's consumer on this session, for three seconds at the most:
 * the server may not have noticed yet that a holder has ended, well or killed. ERR_HELD names the
 * session that has it (pid, client address, application, since). Freed with the connection. */
int lookup_hold(struct pg *pg, const char *consumer, struct err *err) MUST_CHECK;

/* The same for a pipeline and what it fills, before there is a consumer: two hosts that begin a
 * first load at once would make a generation each. A session has one of each. */
int lookup_claim(struct pg *pg, const char *name, struct err *err) MUST_CHECK;

/* Removes a consumer that will not come again, with what it keeps of the change log. ERR_HELD where
 * another session has its lock: it is somebody's. */
int lookup_forget(struct pg *pg, const char *consumer, struct err *err) MUST_CHECK;
/* The same without looking who has it, and ending nobody's session. */
int lookup_try(struct pg *pg, const char *consumer, bool *got, struct err *err) MUST_CHECK;
/* ERR_HELD, as lookup_hold has it. */
int lookup_who(struct pg *pg, const char *consumer, struct err *err) MUST_CHECK;

#endif
