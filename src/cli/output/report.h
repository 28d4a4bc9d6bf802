/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a command that sends: its exit code and its result.
 */
#ifndef ROWFERRY_CLI_REPORT_H
#define ROWFERRY_CLI_REPORT_H

#include "output/progress_line.h"
#include "output/result.h"
#include "rowferry/daemon/session.h"

/* Returns the exit code of the work that returned rc (negative if it failed). dead_letters_ok: open
 * dead letters are no reason for EXIT_DEAD_LETTERS. */
enum exit_code report_exit_code(bool dead_letters_ok, const struct pipeline_result *result, int rc);

/* Result and error, for people or as JSON; exit_code gets worse where it cannot be written. */
void report_tell(bool json, struct sync_outcome *o, struct progressline *progress);
/* The same with a result of the caller's own words. */
void report_write(const struct buf *result, struct sync_outcome *o, struct progressline *progress);

#endif
