/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Following: polls the source after the last change was read, at the pace of arriving changes.
 *
 * An idle poll is one short query. At least every ten seconds a poll reads pages without this
 * query, because some changes of a table leave no entry in its log.
 */
#pragma once

#include "pipeline/pace.h"
#include "rowferry/base/err.h"

struct loop;

struct follow {
    bool on;   /* false: the work ends when everything is read */
    bool poll; /* a poll has begun and its changes are not all read yet */
    struct pace pace;
    int64_t rows_before; /* counters.rows_read at the start of the poll */
    int64_t looked_us;   /* monotonic: start of the last poll that read pages */
    int64_t began_us;    /* wall clock: start of the current poll */
    int64_t drained_us;  /* same, of the window that was read completely up to drained_page and is
                            not settled */
    uint64_t drained_page;
    int64_t equal_us; /* same, of the last window that is settled, for `status` */
};

/* Called once per turn of the loop, before it reads. Ends the current poll, or begins one that is
 * due. */
int follow_turn(struct loop *l, struct err *err) MUST_CHECK;

/* Records that a window was read completely, up to the last page. snapshot_us: wall clock of its
 * snapshot. */
void follow_window_read(struct loop *l, int64_t snapshot_us);

/* Called after answers were taken. Updates equal_us if everything up to drained_page is settled. */
void follow_settled(struct loop *l);

/* Returns true if the loop is waiting for the next poll. */
bool follow_rests(const struct loop *l);

/* Returns the milliseconds until the next poll. *fd receives the descriptor of the source's
 * notifications, or -1. */
int64_t follow_wait_ms(const struct loop *l, int64_t now_us, int *fd);
