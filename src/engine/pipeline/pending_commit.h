/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the next checkpoint commit will hold beside the position: new dead letters, and letters that
 * a later operation of the same key cleared.
 */
#ifndef ROWFERRY_ENGINE_PENDING_COMMIT_H
#define ROWFERRY_ENGINE_PENDING_COMMIT_H

#include "pipeline/hashset.h"
#include "rowferry/base/text.h"
#include "rowferry/document/model/operation.h"
#include "rowferry/state/checkpoint.h"

struct settling {
    struct letter *letters; /* texts owned */
    size_t letter_count;
    struct span *cleared; /* texts owned */
    size_t cleared_count;
    struct hashset open; /* hashes of keys with an open letter, durable or pending */
    int64_t settled;     /* operations since the last commit */
};

/* Reads the open letters' keys. */
int settling_init(struct settling *s, struct state *state, struct err *err) MUST_CHECK;
void settling_release(struct settling *s);

/* A dead letter, of an operation that the service or the encoder refused. Copies the texts. */
void settling_reject(struct settling *s, const struct letter *letter);

/* An operation is done. True where it cleared an open letter of its key. */
bool settling_done(struct settling *s, struct span key, uint64_t hash);

/* The open letter of a key is forgotten. False where there is none. */
bool settling_discard(struct settling *s, struct span key);

/* Of the letters to be committed only so many stay. */
void settling_keep(struct settling *s, size_t letters);

/* True where a commit should not wait for a position. */
bool settling_crowded(const struct settling *s);

/* Commits all of it; position may be null. unsettled: see state/checkpoint.h. */
int settling_commit(struct settling *s, struct state *state, const char *position,
                    uint64_t unsettled, int64_t wall_us, struct err *err) MUST_CHECK;

#endif
