/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a pipeline does what it is there for. Pure.
 *
 * Ready is one that follows, stands by for another holder, or was paused by a person; not one that
 * still builds its index, waits for a server, is stopped by the guard or stalled.
 */
#ifndef ROWFERRY_SERVE_HEALTH_H
#define ROWFERRY_SERVE_HEALTH_H

#include <stdbool.h>

#include "rowferry/base/buf.h"
#include "rowferry/engine/observe/status_snapshot.h"

bool health_ready(const struct board_view *v);

/* "following", "stalled (held): a transaction of ..." */
void health_push_words(struct buf *out, const struct board_view *v);

#endif
