/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sender owns the batches: one is being filled, some are in flight, some wait for a retry.
 *
 * service/bulk/flow.h decides how many requests are in flight and how large a batch gets.
 *
 * A batch with operations to repeat keeps exactly those bytes and waits with a jittered back-off;
 * nothing is encoded again. A request that is refused as a whole, for its size or for one malformed
 * operation, is sent again in halves, down to one operation. The same happens if its connection is
 * reset repeatedly while it is sent. A single operation is refused for its size if it is always
 * reset while other requests pass, all of them smaller. An outage is not taken for a refusal.
 */
#pragma once

#include "core/hashset.h"
#include "rowferry/base/backoff.h"
#include "rowferry/base/clock.h"
#include "rowferry/document/bulk/batch.h"
#include "rowferry/engine/counters.h"
#include "rowferry/engine/port.h"
#include "rowferry/service/bulk/flow.h"

enum sender_slot_state { SLOT_FREE, SLOT_FILLING, SLOT_READY, SLOT_IN_FLIGHT };

struct sender_slot {
    struct batch batch; /* first, so that a batch leads to its slot */
    enum sender_slot_state state;
    uint64_t number; /* order of filling: the oldest due batch goes first */
    int64_t due_us;  /* READY: earliest send time, monotonic */
    int64_t sent_us; /* FLYING: send time */
    size_t sent_bytes;
    bool limited; /* FLYING: the limit of requests in flight was reached */
    struct backoff backoff;
    unsigned cuts;       /* consecutive connection resets while sending */
    int64_t cut_us;      /* time of the first reset since it was filled; 0 = none */
    size_t passed_bytes; /* largest request that was sent since cut_us and settled operations */
};

struct sender_options {
    unsigned in_flight;
    size_t batch_bytes;
    size_t document_bytes;
    size_t batch_operations;
    struct key_routing routing;
    bool creates; /* see struct batch */
};

/* Settles an operation with a final outcome. The sender itself handles RETRY and UNKNOWN. */
typedef int (*sender_settle)(void *context, const struct batch *batch, const struct operation *o,
                             struct err *err);

struct sender {
    struct service_port service;
    const char *ingest_pipeline;
    const char *write_alias; /* alias to write to: service/index/index.h */
    const char *index;       /* the index behind it, for the hint of a refusal */
    struct sender_slot *slots;
    size_t slot_count;
    uint64_t filled;
    struct flow flow;
    struct counters *counters;
    const struct hashset *open_letters; /* borrowed; null = none: see refused.h */
    uint64_t passed;                    /* upserts that the index accepted */
};

void sender_init(struct sender *s, const struct sender_options *options,
                 struct service_port service, struct counters *counters);
void sender_release(struct sender *s);

/* Returns the batch to add to, or null while all are in use. */
struct batch *sender_filling(struct sender *s);

/* Marks the batch being filled as ready, if it is not empty. */
void sender_flush(struct sender *s);

/* Sends ready and due batches, as far as the limit of requests in flight allows. */
int sender_pump(struct sender *s, int64_t now_us, struct err *err) MUST_CHECK;

/* Result of one sender_collect. */
struct sender_news {
    size_t settled;        /* number of operations */
    int64_t settled_by_us; /* send time of the latest request that settled operations */
    struct err failure;    /* class TRANSIENT: why a request settled nothing; else NONE */
    int64_t failure_by_us; /* send time of the latest such request */
};

/* Takes all answered batches and settles their operations. A request that settled nothing is a
 * failure: the service is unreachable or refuses everything for now. A document that is refused
 * while others pass is not a failure (refused.h). */
int sender_collect(struct sender *s, const struct clock *clock, sender_settle settle, void *context,
                   struct sender_news *news, struct err *err) MUST_CHECK;

/* The service is back: retries waiting batches at once. */
void sender_hurry(struct sender *s);

/* Returns the monotonic time at which the next ready batch is due. Returns INT64_MAX if none is
 * waiting, or if nothing may be sent before an answer arrives. */
int64_t sender_next_due_us(const struct sender *s, int64_t now_us);

size_t sender_in_flight(const struct sender *s);

/* Returns the send time of the oldest unanswered request, or 0 if all are answered. */
int64_t sender_oldest_us(const struct sender *s);
