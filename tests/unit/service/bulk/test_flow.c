/* SPDX-License-Identifier: Apache-2.0 */
/* The flow control of a sender, tested by its effect on a service of four writers with a queue of
 * ten. */
#include "rowferry/service/bulk/flow.h"

#include <string.h>

#include "suite.h"

#define MOST 64
#define WRITERS 4
#define QUEUE 10
#define FIXED_US 4000.0    /* per request */
#define US_PER_BYTE 0.05   /* 20 MB/s per writer */
#define S INT64_C(1000000) /* one second in microseconds */

enum { CEILING = 32, BATCH = 1 << 20 };

struct request {
    bool flying, waiting; /* in flight, or waiting for its next attempt */
    bool limited;
    size_t bytes;
    int64_t sent_us, ready_us; /* ready: time when it is refused or done */
    bool refused;
    int64_t due_us;
    int64_t wait_us;
};

/* The simulated service processes requests in the order of its writers' work. */
struct world {
    struct flow flow;
    struct request requests[MOST];
    int64_t writers[WRITERS]; /* when each becomes free */
    int64_t now_us;
    int64_t storm_from_us, storm_to_us;
    int64_t retry_after_ms; /* of a refusal */
    double slower;          /* slowdown of the service */
    double bytes_done;
    unsigned answers, refusals, most_flying;
    uint64_t dice;
};

static void world_init(struct world *w)
{
    *w = (struct world){.slower = 1, .dice = 7, .storm_from_us = INT64_MAX};
    flow_init(&w->flow, &(struct flow_ceilings){CEILING, BATCH});
}

static double roll(struct world *w)
{
    w->dice = w->dice * 6364136223846793005u + 1442695040888963407u;
    return (double)(w->dice >> 11) / (double)(UINT64_C(1) << 53);
}

static unsigned flying(const struct world *w)
{
    unsigned count = 0;
    for (size_t i = 0; i < MOST; i++) {
        count += w->requests[i].flying;
    }
    return count;
}

/* Returns the number of requests in the writers' queue. */
static unsigned queued(const struct world *w)
{
    unsigned count = 0;
    for (size_t i = 0; i < MOST; i++) {
        count += w->requests[i].flying && !w->requests[i].refused;
    }
    return count > WRITERS ? count - WRITERS : 0;
}

static void serve(struct world *w, struct request *r)
{
    size_t first = 0;
    bool storm = w->now_us >= w->storm_from_us && w->now_us < w->storm_to_us;
    r->refused = storm || queued(w) >= QUEUE;
    if (r->refused) {
        r->ready_us = w->now_us + 1000;
        return;
    }
    for (size_t i = 1; i < WRITERS; i++) {
        first = w->writers[i] < w->writers[first] ? i : first;
    }
    int64_t begin = w->writers[first] > w->now_us ? w->writers[first] : w->now_us;
    double work = (FIXED_US + US_PER_BYTE * (double)r->bytes) * w->slower * (0.8 + 0.4 * roll(w));
    w->writers[first] = begin + (int64_t)work;
    r->ready_us = w->writers[first] + 500;
}

static void send_one(struct world *w, struct request *r, unsigned allowed)
{
    serve(w, r);
    r->flying = true;
    r->waiting = false;
    r->sent_us = w->now_us;
    r->limited = flying(w) >= allowed;
    w->most_flying = flying(w) > w->most_flying ? flying(w) : w->most_flying;
}

/* The supply of batches is unlimited; refused ones are sent first, when they are due. */
static void send_all(struct world *w)
{
    unsigned allowed = flow_in_flight(&w->flow, w->now_us);
    unsigned waiting = 0;
    for (size_t i = 0; i < MOST; i++) {
        struct request *r = &w->requests[i];
        waiting += r->waiting;
        if (r->waiting && r->due_us <= w->now_us && flying(w) < allowed) {
            send_one(w, r, allowed);
            waiting--;
        }
    }
    for (size_t i = 0; i < MOST && flying(w) + waiting <= CEILING && flying(w) < allowed; i++) {
        struct request *r = &w->requests[i];
        if (!r->flying && !r->waiting) {
            r->bytes = flow_batch_bytes(&w->flow);
            r->wait_us = 100000;
            send_one(w, r, allowed);
        }
    }
}

