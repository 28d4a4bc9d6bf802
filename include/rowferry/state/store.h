/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state file: one SQLite database, a connection per pipeline.
 *
 * Rollback journal, synchronous=FULL, BEGIN IMMEDIATE, 10 s busy time-out, application_id and
 * user_version; migrations/state in order, inside one transaction. A file that is damaged, foreign
 * (another application_id) or newer (a higher user_version) is ERR_STATE with what to do; one that
 * cannot be opened or written (directory missing, read-only, disk full) says so by path. Mode 0600;
 * one that somebody else may have had a hand in is ERR_STATE, too.
 */
#ifndef ROWFERRY_STATE_STORE_H
#define ROWFERRY_STATE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rowferry/base/err.h"

struct state; /* opaque: one pipeline's connection */

/* Opens (creating it where absent) and enters the pipeline. */
int state_open(struct state **out, const char *path, const char *pipeline,
               struct err *err) MUST_CHECK;
/* The same without creating or migrating: for status. *out null where there is no file. Of a
 * file of an older version a copy is read, which sees nothing that is written later. */
int state_open_read_only(struct state **out, const char *path, const char *pipeline,
                         struct err *err) MUST_CHECK;
void state_close(struct state *s); /* null is allowed */

#endif
