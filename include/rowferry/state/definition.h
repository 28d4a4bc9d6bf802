/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a fingerprint is of, kept beside it, so that a difference can be told line by line; and what
 * was added to the mapping of a live generation.
 *
 * Definitions are kept by their fingerprint alone: whichever generation has it, it means the same.
 * Of what was added, the generation's name is kept too, so that another one that goes live lacks
 * nothing and one that is gone back to lacks what it lacked.
 */
#ifndef ROWFERRY_STATE_DEFINITION_H
#define ROWFERRY_STATE_DEFINITION_H

#include "rowferry/base/err.h"
#include "rowferry/state/store.h"

/* Keeps the words where the fingerprint has none yet; the oldest that nobody uses go. */
int definition_note(struct state *s, const char *fingerprint, const char *words,
                    struct err *err) MUST_CHECK;

/* *words null where they are not known; the caller frees them. */
int definition_look(struct state *s, const char *fingerprint, char **words,
                    struct err *err) MUST_CHECK;

/* What the live generation has from now on. */
struct extension {
    const char *mapping_fingerprint;
    const char *table_fingerprint;
    const char *const *properties; /* that were added: "body", "title.raw" */
    size_t count;
    int64_t wall_us;
};

/* In one transaction: the checkpoint's fingerprints, and that older documents lack the properties.
 * Position, versions, dead letters stay. ERR_STATE where no generation is live. */
int extension_note(struct state *s, const struct extension *extension, struct err *err) MUST_CHECK;

/* What the generation's older documents lack. */
struct lacking {
    char *properties; /* "body, title.raw"; null: nothing. Owned */
    int64_t since_us; /* the first time that something was added */
};
int extension_look(struct state *s, const char *generation, struct lacking *out,
                   struct err *err) MUST_CHECK;

#endif
