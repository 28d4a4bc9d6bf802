/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each call to the system that a command makes, one after the other, as the last one it makes or as
 * the one that fails (boundary.c), on a table of some rows.
 *
 *     static const struct workload first = {"first sync", {"sync"}, ...};
 *     boundaries_test(&first, &boundary_kill);
 *
 * A workload is run once to list its calls. Then it is prepared, broken at one of them, recovered
 * and judged, for each call that is chosen: every $ROWFERRY_STRIDE'th of them (40), beginning with
 * $ROWFERRY_OFFSET, and at least one of each function. A call that did not come again is told, and
 * a quarter of twenty or more fails the test: the servers answer one request at a time so that they
 * come again.
 */
#ifndef ROWFERRY_TESTS_BOUNDARIES_H
#define ROWFERRY_TESTS_BOUNDARIES_H

#include "crash.h"

#define STAGE_LIMITS                                                                               \
    "\"batch_operations\": 10, \"in_flight\": 1, \"readers\": 1, \"retry_budget\": \"20s\""

struct stage {
    struct world w;
    char *elsewhere; /* the configuration of another host */
    int n;           /* runs so far: what is changed for the next one */
    struct program holder;
    bool held; /* the holder runs, here */
};

struct workload {
    const char *name;
    const char *words[6];           /* the command; ends with null */
    int exit_code;                  /* where nothing is in its way */
    bool elsewhere;                 /* it runs on the other host */
    bool stopped;                   /* it has no end of its own, which would say that all is done */
    int64_t sparse;                 /* as a fault's */
    void (*begin)(struct stage *s); /* once; may be null */
    void (*prepare)(struct stage *s);
    void (*meanwhile)(struct stage *s, struct program *p); /* it runs, or has ended; may be null */
    void (*recover)(struct stage *s); /* goes on to the end, and judges what is there then */
};

struct fault {
    const char *action; /* of boundary.c */
    const char *class;
    const char *functions; /* " write send ": only of these; null: of all */
    int error;             /* errno, of the class "sqlite" a code of SQLite */
    int64_t sparse;        /* so many times fewer than a stride of more than 1 says; 0: all */
};

/* kill -9 before what changes something, and after what came in. */
extern const struct fault boundary_kill;
/* Half of what is written or sent goes out, then kill -9. */
extern const struct fault boundary_torn;
/* From one write on the disk is full. */
extern const struct fault boundary_full;

/* On a stage of its own. */
void boundaries_test(const struct workload *work, const struct fault *fault);

/* Killed, torn, and with a full disk. */
void boundaries_test_all(const struct workload *work);

/* Forty rows, the change log installed, requests of ten operations, one at a time, one reader. */
void stage_start(struct stage *s);
void stage_stop(struct stage *s);

/* Rows are changed, deleted, added, and get other keys; as many as there were. */
void stage_change(struct stage *s);

/* rowferry sync here, which has to end with the code. */
void stage_sync(struct stage *s, int exit_code);

/* The same on the other host; who held the pipeline here may be about to lose it. */
void stage_sync_elsewhere(struct stage *s);

#endif
