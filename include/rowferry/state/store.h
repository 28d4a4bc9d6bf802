/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state file: one SQLite database, with one connection per pipeline.
 *
 * It uses a rollback journal, synchronous=FULL, BEGIN IMMEDIATE, a busy time-out of 10 s,
 * application_id and user_version. migrations/state are applied in order in one transaction. A file
 * that is damaged, foreign (another application_id) or newer (a higher user_version) is ERR_STATE
 * with a hint. An error on opening or writing (directory missing, read-only, disk full) names the
 * path. The mode is 0600; a file that another user may have changed is ERR_STATE, too.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rowferry/base/err.h"

struct state; /* opaque: one pipeline's connection */

/* Opens the file, creating it if it does not exist, and adds the pipeline. */
int state_open(struct state **out, const char *path, const char *pipeline,
               struct err *err) MUST_CHECK;
/* The same without creating or migrating, for status. *out is null if the file does not exist. A
 * file of an older version is read from a copy, which does not see later writes. */
int state_open_read_only(struct state **out, const char *path, const char *pipeline,
                         struct err *err) MUST_CHECK;
/* The same without examining the whole file, whose cost grows with its size: for a process that has
 * examined it, and reads it often. */
int state_open_again(struct state **out, const char *path, const char *pipeline,
                     struct err *err) MUST_CHECK;
/* Makes all later reads see one state of the file and lock it once, not each. Writers wait until
 * state_close, so read quickly. */
int state_read_at_once(struct state *s, struct err *err) MUST_CHECK;
void state_close(struct state *s); /* null is allowed */
