/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pipeline counts while it works; logs, results and progress are made of these.
 */
#ifndef ROWFERRY_ENGINE_COUNTERS_H
#define ROWFERRY_ENGINE_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

struct counters {
    int64_t rows_read;   /* rows and missing keys that the source handed out */
    int64_t sent;        /* operations in requests, repeats counted again */
    int64_t upserts;     /* done */
    int64_t deletes;     /* done */
    int64_t rejected;    /* became dead letters */
    int64_t retried;     /* answers RETRY or UNKNOWN */
    int64_t outrun;      /* answers OUTRUN */
    int64_t cleared;     /* dead letters that a later operation cleared */
    int64_t requests;    /* bulk requests answered or failed */
    int64_t bytes;       /* of bulk requests sent */
    int64_t checkpoints; /* positions committed */
};

/* A moment of a pipeline's work, for progress bars and interval lines. */
struct progress {
    const char *pipeline;
    const char *stage; /* "copying", "replaying", "settling" */
    int64_t elapsed_ms;
    double rows_per_second; /* over the whole run */
    double share;           /* of the copy, 0 to 1; negative where unknown */
    int64_t remaining_ms;   /* of the copy; negative where unknown */
    unsigned in_flight;     /* requests that may be in flight at present, */
    int64_t batch_bytes;    /* and how large a batch aims at: they adapt (service/flow.h) */
    struct counters counters;
};

#endif
