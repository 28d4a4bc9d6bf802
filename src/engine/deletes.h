/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deletes in number: what the guard says to those of a large window, and the reconcile that a
 * TRUNCATE starts.
 *
 * A reconcile waits until all that was read is settled, refreshes the index, and walks its keys in
 * pages (service/scan.h), each asked of the source in a page of its own: a key without a row is a
 * delete of that page's version, so that whatever writes it again is later. The first walk only
 * counts; the guard judges; the second one sends.
 */
#ifndef ROWFERRY_ENGINE_DELETES_H
#define ROWFERRY_ENGINE_DELETES_H

#include "guard.h"
#include "intake.h"
#include "rowferry/service/scan.h"

struct loop;

enum deletes_phase {
    DELETES_IDLE,
    DELETES_JUDGE,  /* a window's deletes were foreseen */
    DELETES_SETTLE, /* a reconcile: what was read is to be settled */
    DELETES_COUNT,  /* its first walk */
    DELETES_SEND,   /* its second */
};

struct deletes {
    struct guard guard;
    bool guarded; /* the index is searched: what is being built may be deleted from */
    enum deletes_phase phase;
    bool foreseeing; /* a look ahead has begun */
    bool begun;      /* the walk has read a page */
    struct scan_page page;
    struct span *keys;
    struct buf after; /* the last key of the walk */
    int64_t listed;   /* by the first walk */
};

/* permitted: deletes that a person allowed, beside what the limits let pass. */
void deletes_init(struct deletes *d, const struct guard_limits *limits, int64_t permitted);
void deletes_release(struct deletes *d);

/* News of the intake that is about deletes: true where the change needs nothing more. */
bool deletes_take(struct loop *l);

/* A delete is about to be sent; false where the guard ends the work instead. */
bool deletes_pass(struct loop *l, uint64_t key_hash);

/* True where nothing may be read yet. */
bool deletes_wait(const struct loop *l);

/* Between pages: one step on; *ready: reading may go on. */
int deletes_turn(struct loop *l, bool *ready, struct err *err) MUST_CHECK;

/* An empty table over an index that is not: nothing is swapped in without a decision. */
int deletes_check_emptied(struct state *state, const struct guard *guard, int64_t documents,
                          const struct clock *clock, const char *pipeline, const char *index,
                          struct err *err) MUST_CHECK;

#endif
