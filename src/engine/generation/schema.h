/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the generation's definition with the pipeline's current one, and handles the
 * difference. */
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

/* Stores the canonical text of the current definition. */
int schema_note(struct generation *t, struct err *err) MUST_CHECK;

/* Checks that documents can be listed by source_id (mapping_source_id_fault), else ERR_STATE. */
int schema_check_source_id(const struct generation *t, const struct index_info *at,
                           struct err *err) MUST_CHECK;

/* Checks that no template gave a new index an alias or such a source_id; else removes it. */
int schema_expect_plain(const struct generation *t, const struct index_info *at,
                        struct err *err) MUST_CHECK;
