/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The readiness of a pipeline. Pure.
 *
 * A pipeline is ready if it follows its source, stands by for another holder, or was paused by a
 * person. It is not ready if it still builds its index, waits for a server, is stopped by the
 * guard, or is stalled.
 */
#pragma once

#include <stdbool.h>

#include "rowferry/base/buf.h"
#include "rowferry/engine/observe/status_snapshot.h"

bool health_ready(const struct status_snapshot_view *v);

/* Appends the state as text: "following", "stalled (held): a transaction of ..." */
void health_push_words(struct buf *out, const struct status_snapshot_view *v);
