/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The board: what one pipeline of a living process shows of itself to other threads, for metrics,
 * health and the status page.
 *
 * The pipeline's thread writes on it, at every turn of its loop and at every change of stage; any
 * thread may look, and gets a copy. Neither waits longer than a copy takes. It is the fresher twin
 * of what stands in the state file for `status` (state/live_progress.h): both are told from one
 * struct, in engine/observe/progress_report.
 *
 * Counters and latencies are of the process: a round of the loop begins with zero, the board adds
 * up. Times are wall clock in microseconds where nothing else is said, 0 = never.
 */
#ifndef ROWFERRY_ENGINE_STATUS_SNAPSHOT_H
#define ROWFERRY_ENGINE_STATUS_SNAPSHOT_H

#include "rowferry/base/err.h"
#include "rowferry/engine/counters.h"
#include "rowferry/engine/observe/stall.h"
#include "rowferry/state/live_progress.h"

/* Time from commit to acknowledged, of operations. One count for each bound, of what took at most
 * as long and longer than the bound before; the last one of what took longer than all. */
#define LATENCY_BOUNDS 14
extern const int64_t latency_bounds_us[LATENCY_BOUNDS];

struct latency {
    uint64_t counts[LATENCY_BOUNDS + 1];
    int64_t sum_us;
};

void latency_note(struct latency *l, int64_t took_us, uint64_t operations);
void latency_add(struct latency *sum, const struct latency *l);

/* What the loop shows: a round's own. */
struct board_moment {
    struct working work; /* as `status` sees it, but of now */
    struct counters counters;
    struct latency latency;
    char generation[256]; /* the index that is written; empty: none yet */
    int64_t dead_letters; /* open; -1: not known */
    int64_t flying;       /* requests in flight now */
    int64_t unsettled;    /* bytes that are read and not settled, */
    int64_t window_bytes; /* and how many may be */
    int64_t settled_us;   /* when an operation was settled last */
    bool source_away, service_away;
};

/* What a look shows. */
struct board_view {
    const char *name;  /* static for as long as the board lives */
    const char *alias; /* the same */
    const char *stage; /* a static text: the loop's ("following") or its owner's ("guard") */
    int64_t since_us;  /* when that began */
    bool over;         /* nobody is at work on it any more, */
    int exit_code;     /* and why: */
    char message[512]; /* of its error; empty: none */
    struct board_moment moment; /* counters and latency: of the process */
};

struct board;

/* Copies the names. Its own error is fatal: it is small. */
struct board *board_new(const char *name, const char *alias);
void board_free(struct board *b);

/* For the pipeline's thread. Another stage begins; a static text. The same again is no change. */
void board_enter(struct board *b, const char *stage, int64_t wall_us);
/* The loop has made a turn. */
void board_publish(struct board *b, const struct board_moment *moment);
/* Nothing goes on between two rounds. */
void board_stalled(struct board *b, const struct stall *stall);
/* The loop has ended: its counters stay in the sums, nothing flies any more. */
void board_round_ended(struct board *b);
/* Nobody works on it any more; err: why, null where it was told to stop. */
void board_over(struct board *b, int exit_code, const struct err *err);

/* For any thread. */
const char *board_name(const struct board *b);
void board_look(struct board *b, struct board_view *out);

#endif