static void take_back(struct world *w, struct request *r)
{
    struct flow_answer a = {.verdict = r->refused ? FLOW_REFUSED : FLOW_WELL,
                            .sent_us = r->sent_us,
                            .now_us = w->now_us,
                            .bytes = r->bytes,
                            .limited = r->limited,
                            .retry_after_ms = r->refused ? w->retry_after_ms : 0};
    flow_answered(&w->flow, &a);
    r->flying = false;
    w->answers++;
    w->refusals += r->refused;
    if (!r->refused) {
        w->bytes_done += (double)r->bytes;
        for (size_t i = 0; i < MOST; i++) { /* as the sender does when the service is back */
            w->requests[i].due_us = 0;
        }
        return;
    }
    r->waiting = true;
    r->due_us = w->now_us + (int64_t)(roll(w) * (double)r->wait_us);
    r->wait_us = r->wait_us < 5 * S ? 2 * r->wait_us : r->wait_us;
}

/* Runs for that time. Returns the completed bytes per second. */
static double run(struct world *w, int64_t us)
{
    double before = w->bytes_done;
    int64_t end = w->now_us + us;
    w->answers = w->refusals = 0;
    for (; w->now_us < end; w->now_us += 500) {
        for (size_t i = 0; i < MOST; i++) {
            if (w->requests[i].flying && w->requests[i].ready_us <= w->now_us) {
                take_back(w, &w->requests[i]);
            }
        }
        send_all(w);
    }
    return (w->bytes_done - before) * (double)S / (double)us;
}

/* The maximum throughput, with batches of the ceiling's size and all writers busy. */
static double capacity(const struct world *w)
{
    return WRITERS * BATCH * (double)S / ((FIXED_US + US_PER_BYTE * BATCH) * w->slower);
}

START_TEST(nine_tenths_of_the_capacity_are_used_with_few_refusals)
{
    struct world w;
    world_init(&w);
    run(&w, 5 * S);
    double rate = run(&w, 60 * S);
    ck_assert_msg(rate >= 0.9 * capacity(&w), "%.3f of the capacity", rate / capacity(&w));
    ck_assert_msg(w.refusals * 50 <= w.answers, "%u of %u refused", w.refusals, w.answers);
    ck_assert_uint_le(w.most_flying, CEILING);
}
END_TEST

START_TEST(ten_seconds_after_a_storm_the_throughput_is_back)
{
    struct world w;
    world_init(&w);
    run(&w, 5 * S);
    double before = run(&w, 20 * S);
    w.storm_from_us = w.now_us;
    w.storm_to_us = w.now_us + 30 * S;
    run(&w, 10 * S);
    ck_assert_uint_eq(flow_in_flight(&w.flow, w.now_us), 1);
    run(&w, 20 * S);
    /* full jitter up to five seconds for each waiting request, one at a time, so the load stays
     * low */
    ck_assert_msg(w.answers <= 20 * CEILING, "%u tries", w.answers);
    run(&w, 10 * S);
    double after = run(&w, 5 * S);
    ck_assert_msg(after >= 0.9 * before, "%.3f of before", after / before);
    ck_assert_uint_le(w.most_flying, CEILING);
}
END_TEST

START_TEST(a_service_that_becomes_slower_is_followed)
{
    struct world w;
    world_init(&w);
    run(&w, 10 * S);
    w.slower = 3;
    run(&w, 70 * S);
    double rate = run(&w, 60 * S);
    ck_assert_msg(rate >= 0.85 * capacity(&w), "%.3f of the capacity", rate / capacity(&w));
    ck_assert_msg(w.refusals * 50 <= w.answers, "%u of %u refused", w.refusals, w.answers);
}
END_TEST

START_TEST(a_pause_that_the_service_asks_for_is_kept)
{
    struct world w;
    world_init(&w);
    run(&w, 3 * S);
    w.retry_after_ms = 4000;
    w.storm_from_us = w.now_us;
    w.storm_to_us = w.now_us + S;
    run(&w, S);
    ck_assert_uint_gt(w.refusals, 0);
    ck_assert_uint_eq(flow_in_flight(&w.flow, w.now_us), 0);
    ck_assert_int_gt(flow_due_us(&w.flow, w.now_us), w.now_us + 2 * S);
    run(&w, 2 * S);
    ck_assert_uint_eq(w.answers, 0);
    run(&w, 4 * S);
    ck_assert(run(&w, 5 * S) >= 0.9 * capacity(&w));
}
END_TEST

static struct flow_answer answer(enum flow_verdict verdict, int64_t sent_us, int64_t now_us)
{
    return (struct flow_answer){verdict, sent_us, now_us, 1 << 20, true, 0};
}

