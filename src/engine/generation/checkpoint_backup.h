/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the source is told of the state file, so that one that is lost costs nothing: position,
 * clock and open dead letters, which belong together.
 */
#ifndef ROWFERRY_ENGINE_CHECKPOINT_BACKUP_H
#define ROWFERRY_ENGINE_CHECKPOINT_BACKUP_H

#include <stdbool.h>
#include <stddef.h>

#include "rowferry/base/err.h"

struct intake;
struct loop;

#define MIRROR_LETTERS_BYTES ((size_t)64 << 20)

/* Between pages. now: do not put it off. */
int mirror_tell(struct loop *l, bool now, struct err *err) MUST_CHECK;

/* Logs once that the source could not be pruned, until it can: nothing is lost but space there. */
void mirror_tell_unpruned(struct intake *r);

#endif
