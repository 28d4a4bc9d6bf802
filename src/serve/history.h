/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rate and lag of each pipeline over the last 15 minutes, for the charts of the page.
 *
 * One thread takes the samples, another reads them. A pipeline has a ring of fixed size: 728 bytes.
 */
#pragma once

#include <pthread.h>

#include "rowferry/base/buf.h"
#include "rowferry/engine/observe/status_snapshot.h"

#define HISTORY_STEP_US INT64_C(10000000)
#define HISTORY_SAMPLES 90

struct history_sample {
    float rate;  /* operations settled per second since the sample before */
    float lag_s; /* negative: unknown */
};

struct history {
    pthread_mutex_t lock;
    size_t count;
    struct history_sample (*rings)[HISTORY_SAMPLES]; /* one for each pipeline */
    int64_t *settled;                                /* operations of each at the last sample */
    uint64_t taken;                                  /* samples of each pipeline since the start */
    int64_t taken_us;                                /* monotonic time of the last one */
};

/* The first sample is due one step after now_us (monotonic). */
void history_init(struct history *h, size_t count, int64_t now_us);
void history_release(struct history *h);

/* Takes a sample of each pipeline if it is due. Returns the time until the next one in ms. */
int64_t history_take(struct history *h, struct status_snapshot *const *snapshots, int64_t now_us,
                     int64_t wall_us);

/* Appends a JSON object with the samples after number `since`, the oldest first. Its "taken" is the
 * `since` of the next call. */
void history_push(struct history *h, uint64_t since, struct buf *out);
