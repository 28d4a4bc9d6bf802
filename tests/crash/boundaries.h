/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fault injection at each system call of a command: each call in turn is the last one or fails
 * (boundary.c), on a table of some rows.
 *
 *   static const struct workload first = {"first sync", {"sync"}, ...};
 *   boundaries_test(&first, &boundary_kill);
 *
 * A workload runs once to list its calls. For each chosen call it is then prepared, broken at that
 * call, recovered and checked. Chosen is every $ROWFERRY_STRIDE'th call (40) from $ROWFERRY_OFFSET
 * on, and at least one of each function. Calls that did not occur again are reported; if there are
 * twenty or more calls and a quarter of them is missing, the test fails. The servers answer one
 * request at a time to make calls repeatable.
 */
#pragma once

#include "crash.h"

#define STAGE_LIMITS                                                                               \
    "\"batch_operations\": 10, \"in_flight\": 1, \"readers\": 1, \"retry_budget\": \"20s\""

struct stage {
    struct world w;
    char *elsewhere; /* configuration of another host */
    int n;           /* number of runs so far, makes the next change different */
    struct program holder;
    bool held; /* the holder runs on this host */
};

struct workload {
    const char *name;
    const char *words[6];           /* the command; ends with null */
    int exit_code;                  /* if nothing fails */
    bool elsewhere;                 /* runs on the other host */
    bool stopped;                   /* never ends by itself, so its end does not prove success */
    int64_t sparse;                 /* as in struct fault */
    void (*begin)(struct stage *s); /* called once; may be null */
    void (*prepare)(struct stage *s);
    void (*meanwhile)(struct stage *s, struct program *p); /* runs or has ended; may be null */
    void (*recover)(struct stage *s); /* runs it to the end and checks the result */
};

struct fault {
    const char *action; /* as in boundary.c */
    const char *class;
    const char *functions; /* " write send ": only these; null: all */
    int error;             /* errno, or an SQLite code for the class "sqlite" */
    int64_t sparse;        /* multiplies a stride above 1, to choose fewer calls; 0: unchanged */
};

/* kill -9 before a call that changes something, and after a call that received data. */
extern const struct fault boundary_kill;
/* Half of what is written or sent goes out, then kill -9. */
extern const struct fault boundary_torn;
/* The disk is full from one write on. */
extern const struct fault boundary_full;

/* Tests on a stage of its own. */
void boundaries_test(const struct workload *work, const struct fault *fault);

/* Tests with kills, torn writes and a full disk. */
void boundaries_test_all(const struct workload *work);

/* Forty rows, change log installed, bulk requests of ten operations, one in flight, one reader. */
void stage_start(struct stage *s);
void stage_stop(struct stage *s);

/* Changes, deletes and adds rows, and changes keys. The number of rows stays the same. */
void stage_change(struct stage *s);

/* Runs rowferry sync on this host, which must end with the code. */
void stage_sync(struct stage *s, int exit_code);

/* Runs it on the other host. The holder on this host may be about to lose the pipeline. */
void stage_sync_elsewhere(struct stage *s);
