/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The canonical text of definitions, stored by fingerprint, so that a difference can be shown line
 * by line; and the properties that were added to a live generation.
 *
 * A definition depends only on its fingerprint, not on a generation. Added properties are stored by
 * generation. So a new generation has all of them when it goes live, and after a rollback the old
 * one lacks what it lacked before.
 */
#pragma once

#include "rowferry/base/err.h"
#include "rowferry/state/store.h"

/* Stores the canonical text of a fingerprint unless it is known. Deletes the oldest unused ones. */
int definition_note(struct state *s, const char *fingerprint, const char *words,
                    struct err *err) MUST_CHECK;

/* Reads a canonical text. *words is null if it is unknown; the caller frees it. */
int definition_look(struct state *s, const char *fingerprint, char **words,
                    struct err *err) MUST_CHECK;

/* Properties added to the live generation. */
struct extension {
    const char *mapping_fingerprint;
    const char *table_fingerprint;
    const char *const *properties; /* the added ones: "body", "title.raw" */
    size_t count;
    int64_t wall_us;
};

/* Stores the checkpoint's new fingerprints and the added properties, which older documents lack, in
 * one transaction. Position, versions and dead letters stay. ERR_STATE if no generation is live. */
int definition_extension_note(struct state *s, const struct extension *extension,
                              struct err *err) MUST_CHECK;

/* Properties that the generation's older documents lack. */
struct lacking {
    char *properties; /* "body, title.raw"; null: none. Owned */
    int64_t since_us; /* when the first property was added */
};
int definition_extension_look(struct state *s, const char *generation, struct lacking *out,
                              struct err *err) MUST_CHECK;
