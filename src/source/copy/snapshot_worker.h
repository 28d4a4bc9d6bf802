/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot worker: reads ranges of an initial load for another change log, the leader, with a
 * connection of its own.
 */
#pragma once

#include "changelog/changelog_private.h"

/* Opens a connection like the leader's, and looks the table up. */
int snapshot_worker_open(struct changelog **out, const struct changelog *leader,
                         struct err *err) MUST_CHECK;

/* Begins a page for the worker's range. Returns 1 if it cannot now, because a lock request is
 * queued or the table has changed. */
int snapshot_worker_begin(struct changelog *c, struct err *err) MUST_CHECK;
