/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of a command on one pipeline: its outcome, and its row in the history of the state file.
 */
#pragma once

#include "rowferry/daemon/session.h"

struct sync_outcome {
    const char *pipeline;
    struct pipeline_result result;
    int64_t took_ms; /* total time including connecting and waiting */
    enum exit_code exit_code;
    const struct err *err; /* null if it succeeded */
};

/* Adds a row to the history and returns its number in *id; the session names the command. */
int run_record_begin(struct session *s, int64_t *id, struct err *err) MUST_CHECK;
/* Records the outcome so far of a run that goes on, so that it survives a killed process: o->err
 * has stopped the pipeline until it is corrected; null: nothing has. */
int run_record_stop(struct session *s, int64_t id, const struct sync_outcome *o,
                    struct err *err) MUST_CHECK;
/* Completes the row with the outcome. */
int run_record_end(struct session *s, int64_t id, const struct sync_outcome *o,
                   struct err *err) MUST_CHECK;
