/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The advisory lock of a consumer. It keeps a second holder on another host away. A lock belongs to
 * the session of `pg` and is released when the connection ends.
 */
#pragma once

#include "rowferry/source/pg/pg.h"

/* Takes the advisory lock of a pipeline's consumer on this session. Retries for at most three
 * seconds, because the server may not have noticed yet that an earlier holder has ended. ERR_HELD
 * names the lock holder (pid, client address, application, start). */
int consumer_lock_hold(struct pg *pg, const char *consumer, struct err *err) MUST_CHECK;

/* Takes a lock for a pipeline and its destination, before a consumer exists. Otherwise two hosts
 * that begin an initial load at once would each make a generation. A session can have one lock of
 * each kind. */
int consumer_lock_claim(struct pg *pg, const char *name, struct err *err) MUST_CHECK;

/* Removes a consumer that is not used any more, with its entries in the change log. Returns
 * ERR_HELD if another session has its lock. */
int consumer_lock_forget(struct pg *pg, const char *consumer, struct err *err) MUST_CHECK;
/* Tries to take the consumer's lock without looking for the holder and without ending a session. */
int consumer_lock_try(struct pg *pg, const char *consumer, bool *got, struct err *err) MUST_CHECK;
/* Returns ERR_HELD with the lock holder, as consumer_lock_hold does. */
int consumer_lock_who(struct pg *pg, const char *consumer, struct err *err) MUST_CHECK;
/* Releases what consumer_lock_try has taken. */
int consumer_lock_release(struct pg *pg, const char *consumer, struct err *err) MUST_CHECK;

/* A session that waits for a pipeline has a lock which shows that, and which several sessions can
 * have. It excludes nobody. */
int consumer_lock_show_waiting(struct pg *pg, const char *pipeline, bool waits,
                               struct err *err) MUST_CHECK;
/* Appends the sessions that wait for a pipeline, for people; nothing if there is none. */
int consumer_lock_waiting(struct pg *pg, const char *pipeline, struct buf *out,
                          struct err *err) MUST_CHECK;
