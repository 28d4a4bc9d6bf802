/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run history: one entry per sync, run or rebuild, the last 100 of a pipeline.
 */
#pragma once

#include "rowferry/state/store.h"

struct run {
    int64_t id;
    char command[32];
    int64_t started_us, ended_us; /* ended_us 0: it goes on, or was killed */
    int64_t upserts, deletes, rejected, bytes;
    int exit_code;     /* -1 while it works */
    char message[512]; /* of the error that ended it, or stopped it until a repair; of a sync that
                          was interrupted, although its exit code is 0; else empty */
};

int history_begin(struct state *s, const char *command, int64_t wall_us, int64_t *id,
                  struct err *err) MUST_CHECK;
int history_end(struct state *s, const struct run *run, struct err *err) MUST_CHECK;
/* Reads at most `max` entries, the newest first. *count is the number read. */
int history_last(struct state *s, struct run *out, size_t max, size_t *count,
                 struct err *err) MUST_CHECK;
