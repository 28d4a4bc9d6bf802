/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Retention of former generations: the last ones are kept for a return, the others are removed.
 * Only generations with the pipeline's own _meta are touched.
 */
#pragma once

#include "generation/generation.h"

#define GENERATION_RETENTION_MAX 64 /* maximum number of generations of one pipeline */

/* Returns the former generation that was live last; null: none. */
const struct index_info *generation_retention_last(const struct index_info *all, size_t count,
                                                   const char *live);

/* Forgets former generations that are not in `all`, because another program removed them. They
 * keep nothing in the source any more. Failures are logged. */
void generation_retention_forget_gone(const struct generation *t, const struct index_info *all,
                                      size_t count);

struct kept {
    const char *live;   /* always kept */
    const char *former; /* was live until now, kept before all others; null: unknown */
    int64_t count;      /* number of former generations to keep */
};

/* Removes all other generations. Removed ones lose their consumer in the source at its next check
 * (consumer_retention.h); kept ones retain it like any former generation. Failures are logged and
 * left to the next rebuild. */
void generation_retention_apply(const struct generation *t, struct state *state,
                                const struct kept *kept, size_t *removed);

/* Records existing generations as former ones for a new state file, which does not know them.
 * Skips the live one (null: none) and the next one of a rebuild in progress. Failures are
 * logged. */
void generation_retention_note(const struct generation *t, const char *live);
