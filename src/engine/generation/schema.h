/* SPDX-License-Identifier: Apache-2.0 */
/* What the generation was built from against what the pipeline is now, and what is done about it.
 */
#ifndef ROWFERRY_ENGINE_SCHEMA_H
#define ROWFERRY_ENGINE_SCHEMA_H

#include "generation/generation.h"

/*
 * Compares with the checkpoint and leaves what was found in t->drift. What only adds is added to a
 * live index: first what the source keeps of the columns, then mapping and `_meta`, then the state
 * file; each may be repeated, so a crash between them is met by the next start. ERR_STATE, with
 * t->drift.kind DRIFT_REBUILD, where a rebuild is needed; with DRIFT_ADDITIVE where something may
 * be added but not here: the index is still filled, or t->observes.
 */
int schema_check(struct target *t, struct err *err) MUST_CHECK;

/* Keeps the words of what the pipeline is now, for later. */
int schema_note(struct target *t, struct err *err) MUST_CHECK;

#endif
