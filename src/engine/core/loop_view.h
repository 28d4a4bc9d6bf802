/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the loop shows to its guards and observers (core/loop_observers.h). They know neither the
 * loop nor each other's place in it.
 */
#pragma once

#include "core/source_reader.h"
#include "rowferry/base/stop.h"

/* What is written. */
struct loop_target {
    const char *pipeline;
    const char *index; /* null before it is known */
    bool stream;       /* it is a data stream: documents are only added */
};

/* How far following is. */
struct loop_following {
    bool on;          /* caught up once; does not end when caught up again */
    bool polling;     /* a poll has begun and its changes are not all read yet */
    bool idle;        /* polls at the longest interval */
    int64_t equal_us; /* wall clock: snapshot of the last window that is settled; 0: none */
    uint64_t equals;  /* how often a window was found to be settled */
};

/* Requests to the service. Times are monotonic unless noted. */
struct loop_requests {
    size_t in_flight;
    int64_t oldest_us;        /* send time of the oldest of them; 0: none */
    int64_t answered_us;      /* when answers were last taken */
    int64_t answered_wall_us; /* same, wall clock */
};

/* Kept current by the loop; read-only for all others. Pointers are valid as long as the loop. */
struct loop_view {
    struct loop_target target;
    struct service_port service;
    struct state *state;
    struct clock clock;
    int64_t started_us; /* monotonic */
    int64_t asked_us;   /* monotonic: before the open page began */
    const volatile sig_atomic_t *stop;
    bool ended; /* an error ended the work */
    bool held;  /* a change waits for its key */
    struct loop_following following;
    struct loop_requests requests;
    const struct counters *counters;
    const struct window *window;
    const struct source_reader *reader; /* with the retry budget of the source */
    const struct retry_budget *service_retry;
};

/* Returns true if a stop was requested or an error ended the work. */
static inline bool loop_view_stopping(const struct loop_view *v)
{
    return v->ended || stop_is_set(v->stop);
}

/* Returns true if the loop is waiting for the next poll. */
static inline bool loop_view_rests(const struct loop_view *v)
{
    return v->following.on && !v->following.polling && source_reader_done(v->reader);
}

/* Answer of a guard or an observer. */
enum loop_answer {
    LOOP_GO_ON,
    LOOP_WAIT, /* not now; ask again in the next turn */
    LOOP_END,  /* end the work with the error that is set */
};
