/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoint backup: a copy of the state file's position, clock and open dead letters in the
 * source. The three belong together. With it, nothing is lost if the state file is.
 */
#pragma once

#include "core/source_reader.h"
#include "rowferry/base/buf.h"

struct checkpoint_backup {
    struct source_reader *reader;
    char *position;     /* owned: of the last commit, of this run or an earlier one; null: none */
    struct buf letters; /* dead letters as text */
    uint64_t revision;  /* of the dead letters in `letters`; 0: none yet */
    int64_t filled_us;  /* monotonic: when `letters` was filled */
};

void checkpoint_backup_init(struct checkpoint_backup *b, struct source_reader *reader);
void checkpoint_backup_release(struct checkpoint_backup *b);

/* Replaces the position. Takes ownership. */
void checkpoint_backup_take(struct checkpoint_backup *b, char *position);

/* Writes the backup. Called between pages. now: do not postpone it. */
int checkpoint_backup_write(struct checkpoint_backup *b, bool now, struct err *err) MUST_CHECK;
