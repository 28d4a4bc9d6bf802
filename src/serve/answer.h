/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers requests, independently of HTTP's mechanics: maps a method, a path and the status
 * snapshots to a status, a type and a body.
 */
#pragma once

#include "events.h"
#include "history.h"
#include "rowferry/serve/serve.h"

#define ANSWER_MAX_BYTES ((size_t)8 << 20)
#define ANSWER_POLICY_BYTES 320
#define ANSWER_HOST_BYTES 65

struct answerer {
    const struct serve_options *options;
    struct events *events;
    struct history *history;
    int64_t started_us;   /* wall clock */
    struct buf pipelines; /* last description of the pipelines */
    int64_t described_us; /* monotonic time of it; renewed at most about once a second */
    struct status_snapshot_view *views; /* room for the views of all snapshots */
    char hostname[ANSWER_HOST_BYTES];
    const char **names; /* names that Host may contain; the texts are borrowed, the list is owned */
    size_t name_count;
};

struct serve_answer {
    unsigned status;
    const char *type;
    const char *allow;                /* null if none */
    char policy[ANSWER_POLICY_BYTES]; /* Content-Security-Policy */
    struct buf body;
};

void answer_init(struct answerer *a, const struct serve_options *options, struct events *events,
                 struct history *history);
void answer_release(struct answerer *a);

struct question {
    const char *method;
    const char *path;
    const char *host;    /* the Host header, or null */
    uint64_t since;      /* number of the last event that the client has */
    const char *samples; /* number of the last sample that it has; null: it asks for none */
};

/* The caller releases out->body. */
void answer_question(struct answerer *a, const struct question *q, struct serve_answer *out);
