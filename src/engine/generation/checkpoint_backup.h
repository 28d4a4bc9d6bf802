/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoint backup: a copy of the state file's position, clock and open dead letters in the
 * source. The three belong together. With it, nothing is lost if the state file is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rowferry/base/err.h"

struct source_reader;
struct loop;

#define CHECKPOINT_BACKUP_LETTERS_BYTES ((size_t)64 << 20)

/* Writes the backup. Called between pages. now: do not postpone it. */
int checkpoint_backup_write(struct loop *l, bool now, struct err *err) MUST_CHECK;

/* Logs once that the source could not be pruned, until it can be. Only disk space is lost there. */
void checkpoint_backup_write_unpruned(struct source_reader *r);
