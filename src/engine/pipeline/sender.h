/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The batches: one is being filled, some are in flight, some wait for their retry.
 *
 * How many fly and how large a batch aims at is service/bulk/flow.h's to say.
 *
 * A batch that comes back with operations to repeat keeps exactly those, bytes and all, and waits
 * with a jittered back-off; nothing is encoded again. A request that is refused as a whole for its
 * size or for one malformed operation is sent again in halves, down to one operation. So is one
 * whose connection is reset again and again while it is sent. An operation that meets this alone
 * while other requests pass, all of them smaller, is refused for its size: an outage is no refusal.
 */
#ifndef ROWFERRY_ENGINE_SENDER_H
#define ROWFERRY_ENGINE_SENDER_H

#include "pipeline/hashset.h"
#include "rowferry/base/backoff.h"
#include "rowferry/base/clock.h"
#include "rowferry/document/bulk/batch.h"
#include "rowferry/engine/counters.h"
#include "rowferry/engine/port.h"
#include "rowferry/service/bulk/flow.h"

enum sender_slot_state { SLOT_FREE, SLOT_FILLING, SLOT_READY, SLOT_FLYING };

struct sender_slot {
    struct batch batch;
    enum sender_slot_state state;
    uint64_t number; /* which of all that were filled: the first that is due goes first */
    int64_t due_us;  /* READY: not before this monotonic time */
    int64_t sent_us; /* FLYING: since when, */
    size_t sent_bytes;
    bool limited; /* and that no more were allowed to fly */
    struct backoff backoff;
    unsigned cuts;       /* how often in a row its connection was reset while it was sent */
    int64_t cut_us;      /* when the first of all resets came since it was filled; 0 = none */
    size_t passed_bytes; /* the largest request that was sent since then and settled something */
};

struct sender_options {
    unsigned in_flight;
    size_t batch_bytes;
    size_t document_bytes;
    size_t batch_operations;
    struct key_routing routing;
    bool creates; /* see struct batch */
};

/* What becomes of an operation that has its outcome; RETRY and UNKNOWN are the sender's own. */
typedef int (*sender_settle)(void *context, const struct batch *batch, const struct operation *o,
                             struct err *err);

struct sender {
    struct service_port service;
    const char *ingest_pipeline;
    const char *index;       /* the generation, */
    const char *write_alias; /* and the name that it is written by: service/index/index.h */
    struct sender_slot *slots;
    size_t slot_count;
    uint64_t filled;
    struct flow flow;
    struct counters *counters;
    const struct hashset *open_letters; /* the caller's; null = none: see refused.h */
    uint64_t passed;                    /* upserts that the index took */
};

void sender_init(struct sender *s, const struct sender_options *options,
                 struct service_port service, struct counters *counters);
void sender_release(struct sender *s);

/* The batch to add to, or null while all are on their way. */
struct batch *sender_filling(struct sender *s);

/* The batch being filled goes next, if it holds anything. */
void sender_flush(struct sender *s);

/* Starts what is ready and due, as far as requests may start. */
int sender_pump(struct sender *s, int64_t now_us, struct err *err) MUST_CHECK;

/* What the answers of one look said of the service. */
struct sender_news {
    size_t settled;        /* operations */
    int64_t settled_by_us; /* when the latest request that settled something was sent */
    struct err failure;    /* class TRANSIENT: why a request settled nothing; else NONE */
    int64_t failure_by_us; /* when the latest such request was sent */
};

/* Takes every answered batch and has each operation settled. A request that settled nothing is a
 * failure: the service is away, or refuses everything for now. A document that is refused while
 * others pass is none (refused.h). */
int sender_collect(struct sender *s, const struct clock *clock, sender_settle settle, void *context,
                   struct sender_news *news, struct err *err) MUST_CHECK;

/* The service is back: what waits for its retry goes at once, as far as requests may start. */
void sender_hurry(struct sender *s);

/* Monotonic time at which the next ready batch is due; INT64_MAX where none waits, or where none
 * may be sent before an answer comes. */
int64_t sender_next_due_us(const struct sender *s, int64_t now_us);

size_t sender_flying(const struct sender *s);

/* When the oldest request that has no answer was sent; 0 where there is none. */
int64_t sender_oldest_us(const struct sender *s);

#endif
