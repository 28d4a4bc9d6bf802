/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deletes in number: what the guard says to those of a large window, and the reconcile: after a
 * TRUNCATE, after a member left, and as often as the configuration asks for it.
 *
 * A reconcile waits until all that was read is settled, refreshes the index, and walks its keys in
 * pages (service/index/scan.h), each asked of the source in a page of its own: a key without a row
 * is a delete of that page's version, so that whatever writes it again is later. The first walk
 * only counts; the guard judges; what was found is asked again, or where it was much the whole
 * index, and sent. While the source is asked for one page the service lists the next. It has ended,
 * for the state file and for the source, once all that it sent is settled and committed: until then
 * it is owed.
 *
 * A window's deletes that would be too many, or need what a person permitted, are asked of the
 * index by their keys: a key that has no document there counts for nothing, however often it is
 * told.
 *
 * A request of a holder that was killed may still arrive after the listing, and would be in the
 * index for ever. So whether requests fly is durable, and after an end that left some a reconcile
 * is owed once more, DELETES_LATE_US later. A state file that is lost takes what it owed with it:
 * where another is taken over, one is owed.
 */
#ifndef ROWFERRY_ENGINE_DELETES_H
#define ROWFERRY_ENGINE_DELETES_H

#include "guard/guard.h"
#include "pipeline/source_reader.h"
#include "rowferry/service/index/scan.h"
#include "rowferry/state/reconcile.h"

#define DELETES_LATE_US INT64_C(300000000) /* no request arrives so long after its sender's end */

struct loop;

enum deletes_phase {
    DELETES_IDLE,
    DELETES_JUDGE,  /* a window's deletes were foreseen */
    DELETES_MEET,   /* too many: the index is asked which of them are in it */
    DELETES_SETTLE, /* a reconcile: what was read is to be settled */
    DELETES_COUNT,  /* its first walk */
    DELETES_SEND,   /* its second */
    DELETES_CLOSE,  /* what it sent is to be settled and committed */
};

/* Why there is a reconcile. */
enum deletes_why {
    DELETES_TRUNCATED,
    DELETES_LEFT,  /* a member left, and its rows with it */
    DELETES_AGAIN, /* everything was copied again, in place */
    DELETES_OWED,  /* what came late may be there since the last one */
    DELETES_DUE,
};

struct deletes {
    struct guard guard;
    bool guarded; /* the index is searched: what is being built may be deleted from */
    enum deletes_phase phase;
    enum deletes_why why;
    bool foreseeing;     /* a look ahead has begun */
    bool spent;          /* what a person permitted was needed for this one */
    struct buf names;    /* of the keys that count, each ended by a NUL, */
    size_t named;        /* and how far the index was asked for them */
    unsigned level;      /* the guard's, when they were last sorted out */
    struct hashset idle; /* what is not in the index: there is nothing to delete */

    bool begun; /* the walk has read a page */
    struct scan_page page;
    struct scan_page next; /* listed while the source is asked for the one before */
    bool listed_ahead;
    struct span *keys; /* of the page */
    struct buf after;  /* the last key of the walk */
    int64_t listed;    /* by the first walk, */
    int64_t absent;    /* and so many had no row: */
    struct scan_page found;
    struct buf last_absent;
    bool overflowed; /* these, unless they were too many */

    struct reconcile kept; /* as in the state file */
    int64_t interval_us;   /* between two; 0: none is due by time */
    int64_t owed_us;       /* monotonic: one is owed from then on; 0: none */
    int64_t late_us;       /* monotonic: until then requests of a killed holder may arrive */
    int64_t listing_us;    /* monotonic: when the reconcile began to list */
};

/* permitted: deletes that a person allowed, beside what the limits let pass. */
void deletes_init(struct deletes *d, const struct guard_limits *limits, int64_t permitted);
void deletes_release(struct deletes *d);

/* Takes over what the state file knows of the last reconcile. */
int deletes_load(struct loop *l, struct err *err) MUST_CHECK;

/* The index is empty: nothing in it is without a row. */
int deletes_note_empty(struct loop *l, struct err *err) MUST_CHECK;

/* The index has documents and is copied from the beginning: its keys are walked after that. */
int deletes_note_former(struct loop *l, struct err *err) MUST_CHECK;

/* At each turn, before anything is sent: begins a reconcile where all is read and one is due. */
int deletes_mind(struct loop *l, struct err *err) MUST_CHECK;

/* At the end: what was sent may all be settled. */
int deletes_rest(struct loop *l, struct err *err) MUST_CHECK;

/* News of the intake that is about deletes: true where the change needs nothing more. */
bool deletes_take(struct loop *l);

/* A delete is about to be sent; false where the guard ends the work instead. */
bool deletes_pass(struct loop *l, uint64_t key_hash);

/* True where nothing may be read yet. */
bool deletes_wait(const struct loop *l);

/* True where a reconcile waits for its last commit. */
bool deletes_close(const struct loop *l);

/* Between pages: one step on; *ready: reading may go on. */
int deletes_turn(struct loop *l, bool *ready, struct err *err) MUST_CHECK;

/* An empty table over an index that is not: nothing is swapped in without a decision. */
int deletes_check_emptied(struct state *state, const struct guard *guard, int64_t documents,
                          const struct clock *clock, const char *pipeline, const char *index,
                          struct err *err) MUST_CHECK;

#endif
