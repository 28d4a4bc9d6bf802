/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects writes to the state file without polling, so that a process can sleep until a request
 * arrives. Writes of this process are reported as well. Writes of another host, over a shared file
 * system, are not, so callers must still poll occasionally.
 */
#pragma once

#include <stdbool.h>

#include "rowferry/state/store.h"

/* Returns a descriptor that becomes readable after a write, or -1. The caller closes it. */
int notice_open(const struct state *s);

/* Returns true if there was a write since the last call. */
bool notice_take(int fd);
