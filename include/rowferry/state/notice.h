/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Noticing that somebody has written the state file, without asking it: what waits for a request
 * sleeps until then. Writes of this process are noticed as well; those of another host, over a
 * shared file system, are not, so whoever relies on it still asks now and then.
 */
#ifndef ROWFERRY_STATE_NOTICE_H
#define ROWFERRY_STATE_NOTICE_H

#include <stdbool.h>

#include "rowferry/state/store.h"

/* A descriptor that is readable after a write, for the caller to close; -1 where there is none. */
int notice_open(const struct state *s);

/* Whether there was one since the last time. */
bool notice_take(int fd);

#endif
