/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pipeline of this very process, told in JSON: what `status --json` says of it, with what its
 * board knows better, and a member "live" with the rest of the board.
 */
#ifndef ROWFERRY_CLI_LIVE_STATUS_H
#define ROWFERRY_CLI_LIVE_STATUS_H

#include "rowferry/config/config.h"
#include "rowferry/engine/observe/status_snapshot.h"

/* One object. Reads the state file; where that fails, "state_file" says why and the board is all
 * there is. */
void live_push_json(struct buf *out, const struct config *config,
                    const struct pipeline_config *pipeline, const struct board_view *view);

/* The members of "live". Pure. */
void live_push_board(struct buf *out, const struct board_view *view, int64_t now_us);

#endif
