/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of the generations that are not live any more the last ones stay, so that they can be gone back
 * to; the others are removed. Only what is the pipeline's own, by its _meta.
 */
#ifndef ROWFERRY_ENGINE_GENERATION_RETENTION_H
#define ROWFERRY_ENGINE_GENERATION_RETENTION_H

#include "generation/generation.h"

#define KEEP_GENERATIONS_MOST 64 /* of a pipeline, at a time */

/* Of those that are not live, the one that was live last; null: there is none. */
const struct index_info *keep_last(const struct index_info *all, size_t count, const char *live);

/* A former generation that none of these is was removed by somebody: it cannot be gone back to, and
 * keeps nothing in the source. What fails is logged. */
void keep_forget_gone(const struct target *t, const struct index_info *all, size_t count);

struct kept {
    const char *live;   /* stays in any case */
    const char *former; /* was live until now, and stays before all others; null: nobody knows */
    int64_t count;      /* of those that are not live */
};

/* What is removed keeps nothing in the source either, from the next look on (former.h), and what
 * stays keeps it as long as any former one. What fails is logged and left to the next rebuild. */
void keep_only(const struct target *t, struct state *state, const struct kept *kept,
               size_t *removed);

/* A state file that begins anew knows of no former generation, nor of one that was being built:
 * those that there are, but for the live one (null: none) and the next one of a rebuild under way,
 * are noted with what they keep in the source. What fails is logged. */
void keep_note(const struct target *t, const char *live);

#endif
