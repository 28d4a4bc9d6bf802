/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flow control: how many bulk requests may be in flight, and the target size of a batch. It is pure
 * arithmetic over the answers; time is an argument.
 *
 * Both limits start low, double while all goes well, and settle below the configured ceilings:
 *
 *     temporary refusal (429, 503) of the request or an item          halves the requests
 *     refusal because of size                                         halves the batch size; it
 *                                                                     stays a tenth below the size
 *     no answer, or the service is short of memory                    halves both
 *     answers take longer than they would without a queue             no growth, then one less
 *     Retry-After                                                     pauses until then
 *     success while the limit held the sender back                    one more per round
 *
 * There is one cut per round, because requests sent before the last cut prove nothing about the new
 * limit. The queue in front of the service is estimated from the lowest time per byte in the last
 * minute (the method of TCP Vegas, Brakmo and Peterson 1995). Only batches close to the target size
 * count, because small ones have other costs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flow_ceilings {
    unsigned in_flight;
    size_t batch_bytes;
};

/* Lowest time per byte of the last minute or two, kept in two alternating halves. */
struct flow_best {
    double now_us_per_byte; /* 0 = none yet */
    double before_us_per_byte;
    int64_t since_us;
};

struct flow {
    struct flow_ceilings ceilings;
    double in_flight;   /* from 1 to the ceiling */
    double batch_bytes; /* from FLOW_LEAST_BATCH to the ceiling */
    bool doubling;      /* doubles up to doubles_to, at the start and after a cut */
    double doubles_to;
    bool recovered;      /* a request has succeeded since the last cut */
    bool growth_stopped; /* batches do not grow, whatever the answers are */
    int64_t cut_us;      /* time of the last cut */
    int64_t hold_us;     /* nothing is sent before this time */
    struct flow_best best;
};

#define FLOW_LEAST_BATCH ((size_t)64 << 10)

enum flow_verdict {
    FLOW_WELL,     /* answered, every item is settled */
    FLOW_REFUSED,  /* the service is busy: temporary refusal of the request or of items */
    FLOW_OVERSIZE, /* refused because of size, or the connection broke while sending */
    FLOW_LOST,     /* no readable answer, or the service was short of memory */
};

struct flow_answer {
    enum flow_verdict verdict;
    int64_t sent_us; /* monotonic, like all times here */
    int64_t now_us;
    size_t bytes;           /* request size */
    bool limited;           /* the permitted number of requests was in flight */
    int64_t retry_after_ms; /* 0 = not given */
};

void flow_init(struct flow *f, const struct flow_ceilings *ceilings);

void flow_answered(struct flow *f, const struct flow_answer *answer);

/* Returns the permitted number of requests in flight; 0 during a pause that the service asked
 * for. */
unsigned flow_in_flight(const struct flow *f, int64_t now_us);

/* Returns the target size of the next batch in bytes. */
size_t flow_batch_bytes(const struct flow *f);

/* Returns the end of the current pause; 0 = no pause. */
int64_t flow_due_us(const struct flow *f, int64_t now_us);

/* Lowers the ceiling of the batch size, if it is higher: the service takes no larger requests. */
void flow_limit_batch(struct flow *f, size_t bytes);

/* Stops the growth of batches if growth_stopped is true: the index grows faster than its documents
 * explain. */
void flow_stop_growth(struct flow *f, bool growth_stopped);
