/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Content of the next checkpoint commit besides the position: new dead letters, and keys whose dead
 * letter was cleared by a later operation.
 */
#pragma once

#include "core/hashset.h"
#include "rowferry/base/text.h"
#include "rowferry/document/model/operation.h"
#include "rowferry/state/checkpoint.h"

struct pending_commit {
    struct new_letter *letters; /* elements own their texts */
    size_t letter_count;
    struct span *cleared; /* elements own their texts */
    size_t cleared_count;
    struct hashset open; /* hashes of keys with an open dead letter, durable or pending */
    int64_t settled;     /* operations since the last commit */
};

/* Reads the keys of the open dead letters. */
int pending_commit_init(struct pending_commit *s, struct state *state, struct err *err) MUST_CHECK;
void pending_commit_release(struct pending_commit *s);

/* Adds a dead letter for an operation that the service or the encoder refused. Copies the texts. */
void pending_commit_reject(struct pending_commit *s, const struct new_letter *letter);

/* Records that an operation is done. Returns true if it cleared an open dead letter of its key. */
bool pending_commit_done(struct pending_commit *s, struct span key, uint64_t hash);

/* Discards the open dead letter of a key. Returns false if the key has none. */
bool pending_commit_discard(struct pending_commit *s, struct span key);

/* Keeps at most `letters` of the new dead letters and drops the rest. */
void pending_commit_keep(struct pending_commit *s, size_t letters);

/* Returns true if it has any content. */
static inline bool pending_commit_any(const struct pending_commit *s)
{
    return s->letter_count > 0 || s->cleared_count > 0;
}

/* Returns true if a commit should not wait for a position. */
bool pending_commit_is_full(const struct pending_commit *s);

/* Commits and empties it. position may be null. unsettled: see state/checkpoint.h. */
int pending_commit_write(struct pending_commit *s, struct state *state, const char *position,
                         uint64_t unsettled, int64_t wall_us, struct err *err) MUST_CHECK;
