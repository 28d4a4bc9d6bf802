/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of generation.c: the comparison of definitions (schema.c), the takeover from the source's
 * checkpoint backup after the state file was lost (takeover.c), and a swap that was not recorded
 * (generation_live.c). */
#pragma once

#include "generation/generation.h"

/*
 * Compares with the checkpoint and leaves the result in t->drift. Adds an additive difference to a
 * live index in this order: columns in the source, mapping and `_meta`, state file. Each step may
 * be repeated, so the next start recovers from a crash in between. Returns ERR_STATE with
 * t->drift.kind DRIFT_REBUILD if a rebuild is needed. Returns it with DRIFT_ADDITIVE if nothing may
 * be added now, because the index is still being filled or t->observes is set.
 */
int schema_check(struct generation *t, struct err *err) MUST_CHECK;

/* Promotes a rebuilt generation that was swapped in but not recorded. The alias is
 * authoritative. */
int generation_live_promote(struct generation *t, const struct index_info *at,
                            struct err *err) MUST_CHECK;

/* Stores the canonical text of the current definition. */
int schema_note(struct generation *t, struct err *err) MUST_CHECK;

/* Checks that documents can be listed by source_id (mapping_source_id_fault), else ERR_STATE. */
int schema_check_source_id(const struct generation *t, const struct index_info *at,
                           struct err *err) MUST_CHECK;

/* Checks that no template gave a new index an alias or such a source_id; else removes it. */
int schema_expect_plain(const struct generation *t, const struct index_info *at,
                        struct err *err) MUST_CHECK;

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
