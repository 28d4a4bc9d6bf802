/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Change age: estimates how long ago the changes of a page were committed. Pure.
 *
 * Neither the change log nor a cursor records commit times. But a change that a snapshot shows and
 * the previous one did not was committed between the two. The changes of one window are assumed to
 * be spread evenly over that time, each operation taking its turn. If the source sent a
 * notification (NOTIFY), they are spread between the notification and the snapshot.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CHANGE_AGE_MARKS 64

struct change_age_mark {
    uint64_t page;    /* the first page of its window */
    int64_t from_us;  /* monotonic: none of the changes was committed yet */
    int64_t until_us; /* monotonic: time of the snapshot, all were committed */
};

struct change_age {
    struct change_age_mark marks[CHANGE_AGE_MARKS]; /* by page, the oldest first */
    unsigned count;
    int64_t looked_us; /* monotonic: last poll of the source; 0 = none */
    int64_t called_us; /* first notification since then; 0 = none */
    uint64_t turn;     /* number of ages computed, which spreads them */
    bool open;         /* a window has begun and is not read completely */
};

/* Records a poll that showed no changes. */
void change_age_nothing(struct change_age *v, int64_t now_us);

/* Records a notification of the source. */
void change_age_called(struct change_age *v, int64_t now_us);

/* Begins a page of the log, which is the first of a stretch if none is open. */
void change_age_begin(struct change_age *v, uint64_t page, int64_t now_us);

/* Ends a stretch. Returns false if none was open. */
bool change_age_end(struct change_age *v);

/* Returns the estimated time since an operation of the page was committed; -1: unknown. */
int64_t change_age_us(struct change_age *v, uint64_t page, int64_t now_us);
