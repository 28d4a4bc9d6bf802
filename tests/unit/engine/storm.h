/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random faults for the fake: faults of the service and of the source, crashes, clock jumps,
 * transactions, members that leave, other clients.
 *
 * The struct storm is in memory shared by all processes of a history.
 */
#pragma once

#include "fake.h"

#define CRASHED 99
#define RESTLESS 98
#define STEPS_MOST 200000 /* maximum of one run without faults; more means that it does not end */

/* Counts events over all seeds; a kind that never occurs proves nothing. */
enum happening {
    HAPPENED_CRASH,
    HAPPENED_LOST,
    HAPPENED_UNANSWERED,
    HAPPENED_LATE,
    HAPPENED_RETRY,
    HAPPENED_REJECTED,
    HAPPENED_CONFLICT,
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
    size_t poisoned;           /* a row that every bulk request refuses */
    size_t server_crash_after; /* steps of the next run; unused if calm */
    size_t fault_dice;         /* sides of the dice, three of which are faults */
    size_t jump_dice;          /* sides of the dice, one of which is a clock jump */
    long happened[HAPPENED_COUNT];
};

extern struct storm *storm;

/* For fake.step, fault, judge and between_pages. */
void storm_step(struct fake *f);
enum fake_fault storm_fault(struct fake *f);
enum outcome storm_judge(void *context, const char *key, long attempt);
void storm_between_pages(struct fake *f, size_t page);

/* Sets the wall clock; `living` is true while a process runs. */
void storm_jump(struct fake *f, bool living);
void storm_writes(struct fake *f, size_t most);
void storm_leave(struct fake *f);
void storm_truncate(struct fake *f);
/* Another client writes a document with a version ahead of ours. */
void storm_meddle(struct fake *f);
/* Files a request to send some rows again; at least one of `rows` is true. */
void storm_ask(struct fake *f, const bool *rows);

void storm_lose_state(struct fake *f);
void storm_switch_host(struct fake *f);

/* Removes both state files. */
void storm_release(struct fake *f);
