/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last events of the log, for the page. Each pipeline has a ring, and one more holds all other
 * events, so that a busy pipeline does not push out the events of another. Periodic events are left
 * out.
 *
 * Thread-safe; bounded to EVENTS_KEPT events a ring, EVENT_BYTES each.
 */
#pragma once

#include <pthread.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/log.h"

#define EVENTS_KEPT 50
#define EVENT_BYTES 1000

struct events_entry {
    uint64_t number; /* 0 if empty */
    char *line;      /* the event as a JSON object */
};

struct events {
    pthread_mutex_t lock;
    char **pipelines;
    size_t count;
    struct events_entry (*rings)[EVENTS_KEPT]; /* one for each pipeline, and a last one for other
                                                * events */
    uint64_t *written;                         /* number written to each ring */
    uint64_t number;                           /* of the newest event */
};

void events_init(struct events *e, const char *const *pipelines, size_t count);
void events_release(struct events *e);

/* For log_watch; the context is a struct events. */
void events_add(void *context, enum log_level level, int64_t wall_us, const char *event,
                const struct log_field *fields);

/* Appends a JSON array of the events after number `since`, each with its "id". The rings follow one
 * another, each with its oldest event first. */
void events_push(struct events *e, uint64_t since, struct buf *out);
