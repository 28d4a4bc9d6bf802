/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bad weather for the fake, at random: faults of the service and of the source, crashes, a clock
 * that is set, transactions, members that leave, other writers.
 *
 * The storm lies in memory that the processes of a history share.
 */
#ifndef ROWFERRY_TESTS_STORM_H
#define ROWFERRY_TESTS_STORM_H

#include "fake.h"

#define CRASHED 99
#define RESTLESS 98
#define STEPS_MOST 200000 /* of one work in the calm: more, and it would never end */

/* What really happened, over all seeds; a class that never did proves nothing. */
enum happening {
    HAPPENED_CRASH,
    HAPPENED_LOST,
    HAPPENED_UNANSWERED,
    HAPPENED_LATE,
    HAPPENED_RETRY,
    HAPPENED_REJECTED,
    HAPPENED_OUTRUN,
    HAPPENED_BREAK,
    HAPPENED_DURING,
    HAPPENED_JUMP,
    HAPPENED_JUMP_BACK,
    HAPPENED_STATE_LOST,
    HAPPENED_TAKEN_OVER,
    HAPPENED_REBUILT,
    HAPPENED_TRUNCATED,
    HAPPENED_LEFT,
    HAPPENED_GUARDED,
    HAPPENED_LOOKED,
    HAPPENED_ENDED_LATE,
    HAPPENED_CURSOR,
    HAPPENED_SWITCHED,
    HAPPENED_REINDEXED,
    HAPPENED_REINDEX_CUT,
    HAPPENED_ABORTED,
    HAPPENED_ASKED,
    HAPPENED_REPAIRED,
    HAPPENED_POISONED,
    HAPPENED_SERVER_CRASH,
    HAPPENED_COUNT,
};

extern const char *const happening_names[HAPPENED_COUNT];

struct storm {
    struct fake fake;
    uint64_t seed;
    bool calm; /* no faults from now on */
    long steps;
    char other_path[96]; /* the state file of the other host */
    size_t crash_after;
    size_t poisoned;           /* a row that no bulk request takes */
    size_t server_crash_after; /* so many steps of the next work; it has none in the calm */
    size_t fault_dice;         /* so many sides, of which three are faults */
    size_t jump_dice;          /* the same, and one is a jump of the clock */
    long happened[HAPPENED_COUNT];
};

extern struct storm *storm;

/* For fake.step, fault, judge and between_pages. */
void storm_step(struct fake *f);
enum fake_fault storm_fault(struct fake *f);
enum outcome storm_judge(void *context, const char *key, long attempt);
void storm_between_pages(struct fake *f, size_t page);

/* The wall clock is set; living: while something runs. */
void storm_jump(struct fake *f, bool living);
void storm_writes(struct fake *f, size_t most);
void storm_leave(struct fake *f);
void storm_truncate(struct fake *f);
/* Another writer, whose version is ahead of ours. */
void storm_meddle(struct fake *f);
/* A person asks for some rows to be sent again; of `rows` one is true or more. */
void storm_ask(struct fake *f, const bool *rows);

#endif
