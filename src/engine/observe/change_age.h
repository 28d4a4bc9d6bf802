/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How old the changes of a page are: between which two looks at the source they were committed.
 * Pure.
 *
 * Neither the change log nor a cursor tells when a change was committed, but what a snapshot shows
 * and the one before it did not was committed between the two. Of changes of one window it is
 * assumed that they came evenly in that time, each operation taking its turn; where the source has
 * called (NOTIFY), between the call and the snapshot.
 */
#ifndef ROWFERRY_ENGINE_CHANGE_AGE_H
#define ROWFERRY_ENGINE_CHANGE_AGE_H

#include <stdbool.h>
#include <stdint.h>

#define VINTAGE_MARKS 64

struct vintage_mark {
    uint64_t page;         /* the first of its window */
    int64_t from_us;       /* monotonic: when nothing of it was there yet, */
    int64_t until_us;      /* and when all of it was: its snapshot */
    int64_t until_wall_us; /* the same, wall clock */
};

struct vintage {
    struct vintage_mark marks[VINTAGE_MARKS]; /* by page, the oldest first */
    unsigned count;
    int64_t looked_us; /* monotonic: the last look at the source; 0 = none */
    int64_t called_us; /* when the source called first since then; 0 = not */
    uint64_t turn;     /* of the operations */
    bool open;         /* a window was begun and is not read to its end */
};

/* The source was asked and showed nothing. */
void vintage_nothing(struct vintage *v, int64_t now_us);

/* The source has called. */
void vintage_called(struct vintage *v, int64_t now_us);

/* A page of the log begins: the first of a window where none is open. */
void vintage_begin(struct vintage *v, uint64_t page, int64_t now_us, int64_t wall_us);

/* A window ends. True: gives the wall clock of its snapshot. */
bool vintage_end(struct vintage *v, int64_t *until_wall_us);

/* How long ago an operation of the page was committed, about; -1: not known. */
int64_t vintage_age_us(struct vintage *v, uint64_t page, int64_t now_us);

#endif
