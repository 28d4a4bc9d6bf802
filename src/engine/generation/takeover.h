/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state file that is lost: the live generation is gone on with from what the source keeps of it.
 */
#ifndef ROWFERRY_ENGINE_TAKEOVER_H
#define ROWFERRY_ENGINE_TAKEOVER_H

#include "generation/generation.h"

/*
 * For a pipeline without a generation. t->taken_over where the alias points at an index of ours
 * that was built from the same source, table and mapping, and reading can go on from the source's
 * mirror: then the state file says so too. Else nothing has changed, and the log says why. ERR_HELD
 * where somebody else still writes to that index. The pipeline's other generations are noted as
 * former ones: a rebuild that was under way with the lost state file is none any more.
 */
int takeover_try(struct target *t, struct err *err) MUST_CHECK;

/*
 * For a pipeline whose state file may be old: the same, where the alias points at another index
 * than the state file's, or the source's mirror is ahead of it; t->stood_by: not behind it. Whether
 * its generation can be written else is for others to say.
 */
int takeover_newer(struct target *t, struct err *err) MUST_CHECK;

#endif
