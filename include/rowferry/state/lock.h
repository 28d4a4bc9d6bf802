/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One lock holder per pipeline on this host: an open file description lock on a byte range of
 * `<state>.lock`.
 *
 * The kernel releases the lock when the process dies. The locked bytes (line n of the file for
 * pipeline n) describe the holder, for the error message of a second process.
 */
#pragma once

#include "rowferry/base/err.h"
#include "rowferry/state/store.h"

/* Takes the lock until state_close. Files again the requests that a dead holder had taken.
 * `command` is "sync", "run" ... Returns ERR_HELD if the pipeline is locked: `pipeline "articles"
 * is held by process 4711 ("sync" since 2026-11-21T10:00:00Z on host x)`. */
int lock_take(struct state *s, const char *command, int64_t wall_us, struct err *err) MUST_CHECK;

/* Sets *held if the pipeline is locked now, and writes the description to `holder` (`size` bytes);
 * for status. */
int lock_look(struct state *s, bool *held, char *holder, size_t size, struct err *err) MUST_CHECK;
