/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a command that sends: its exit code and its result.
 */
#ifndef ROWFERRY_CLI_REPORT_H
#define ROWFERRY_CLI_REPORT_H

#include "arguments.h"
#include "output/progress_line.h"
#include "output/result.h"
#include "rowferry/daemon/session.h"

/* rc: of the work, negative where it failed. */
enum exit_code report_exit_code(const struct arguments *a, const struct pipeline_result *result,
                                int rc);

/* Result and error, for people or as JSON; exit_code gets worse where it cannot be written. */
void report_tell(const struct arguments *a, struct sync_outcome *o, struct progressline *progress);
/* The same with a result of the caller's own words. */
void report_write(const struct buf *result, struct sync_outcome *o, struct progressline *progress);

#endif
