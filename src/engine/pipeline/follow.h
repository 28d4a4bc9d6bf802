/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Going on after the last change was read: one poll after the other, at the pace of what arrives.
 *
 * An idle poll is one short question to the source. Now and then everything is looked at, as before
 * a page: what changes a table without an entry in its log is noticed then at the latest.
 */
#ifndef ROWFERRY_ENGINE_FOLLOW_H
#define ROWFERRY_ENGINE_FOLLOW_H

#include "pipeline/pace.h"
#include "rowferry/base/err.h"

struct loop;

struct follow {
    bool on;   /* else the work ends where everything is read */
    bool poll; /* one has begun, and what it shows is not all read yet */
    struct pace pace;
    int64_t rows_before; /* counters.rows_read when it began */
    int64_t looked_us;   /* monotonic: when everything was looked at last */
    int64_t began_us;    /* wall clock: when the poll in work began, */
    int64_t drained_us;  /* the same of what is all read, up to this page, and not settled */
    uint64_t drained_page;
    int64_t equal_us; /* and of the last one that is: for `status` */
};

/* Once in each turn of the loop, before it reads: ends a poll, and begins one that is due. */
int follow_turn(struct loop *l, struct err *err) MUST_CHECK;

/* A window is all read, up to the last page; the wall clock of its snapshot. */
void follow_window_read(struct loop *l, int64_t snapshot_us);

/* After answers were taken: as of when everything is settled. */
void follow_settled(struct loop *l);

/* True where the loop waits for the time of the next poll. */
bool follow_rests(const struct loop *l);

/* How long that is from now; *fd is what the source calls on meanwhile, or -1. */
int64_t follow_wait_ms(const struct loop *l, int64_t now_us, int *fd);

#endif