START_TEST(one_round_is_cut_once)
{
    struct flow f;
    flow_init(&f, &(struct flow_ceilings){16, 1 << 20});
    f.in_flight = 16;
    for (int i = 0; i < 16; i++) {
        struct flow_answer a = answer(FLOW_REFUSED, 1000 + i, 5000 + i);
        flow_answered(&f, &a);
    }
    ck_assert_uint_eq(flow_in_flight(&f, 6000), 8);
    struct flow_answer next = answer(FLOW_REFUSED, 6000, 7000);
    flow_answered(&f, &next);
    ck_assert_uint_eq(flow_in_flight(&f, 8000), 4);
}
END_TEST

START_TEST(each_verdict_cuts_its_own_limit)
{
    static const struct {
        enum flow_verdict verdict;
        unsigned in_flight;
        size_t batch_bytes;
    } cases[] = {{FLOW_REFUSED, 4, 1 << 20}, {FLOW_OVERSIZE, 8, 1 << 19}, {FLOW_LOST, 4, 1 << 19}};
    for (size_t i = 0; i < 3; i++) {
        struct flow f;
        flow_init(&f, &(struct flow_ceilings){8, 1 << 20});
        f.in_flight = 8;
        f.batch_bytes = 1 << 20;
        struct flow_answer a = answer(cases[i].verdict, 1000, 2000);
        flow_answered(&f, &a);
        ck_assert_uint_eq(flow_in_flight(&f, 3000), cases[i].in_flight);
        ck_assert_uint_eq(flow_batch_bytes(&f), cases[i].batch_bytes);
    }
}
END_TEST

START_TEST(limits_stay_between_one_and_the_ceilings)
{
    struct flow f;
    flow_init(&f, &(struct flow_ceilings){1, 1000});
    ck_assert_uint_eq(flow_in_flight(&f, 0), 1);
    ck_assert_uint_eq(flow_batch_bytes(&f), 1000);
    for (int64_t t = 1000; t < 200000; t += 1000) {
        struct flow_answer a = answer(t % 3000 == 0 ? FLOW_LOST : FLOW_WELL, t, t + 900);
        flow_answered(&f, &a);
        ck_assert_uint_eq(flow_in_flight(&f, t + 900), 1);
        ck_assert_uint_eq(flow_batch_bytes(&f), 1000);
    }
}
END_TEST

START_TEST(a_batch_size_that_may_not_grow_only_shrinks)
{
    struct world w;
    world_init(&w);
    size_t start = flow_batch_bytes(&w.flow);
    flow_stop_growth(&w.flow, true);
    run(&w, 2 * S);
    ck_assert_uint_eq(flow_batch_bytes(&w.flow), start);
    struct flow_answer a = answer(FLOW_OVERSIZE, w.now_us, w.now_us + 1);
    flow_answered(&w.flow, &a);
    ck_assert_uint_eq(flow_batch_bytes(&w.flow), start / 2);
    flow_stop_growth(&w.flow, false);
    run(&w, 5 * S);
    ck_assert_uint_gt(flow_batch_bytes(&w.flow), start);
}
END_TEST

START_TEST(a_refused_size_is_not_tried_again)
{
    struct world w;
    world_init(&w);
    size_t refused = (size_t)1 << 20;
    struct flow_answer a = answer(FLOW_OVERSIZE, w.now_us, w.now_us + 1);
    flow_answered(&w.flow, &a);
    run(&w, 20 * S);
    ck_assert_uint_le(flow_batch_bytes(&w.flow), refused / 10 * 9);
    ck_assert_uint_gt(flow_batch_bytes(&w.flow), refused / 10 * 8);
    flow_limit_batch(&w.flow, 1000);
    ck_assert_uint_eq(flow_batch_bytes(&w.flow), FLOW_LEAST_BATCH);
}
END_TEST

SUITE_MAIN("service/flow", a_refused_size_is_not_tried_again,
           nine_tenths_of_the_capacity_are_used_with_few_refusals,
           ten_seconds_after_a_storm_the_throughput_is_back,
           a_service_that_becomes_slower_is_followed, a_pause_that_the_service_asks_for_is_kept,
           one_round_is_cut_once, each_verdict_cuts_its_own_limit,
           limits_stay_between_one_and_the_ceilings, a_batch_size_that_may_not_grow_only_shrinks)
