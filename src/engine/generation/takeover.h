/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takeover: continues the live generation from the source's checkpoint backup after the state file
 * was lost.
 */
#pragma once

#include "generation/generation.h"

/*
 * For a pipeline without a generation. Takes over, with t->taken_over set and the state file
 * committed, if both hold: the alias points at our own index with the same source, table and
 * mapping, and the checkpoint backup is usable. Otherwise changes nothing and logs the reason.
 * Returns ERR_HELD if another process still writes to that index. The pipeline's other generations
 * are recorded as former ones, because a rebuild is lost with its state file.
 */
int takeover_try(struct generation *t, struct err *err) MUST_CHECK;

/*
 * For a pipeline whose state file may be outdated. Does the same if the alias points at another
 * index than the state file's, or if the backup is ahead of the state file; with RIVALS_ACTIVE also
 * if they are equal. Does not check whether the state file's own generation is writable otherwise.
 */
int takeover_newer(struct generation *t, struct err *err) MUST_CHECK;
