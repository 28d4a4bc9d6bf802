/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Following: polls the source after the last change was read, at the pace of arriving changes.
 *
 * An idle poll is one short query. At least every ten seconds a poll reads pages without this
 * query, because some changes of a table leave no entry in its log.
 */
#pragma once

#include "pipeline/pace.h"
#include "pipeline/wakeup.h"
#include "rowferry/source/capture.h"

struct loop;

/* Also the loop's view has a part of it, for observers. Times are wall clock unless noted. */
struct follow {
    struct pace pace;
    struct wakeup wakeup; /* open while following */
    int64_t rows_before;  /* counters.rows_read at the start of the poll */
    int64_t found_us;     /* monotonic: end of the last poll that found rows, or the beginning */
    int64_t looked_us;    /* monotonic: start of the last poll that read pages */
    int64_t began_us;     /* start of the current poll */
    int64_t asked_us;     /* before the current page began */
    int64_t stretch_us;   /* before the first page of the current stretch of the log; 0: none */
    int64_t drained_us;   /* snapshot of the stretch that was read completely up to drained_page and
                             is not settled */
    uint64_t drained_page;
};

void follow_init(struct loop *l);

/* Called once per turn of the loop, before it reads. Ends the current poll, or begins one that is
 * due. */
int follow_turn(struct loop *l, struct err *err) MUST_CHECK;

/* Called before a page is read, and with each change that was read, to know the snapshot of each
 * stretch of the log. */
void follow_before_page(struct loop *l);
void follow_has_read(struct loop *l, const struct change *change);

/* Called after answers were taken. Updates equal_us if everything up to drained_page is settled. */
void follow_settled(struct loop *l);

/* Called if the source announced changes: the next poll is due at once. */
void follow_called(struct loop *l);

/* Returns true if the source has had no changes for so long that it can be left alone. */
bool follow_quiet(const struct loop *l);

/* Returns the milliseconds until the next poll. *fd receives the descriptor of the source's
 * notifications, or -1. */
int64_t follow_wait_ms(const struct loop *l, int64_t now_us, int *fd);
