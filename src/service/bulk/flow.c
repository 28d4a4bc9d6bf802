/* SPDX-License-Identifier: Apache-2.0 */
/* Additive increase, multiplicative decrease, and an estimate of the service's queue. */
#include "rowferry/service/bulk/flow.h"

#define START_IN_FLIGHT 2.0
#define START_BATCH ((double)((size_t)512 << 10))
#define CUT 0.5
#define GROWTH_BATCH 1.25 /* per answer while doubling; otherwise 1/8 of the room left */
#define QUEUE_WELCOME 2.0 /* queued requests: below this, the limit may grow */
#define QUEUE_LONG 4.0    /* above this, the limit shrinks */
#define BEST_SPAN_US INT64_C(30000000)
#define HOLD_MOST_MS INT64_C(60000)

void flow_init(struct flow *f, const struct flow_ceilings *ceilings)
{
    *f = (struct flow){.ceilings = *ceilings,
                       .in_flight = START_IN_FLIGHT,
                       .batch_bytes = START_BATCH,
                       .doubling = true,
                       .recovered = true,
                       .doubles_to = ceilings->in_flight};
    if (f->in_flight > ceilings->in_flight) {
        f->in_flight = ceilings->in_flight;
    }
    if (f->batch_bytes > (double)ceilings->batch_bytes) {
        f->batch_bytes = (double)ceilings->batch_bytes;
    }
}

static double flow_least(double a, double b)
{
    return a < b ? a : b;
}

static double flow_most(double a, double b)
{
    return a > b ? a : b;
}

/* --- the queue ----------------------------------------------------------------------------- */

static double flow_best_of(const struct flow_best *b)
{
    double before = b->before_us_per_byte;
    double now = b->now_us_per_byte;
    return before == 0 || now == 0 ? before + now : flow_least(before, now);
}

/* Records the lowest time per byte. A service that has become slower permanently is recognised
 * after two spans. */
static void flow_note_best(struct flow_best *b, double us_per_byte, int64_t now_us)
{
    if (b->since_us == 0 || now_us - b->since_us >= BEST_SPAN_US) {
        b->before_us_per_byte = b->now_us_per_byte;
        b->now_us_per_byte = us_per_byte;
        b->since_us = now_us;
    } else if (b->now_us_per_byte == 0 || us_per_byte < b->now_us_per_byte) {
        b->now_us_per_byte = us_per_byte;
    }
}

/* Estimates the number of requests in flight that wait for others of ours; negative if this answer
 * is no basis for an estimate. */
static double flow_queue_of(struct flow *f, const struct flow_answer *a)
{
    double took_us = (double)(a->now_us - a->sent_us);
    if ((double)a->bytes < f->batch_bytes / 2 || took_us <= 0) {
        return -1;
    }
    double us_per_byte = took_us / (double)a->bytes;
    flow_note_best(&f->best, us_per_byte, a->now_us);
    return f->in_flight * (1 - flow_best_of(&f->best) / us_per_byte);
}

/* --- the limits ---------------------------------------------------------------------------- */

static void flow_set_in_flight(struct flow *f, double in_flight)
{
    f->in_flight = flow_most(1, flow_least(in_flight, f->ceilings.in_flight));
}

static void flow_set_batch(struct flow *f, double bytes)
{
    double ceiling = (double)f->ceilings.batch_bytes;
    f->batch_bytes =
        flow_least(flow_most(bytes, flow_least((double)FLOW_LEAST_BATCH, ceiling)), ceiling);
}

/* Halves the limits. After a cut, growth doubles up to half of the failed limit and is slow from
 * there. */
static void flow_cut(struct flow *f, const struct flow_answer *a)
{
    if (a->sent_us < f->cut_us) {
        return;
    }
    if (f->recovered) {
        f->doubles_to = flow_most(1, f->in_flight * CUT);
    }
    if (a->verdict == FLOW_OVERSIZE || a->verdict == FLOW_LOST) {
        flow_set_batch(f, f->batch_bytes * CUT);
    }
    if (a->verdict != FLOW_OVERSIZE) {
        flow_set_in_flight(f, f->in_flight * CUT);
    }
    f->doubling = true;
    f->recovered = false;
    f->cut_us = a->now_us;
}

static void flow_grow_batch(struct flow *f)
{
    double room = (double)f->ceilings.batch_bytes - f->batch_bytes;
    if (!f->growth_stopped) {
        flow_set_batch(f, f->doubling ? f->batch_bytes * GROWTH_BATCH : f->batch_bytes + room / 8);
    }
}

static void flow_grow_in_flight(struct flow *f)
{
    if (!f->doubling) {
        flow_set_in_flight(f, f->in_flight + 1 / f->in_flight);
        return;
    }
    flow_set_in_flight(f, flow_least(f->in_flight + 1, flow_most(f->doubles_to, f->in_flight)));
    f->doubling = f->in_flight < f->doubles_to;
}

static void flow_went_well(struct flow *f, const struct flow_answer *a)
{
    double queue = flow_queue_of(f, a);
    if (a->sent_us < f->cut_us) {
        return;
    }
    f->recovered = true;
    if (queue < 0) {
        return;
    }
    if (queue > QUEUE_WELCOME) {
        f->doubling = false;
        flow_set_in_flight(f, f->in_flight - (queue > QUEUE_LONG ? 1 / f->in_flight : 0));
        return;
    }
    flow_grow_batch(f);
    if (a->limited) {
        flow_grow_in_flight(f);
    }
}

void flow_answered(struct flow *f, const struct flow_answer *answer)
{
    int64_t pause_ms =
        answer->retry_after_ms < HOLD_MOST_MS ? answer->retry_after_ms : HOLD_MOST_MS;
    int64_t until_us = answer->now_us + pause_ms * 1000;
    if (pause_ms > 0 && until_us > f->hold_us) {
        f->hold_us = until_us;
    }
    if (answer->verdict == FLOW_WELL) {
        flow_went_well(f, answer);
    } else {
        flow_cut(f, answer);
    }
    if (answer->verdict == FLOW_OVERSIZE) {
        flow_limit_batch(f, answer->bytes / 10 * 9);
    }
}

unsigned flow_in_flight(const struct flow *f, int64_t now_us)
{
    return now_us < f->hold_us ? 0 : (unsigned)f->in_flight;
}

size_t flow_batch_bytes(const struct flow *f)
{
    return (size_t)f->batch_bytes;
}

int64_t flow_due_us(const struct flow *f, int64_t now_us)
{
    return now_us < f->hold_us ? f->hold_us : 0;
}

void flow_limit_batch(struct flow *f, size_t bytes)
{
    size_t ceiling = bytes > FLOW_LEAST_BATCH ? bytes : FLOW_LEAST_BATCH;
    if (ceiling < f->ceilings.batch_bytes) {
        f->ceilings.batch_bytes = ceiling;
        flow_set_batch(f, f->batch_bytes);
    }
}

void flow_stop_growth(struct flow *f, bool growth_stopped)
{
    f->growth_stopped = growth_stopped;
}
