/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pipeline counts while it works; logs, results, progress and metrics are made of these.
 */
#ifndef ROWFERRY_ENGINE_COUNTERS_H
#define ROWFERRY_ENGINE_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

/* A line makes the member, its sum, and the metric rowferry_NAME_total with these words as help. */
#define COUNTERS(X)                                                                                \
    X(rows_read, "rows and missing keys that the source handed out")                               \
    X(sent, "operations in bulk requests, repeats counted again")                                  \
    X(upserts, "upserts that the service has done")                                                \
    X(present, "upserts whose document was in the data stream already, and stayed as it was")      \
    X(deletes, "deletes that the service has done")                                                \
    X(rejected, "operations that became dead letters")                                             \
    X(retried, "operations that were not done and have to be sent again")                          \
    X(outrun, "operations that met a higher version and were read again")                          \
    X(cleared, "dead letters that a later operation of the key cleared")                           \
    X(requests, "bulk requests answered or failed")                                                \
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

/* A moment of a pipeline's work, for progress bars and interval lines. */
struct progress {
    const char *pipeline;
    const char *stage; /* "copying", "replaying", "settling" */
    int64_t elapsed_ms;
    double rows_per_second; /* over the whole run */
    double share;           /* of the copy, 0 to 1; negative where unknown */
    int64_t remaining_ms;   /* of the copy; negative where unknown */
    unsigned in_flight;     /* requests that may be in flight at present, */
    int64_t batch_bytes;    /* and how large a batch aims at: they adapt (service/bulk/flow.h) */
    struct counters counters;
    bool noted; /* the state file could be written */
};

#endif
