/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One holder per pipeline on this host: a byte range of `<state>.lock`, open file description lock.
 *
 * The kernel drops it when the process dies, however it dies. Who holds it is written in the locked
 * bytes (line n of the file is pipeline n), for the message of the second.
 */
#ifndef ROWFERRY_STATE_LOCK_H
#define ROWFERRY_STATE_LOCK_H

#include "rowferry/base/err.h"
#include "rowferry/state/store.h"

/* Takes the lock until state_close; requests that a dead holder had taken are filed again.
 * ERR_HELD: `pipeline "articles" is held by process 4711 ("sync" since 2026-11-21T10:00:00Z on host
 * x)`. command: "sync", "run" ... */
int lock_take(struct state *s, const char *command, int64_t wall_us, struct err *err) MUST_CHECK;

/* Whether somebody holds it now, for status; holder (size bytes) gets the description. */
int lock_look(struct state *s, bool *held, char *holder, size_t size, struct err *err) MUST_CHECK;

#endif
