/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much at a time: how many bulk requests may be in flight, and how large a batch is aimed at.
 * Pure arithmetic over what the answers say; time comes in as an argument.
 *
 * Both limits begin low, double while all goes well, and find their place below the ceilings of
 * the configuration:
 *
 *     refused for now (429, 503), as a whole or an item of it         half as many requests
 *     refused for its size                                            half as large a batch
 *     no answer, or the service is short of memory                    half of both
 *     answers take longer than they would without a queue             no growth, then one less
 *     Retry-After                                                      nothing until then
 *     all well, and the limit was what held the sender back           one more per round
 *
 * One cut a round: what was sent before the last cut says nothing about the limit since. The queue
 * in front of the service is told from the best time that a byte took in the last minute (the
 * method of TCP Vegas, Brakmo and Peterson 1995); only batches near the aim count, as a small one
 * has other costs.
 */
#ifndef ROWFERRY_SERVICE_FLOW_H
#define ROWFERRY_SERVICE_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flow_ceilings {
    unsigned in_flight;
    size_t batch_bytes;
};

/* The best time of the last minute or two, in two halves that take turns. */
struct flow_best {
    double now_us_per_byte; /* 0 = none yet */
    double before_us_per_byte;
    int64_t since_us;
};

struct flow {
    struct flow_ceilings ceilings;
    double in_flight;   /* 1 to the ceiling */
    double batch_bytes; /* FLOW_LEAST_BATCH to the ceiling */
    bool doubling;      /* up to doubles_to, at the start and after a cut */
    double doubles_to;
    bool recovered;  /* something went well since the last cut */
    bool frozen;     /* batches grow no more, whatever the answers say */
    bool crowded;    /* the last judgement: a queue has built up */
    int64_t cut_us;  /* the last cut */
    int64_t hold_us; /* nothing is sent before */
    struct flow_best best;
};

#define FLOW_LEAST_BATCH ((size_t)64 << 10)

enum flow_verdict {
    FLOW_WELL,     /* answered; every item was settled one way or the other */
    FLOW_REFUSED,  /* the service is busy: the request or some items were refused for now */
    FLOW_OVERSIZE, /* the request was refused for its size, or broke off while it was sent */
    FLOW_LOST,     /* no answer, none that can be read, or the service was short of memory */
};

struct flow_answer {
    enum flow_verdict verdict;
    int64_t sent_us; /* monotonic, as all times here */
    int64_t now_us;
    size_t bytes;           /* of the request */
    bool limited;           /* as many requests as allowed were in flight */
    int64_t retry_after_ms; /* 0 = unsaid */
};

void flow_init(struct flow *f, const struct flow_ceilings *ceilings);

void flow_answered(struct flow *f, const struct flow_answer *answer);

/* How many requests may be in flight now; 0 while the service asked for a pause. */
unsigned flow_in_flight(const struct flow *f, int64_t now_us);

/* How many bytes the next batch aims at. */
size_t flow_batch_bytes(const struct flow *f);

/* When sending may go on after a pause; 0 = now. */
int64_t flow_due_us(const struct flow *f, int64_t now_us);

/* The index grows faster than its documents tell: batches grow no more. */
void flow_freeze(struct flow *f, bool frozen);

#endif
