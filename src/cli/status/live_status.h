/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status of a pipeline of this process in JSON: the members of `status --json`, updated from
 * the status snapshot, and a member "live" with the rest of the snapshot.
 */
#pragma once

#include "rowferry/config/config.h"
#include "rowferry/engine/observe/status_snapshot.h"

/* Appends one object. Reads the state file. If that fails, "state_file" contains the reason, and
 * the other members come from the status snapshot alone. */
void live_status_push_json(struct buf *out, const struct config *config,
                           const struct pipeline_config *pipeline,
                           const struct status_snapshot_view *view);

/* Appends the members of "live". Pure. */
void live_status_push_board(struct buf *out, const struct status_snapshot_view *view,
                            int64_t now_us);
