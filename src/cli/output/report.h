/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a command that sends documents: its exit code and its result.
 */
#pragma once

#include "output/progress_line.h"
#include "output/result.h"
#include "rowferry/daemon/session.h"

/* Returns the exit code of a piece of work that returned `rc` (negative if it failed). If
 * `dead_letters_ok`, open dead letters are no reason for EXIT_DEAD_LETTERS. */
enum exit_code report_exit_code(bool dead_letters_ok, const struct pipeline_result *result, int rc);

/* Prints the result and the error, as text or as JSON. Worsens exit_code if they cannot be
 * written. */
void report_print(bool json, struct sync_outcome *o, struct progress_line *progress);
/* Does the same with a result text of the caller. */
void report_write(const struct buf *result, struct sync_outcome *o, struct progress_line *progress);
