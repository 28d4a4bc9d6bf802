/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last events of the log, for the page: a ring for each pipeline and one for what belongs to
 * none, so that nobody's noise pushes out another's news. What comes by interval is left out.
 *
 * Thread-safe; bounded: EVENTS_KEPT a ring, EVENT_BYTES each.
 */
#ifndef ROWFERRY_SERVE_EVENTS_H
#define ROWFERRY_SERVE_EVENTS_H

#include <pthread.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/log.h"

#define EVENTS_KEPT 50
#define EVENT_BYTES 1000

struct events_entry {
    uint64_t number; /* 0: none */
    char *line;      /* the event as an object of JSON */
};

struct events {
    pthread_mutex_t lock;
    char **pipelines;
    size_t count;
    struct events_entry (*rings)[EVENTS_KEPT]; /* one a pipeline, and the last of all others */
    uint64_t *written;                         /* of each */
    uint64_t number;                           /* of the newest event */
};

void events_init(struct events *e, const char *const *pipelines, size_t count);
void events_release(struct events *e);

/* For log_watch; context: struct events. */
void events_take(void *context, enum log_level level, int64_t wall_us, const char *event,
                 const struct log_field *fields);

/* Appends a JSON array of the events after number `since`, each with its "id", ring by ring and
 * the oldest of each first. */
void events_push(struct events *e, uint64_t since, struct buf *out);

#endif
