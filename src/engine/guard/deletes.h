/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mass deletes: guards against many deletes in a stretch of the log, and runs the reconcile after a
 * TRUNCATE, after a member left, and by schedule.
 *
 * A reconcile waits until everything read is settled, refreshes the index, and walks its keys in
 * pages (service/index/scan.h), each of which is looked up in a page of the source. A key without a
 * row becomes a delete with that page's version, so any later write of it wins. The first walk only
 * counts; then the guard decides. The second walk checks the missing keys again, or the whole index
 * if they were too many, and sends the deletes. The reconcile is owed until all of them are settled
 * and committed.
 *
 * If a stretch has too many deletes, the index is probed by their keys. Keys without a document do
 * not count.
 *
 * A request of a killed process may still arrive after the listing and would stay in the index
 * forever. So if a process ends with requests in flight, or the state file that records this is
 * lost, a reconcile is owed DELETES_LATE_US later.
 */
#pragma once

#include "core/checkpoint_backup.h"
#include "core/loop_view.h"
#include "core/pending_commit.h"
#include "guard/guard.h"
#include "rowferry/service/index/scan.h"
#include "rowferry/state/reconcile.h"

#define DELETES_LATE_US INT64_C(300000000) /* requests arrive no later after their sender's end */

enum deletes_phase {
    DELETES_IDLE,
    DELETES_JUDGE,  /* the deletes of a stretch were counted */
    DELETES_MEET,   /* too many: the index is probed for their documents */
    DELETES_SETTLE, /* reconcile: everything read must be settled first */
    DELETES_COUNT,  /* reconcile: first walk, counts */
    DELETES_SEND,   /* reconcile: second walk, sends deletes */
    DELETES_CLOSE,  /* its deletes must be settled and committed */
};

/* Reason of a reconcile. */
enum deletes_why {
    DELETES_TRUNCATED,
    DELETES_LEFT,  /* a member left the table, and its rows with it */
    DELETES_AGAIN, /* re-snapshot: everything was copied again in place */
    DELETES_OWED,  /* late requests may have arrived since the last reconcile */
    DELETES_DUE,
};

/* The keys of counted deletes, to find out which have a document (delete_probe.c). */
struct delete_probe {
    struct buf names;    /* counted keys, each terminated by a NUL */
    size_t named;        /* offset in `names` up to which the index was probed */
    unsigned level;      /* the guard's level when `names` was last filtered */
    struct hashset idle; /* keys without a document: nothing to delete */
};

/* A walk over the keys of the index. */
struct reconcile_walk {
    bool begun; /* it has read a page */
    struct scan_page page;
    struct scan_page next; /* listed while the source looks up the current page */
    bool listed_ahead;
    struct span *keys; /* of the page */
    struct buf after;  /* the last key of the walk */
    int64_t listed;    /* number of keys listed by the first walk */
    int64_t absent;    /* number of keys without a row */
    struct scan_page found;
    struct buf last_absent;
    bool overflowed; /* there were too many keys for `found` */
};

/* When reconciles are due. Times are monotonic; 0: none. */
struct reconcile_schedule {
    struct reconcile kept; /* as in the state file */
    int64_t interval_us;   /* between two reconciles; 0: none by schedule */
    int64_t owed_us;       /* a reconcile is owed from then on */
    int64_t late_us;       /* until then requests of a killed process may arrive */
    int64_t listing_us;    /* when the reconcile began to list */
};

struct deletes {
    const struct loop_view *view;
    struct source_reader *reader;
    struct retry_budget *service_retry;
    struct checkpoint_backup *backup;
    const struct pending_commit *pending_commit;
    struct guard guard;
    bool guarded; /* the index is live; a generation being built is not guarded */
    enum deletes_phase phase;
    enum deletes_why why;
    bool foreseeing; /* a prescan has begun */
    bool spent;      /* the permission was needed for these deletes */
    struct delete_probe probe;
    struct reconcile_walk walk;
    struct reconcile_schedule schedule;
};

/* Initializes all but the first five members, which the caller has set. permitted: number of
 * deletes that a person permitted in addition to the limits. */
void deletes_init(struct deletes *d, const struct guard_limits *limits, int64_t permitted);
void deletes_release(struct deletes *d);

/* Loads the record of the last reconcile from the state file. interval_ms: between two reconciles,
 * 0: none by schedule. */
int reconcile_load(struct deletes *d, int64_t interval_ms, struct err *err) MUST_CHECK;

/* Records that the index is empty, so that none of its documents lacks a row. */
int reconcile_note_empty(struct deletes *d, struct err *err) MUST_CHECK;

/* Records that an index with documents is loaded from the beginning, so that its keys are walked
 * afterwards. */
int reconcile_note_former(struct deletes *d, struct err *err) MUST_CHECK;

/* Called at each turn before anything is sent. Begins a reconcile if one is due and everything is
 * read. */
int reconcile_mind(struct deletes *d, struct err *err) MUST_CHECK;

/* Called at the end. Records whether requests may still be in flight. */
int reconcile_rest(struct deletes *d, struct err *err) MUST_CHECK;

/* Handles changes that concern deletes; see struct loop_observer. */
bool deletes_on_change(void *self, const struct change *change);

/* Called before a delete is sent: LOOP_GO_ON, or LOOP_END if the guard refuses it. */
enum loop_answer deletes_pass(struct deletes *d, struct span key, uint64_t key_hash,
                              struct err *why);

/* Returns true if nothing may be read yet. */
bool deletes_wait(const struct deletes *d);

/* Returns true if a reconcile waits for its last commit. */
bool deletes_close(const struct deletes *d);

/* Called between pages. Performs one step; LOOP_GO_ON if reading may continue. */
enum loop_answer deletes_turn(struct deletes *d, struct err *err);

/* A first load is not swapped in for the live index `index`: ERR_STATE with the numbers,
 * which are kept for the permission. */
int deletes_refuse_swap(struct state *state, const struct guard_limits *limits,
                        const struct swap_loss *loss, const struct clock *clock,
                        const char *pipeline, const char *index, struct err *err) MUST_CHECK;
