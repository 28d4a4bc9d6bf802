/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outcome of a rebuild, and its JSON form: the answer to the process that requested it, which
 * prints it as if it had rebuilt the index itself. Pure.
 */
#ifndef ROWFERRY_DAEMON_REBUILD_OUTCOME_H
#define ROWFERRY_DAEMON_REBUILD_OUTCOME_H

#include "rowferry/base/buf.h"
#include "rowferry/engine/rebuild/rebuild.h"

enum rebuilt_kind {
    REBUILT_NOTHING, /* it was stopped, failed, or there was nothing to abort */
    REBUILT_NEW,     /* another generation is live */
    REBUILT_BACK,    /* the former one is */
    REBUILT_FIRST,   /* a first load that was under way is what was asked for */
    REBUILT_ABORTED,
};

struct rebuilt {
    enum rebuilt_kind kind;
    char generation[256]; /* the new one; of ABORTED: the one that was removed */
    char former[256];     /* that was live; of ABORTED: to which a rollback led; empty: none */
    bool kept;            /* the former one is */
    bool adopted;         /* it was none of ours */
    int64_t rows;         /* of the table, and */
    int64_t documents;    /* of the index; negative: could not be told */
    int64_t checked;      /* compared one by one */
    int64_t upserts, deletes, rejected;
    int64_t dead_letters;
    int64_t removed; /* old generations */
};

/* It failed: how far it was. */
void rebuilt_fill_failed(struct rebuilt *out, const struct rebuild_result *result);
void rebuilt_fill_aborted(struct rebuilt *out, const struct rebuild_aborted *aborted);

void rebuilt_fill(struct rebuilt *out, enum rebuild_kind kind, int64_t keep,
                  const struct rebuild_result *result);

/* Its members, within an object that is open. */
void rebuilt_push_members(struct buf *out, const struct rebuilt *r);
/* The answer to a request: an object of them. */
void rebuilt_push_answer(struct buf *out, const struct rebuilt *r);
/* False where the text is none. */
bool rebuilt_read_answer(struct rebuilt *out, const char *answer);

#endif
