/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of a pipeline's work. Logs, results, progress reports and metrics are built from them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Each line defines a member, its sum, and the metric rowferry_NAME_total; the text is its help. */
#define COUNTERS(X)                                                                                \
    X(rows_read, "rows and missing keys read from the source")                                     \
    X(sent, "operations in bulk requests; repeats are counted again")                              \
    X(upserts, "upserts that succeeded")                                                           \
    X(present, "upserts whose document was in the data stream already and was left unchanged")     \
    X(deletes, "deletes that succeeded")                                                           \
    X(rejected, "operations that became dead letters")                                             \
    X(retried, "operations that did not succeed and are sent again")                               \
    X(conflicts, "operations that met a higher version and were read again")                       \
    X(cleared, "dead letters that a later operation of the key cleared")                           \
    X(requests, "bulk requests, answered or failed")                                               \
    X(bytes, "bytes of bulk requests sent")                                                        \
    X(checkpoints, "positions committed to the state file")

struct counters {
#define COUNTER(name, words) int64_t name;
    COUNTERS(COUNTER)
#undef COUNTER
};

static inline void counters_add(struct counters *sum, const struct counters *c)
{
#define COUNTER(name, words) sum->name += c->name;
    COUNTERS(COUNTER)
#undef COUNTER
}

/* Snapshot of a pipeline's work, for progress bars and interval lines. */
struct progress {
    const char *pipeline;
    const char *stage; /* "copying", "replaying", "settling" */
    int64_t elapsed_ms;
    double rows_per_second; /* over the whole run */
    double share;           /* progress of the initial load, 0 to 1; negative if unknown */
    int64_t remaining_ms;   /* of the initial load; negative if unknown */
    unsigned in_flight;  /* current limit of requests in flight (adaptive, service/bulk/flow.h) */
    int64_t batch_bytes; /* current target size of a batch (adaptive) */
    struct counters counters;
    bool noted; /* true if the state file could be written */
};
