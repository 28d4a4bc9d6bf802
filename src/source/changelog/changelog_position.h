/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far the change log was read, and what has to be reported for that to be true.
 */
#pragma once

#include "changelog/catalogue.h"
#include "changelog/position.h"

/* The reconcile after a re-snapshot: rows that were deleted in between have no entry. */
enum position_reconcile { RECONCILE_NONE, RECONCILE_DUE, RECONCILE_REPORTED };

/* A checkpoint that was released, but not yet written to the source. */
struct position_backup {
    struct position position; /* last null: none */
    char *letters;            /* null: unchanged in the source */
    int64_t clock;
    int64_t written_ms; /* time of the last write; 0: none */
};

struct changelog_position {
    struct position at; /* start of the next page */
    char *fan_after;    /* last key of the fan-out so far, if there are more; else null */
    struct position_backup backup;
    enum position_reconcile reconcile;
    char reason[sizeof(((struct err *)0)->message)]; /* of the re-snapshot */
    char *reconciled_members; /* the members when a reconcile was requested for one that left */
    int64_t rows_read;
    bool trial; /* only tests a position: never makes a re-snapshot */
};

/* changelog_resnapshot.c. */
void changelog_position_release(struct changelog_position *p);

/* Appends the end of a position's text, as of now. */
void changelog_position_print_history(const struct changelog_position *p, const struct catalogue *c,
                                      struct buf *out);

/* Registers the consumer, then records the start of an initial load. */
int changelog_resnapshot_begin(struct changelog_position *p, struct catalogue *c,
                               struct err *err) MUST_CHECK;

/* Returns true, with the reason, if nothing can be read from the position on: it belongs to another
 * history of the server, its entries were pruned, or it is older than the registration of its
 * consumer. If only the latest transactions may be missing, moves the position back to that of the
 * checkpoint backup. */
bool changelog_resnapshot_needed(struct changelog_position *p, struct catalogue *c, bool expired);

/* After a resume, with the consumers' rows read: continues at the position or begins a re-snapshot.
 * Sets *again if it did. */
int changelog_resnapshot_resume(struct changelog_position *p, struct catalogue *c, bool expired,
                                bool *again, struct err *err) MUST_CHECK;

/* Tests the tables and their triggers alone: a position that the log does not reach may be replaced
 * by the checkpoint backup. */
int changelog_resnapshot_examine(struct changelog_position *p, struct catalogue *c,
                                 struct err *err) MUST_CHECK;

/* changelog_backup.c: takes the checkpoint, and writes it to the source, at most once per interval
 * unless at_once. */
int changelog_backup_take(struct changelog_position *p, struct catalogue *c,
                          const struct mirror *mirror, bool at_once, struct err *err) MUST_CHECK;
int changelog_backup_write(struct changelog_position *p, struct catalogue *c, bool at_once,
                           struct err *err) MUST_CHECK;
