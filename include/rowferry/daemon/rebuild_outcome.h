/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outcome of a rebuild, and its JSON form: the answer to the process that requested it, which
 * prints it as if it had rebuilt the index itself. Pure.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/engine/rebuild/rebuild.h"

enum rebuild_outcome_kind {
    REBUILD_OUTCOME_NOTHING, /* stopped, failed, or nothing to abort */
    REBUILD_OUTCOME_NEW,     /* another generation is live */
    REBUILD_OUTCOME_BACK,    /* the former generation is live again */
    REBUILD_OUTCOME_FIRST,   /* an initial load in progress served as the rebuild */
    REBUILD_OUTCOME_ABORTED,
};

struct rebuild_outcome {
    enum rebuild_outcome_kind kind;
    char generation[256]; /* the new generation; if ABORTED: the one that was removed */
    char former[256];     /* the previously live one; if ABORTED: the target of a rollback; may
                           * be empty */
    bool kept;            /* the former generation is kept */
    bool adopted;         /* the former index was not created by rowferry */
    int64_t rows;         /* rows of the table */
    int64_t documents;    /* documents of the index; negative if unknown */
    int64_t checked;      /* rows compared one by one */
    int64_t upserts, deletes, rejected;
    int64_t dead_letters;
    int64_t removed; /* old generations */
};

/* Fills *out for a failed rebuild, with the progress it had made. */
void rebuild_outcome_fill_failed(struct rebuild_outcome *out, const struct rebuild_result *result);
void rebuild_outcome_fill_aborted(struct rebuild_outcome *out,
                                  const struct rebuild_aborted *aborted);

void rebuild_outcome_fill(struct rebuild_outcome *out, enum rebuild_kind kind, int64_t keep,
                          const struct rebuild_result *result);

/* Appends the members to a JSON object that is open. */
void rebuild_outcome_push_members(struct buf *out, const struct rebuild_outcome *r);
/* Appends the answer to a request: an object of these members. */
void rebuild_outcome_push_answer(struct buf *out, const struct rebuild_outcome *r);
/* Returns false if the text is not such an answer. */
bool rebuild_outcome_read_answer(struct rebuild_outcome *out, const char *answer);
