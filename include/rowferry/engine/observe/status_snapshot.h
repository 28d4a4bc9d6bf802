/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status snapshot: the state of one pipeline of this process, for metrics, health and the status
 * page. Thread-safe.
 *
 * The pipeline's thread publishes to it at every turn of its loop and at every change of stage. Any
 * thread may take a copy. Neither side waits longer than a copy takes. The state file holds an
 * older copy of the same data for `status` (state/live_progress.h); engine/observe/progress_report
 * fills both from one struct.
 *
 * Counters and latencies cover the life of the process: each round of the loop begins at zero, and
 * the snapshot adds them up. Times are wall clock in microseconds unless noted otherwise; 0 =
 * never.
 */
#pragma once

#include "rowferry/base/err.h"
#include "rowferry/engine/counters.h"
#include "rowferry/engine/observe/stall.h"
#include "rowferry/service/http/product.h"
#include "rowferry/state/live_progress.h"

/* Latency of operations from commit to acknowledgement, as a histogram. Each count covers values
 * up to its bound and above the previous one; the last count covers all larger values. */
#define LATENCY_BOUNDS 14
extern const int64_t latency_bounds_us[LATENCY_BOUNDS];

struct latency {
    uint64_t counts[LATENCY_BOUNDS + 1];
    int64_t sum_us;
};

void status_snapshot_latency_note(struct latency *l, int64_t took_us, uint64_t operations);
void status_snapshot_latency_add(struct latency *sum, const struct latency *l);

/* What the loop publishes; covers the current round. */
struct status_snapshot_moment {
    struct live_progress work; /* same struct that `status` shows, but current */
    struct counters counters;
    struct latency latency;
    char generation[256]; /* the index being written; empty: none yet */
    int64_t dead_letters; /* open; -1: unknown */
    int64_t flying;       /* requests in flight */
    int64_t unsettled;    /* bytes read and not settled */
    int64_t window_bytes; /* maximum of `unsettled` */
    int64_t settled_us;   /* when the last operation was settled */
    bool source_away, service_away;
    int service_status; /* HTTP status of the answer that made service_away true; 0: no answer */
};

/* Copy of the snapshot, returned to a reader. */
struct status_snapshot_view {
    const char *name;  /* valid as long as the board */
    const char *alias; /* valid as long as the board */
    const char *stage; /* static text: stage of the loop ("following") or of its owner ("guard") */
    int64_t since_us;  /* when the stage began */
    char source[32];   /* "PostgreSQL 15.18"; empty: not connected yet */
    char service[64];  /* "OpenSearch 2.19.4" */
    bool over;         /* the pipeline has ended, or an error has stopped it for now */
    int exit_code;     /* exit code if `over` */
    char message[512]; /* error message if `over`; empty: none */
    struct status_snapshot_moment moment; /* counters and latency: totals of the process */
};

struct status_snapshot;

/* Creates a board. Copies the names. Aborts the process if memory is exhausted. */
struct status_snapshot *status_snapshot_new(const char *name, const char *alias);
void status_snapshot_free(struct status_snapshot *b);

/* Called by the pipeline's thread. Enters a stage; stage is a static text. Entering the current
 * stage again changes nothing. */
void status_snapshot_enter(struct status_snapshot *b, const char *stage, int64_t wall_us);
/* Publishes the servers, both connected; source_version as 150018. */
void status_snapshot_connected(struct status_snapshot *b, int source_version,
                               const struct product_info *service);
/* Publishes the state of the loop after a turn. */
void status_snapshot_publish(struct status_snapshot *b,
                             const struct status_snapshot_moment *moment);
/* Publishes a stall between two rounds. */
void status_snapshot_stalled(struct status_snapshot *b, const struct stall *stall);
/* Ends a round: adds its counters to the totals and clears the requests in flight. */
void status_snapshot_round_ended(struct status_snapshot *b);
/* Marks the pipeline as ended, or stopped for now. err is the reason, or null if it was asked to
 * stop. */
void status_snapshot_over(struct status_snapshot *b, int exit_code, const struct err *err);
/* Removes that mark: the pipeline works again. */
void status_snapshot_works(struct status_snapshot *b);

/* Callable from any thread. */
const char *status_snapshot_name(const struct status_snapshot *b);
void status_snapshot_look(struct status_snapshot *b, struct status_snapshot_view *out);
