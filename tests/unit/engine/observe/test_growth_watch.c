/* SPDX-License-Identifier: Apache-2.0 */
/* Watching an index while it is filled: how often, and with which result. */
#include "observe/growth_watch.h"

#include "fake.h"
#include "fake_private.h"
#include "suite.h"

#define S INT64_C(1000000)

static struct loop_view view = {.target = {.pipeline = "things", .index = "things-1"}};

static void begin(struct fake *f, struct growth_watch *w, struct flow *flow)
{
    *f = (struct fake){0};
    view.service = fake_service_port(f);
    *w = (struct growth_watch){.view = &view, .flow = flow};
    flow_init(flow, &(struct flow_ceilings){8, 1 << 20});
}

static void turn(struct growth_watch *w, int64_t settled, int64_t now_us)
{
    growth_watch_turn(w, &(struct growth_sent){settled, 100, -1}, now_us);
}

START_TEST(it_looks_every_half_minute)
{
    struct fake f;
    struct growth_watch w;
    struct flow flow;
    begin(&f, &w, &flow);
    for (int64_t t = 0; t < 95 * S; t += S / 10) {
        turn(&w, t / 1000, 1000 * S + t);
    }
    ck_assert_uint_eq(f.storage_looks, 3);
}
END_TEST

START_TEST(who_may_not_look_asks_once)
{
    struct fake f;
    struct growth_watch w;
    struct flow flow;
    begin(&f, &w, &flow);
    f.storage_forbidden = true;
    for (int64_t t = 0; t < 200 * S; t += S) {
        turn(&w, t, 1000 * S + t);
    }
    ck_assert_uint_eq(f.storage_looks, 1);
    ck_assert(!flow.growth_stopped);
}
END_TEST

START_TEST(an_index_that_swells_freezes_the_batches_until_it_does_not)
{
    struct fake f;
    struct growth_watch w;
    struct flow flow;
    begin(&f, &w, &flow);
    for (int64_t i = 0; i < 12; i++) {
        f.storage_bytes = i * 500000;
        turn(&w, i * 1000, (1000 + 31 * i) * S);
        ck_assert(!flow.growth_stopped);
    }
    f.storage_bytes = 60000000;
    turn(&w, 12000, 1500 * S);
    ck_assert(flow.growth_stopped);
    f.storage_bytes = 6500000;
    turn(&w, 13000, 1600 * S);
    ck_assert(!flow.growth_stopped);
}
END_TEST

START_TEST(a_service_that_loses_documents_gets_fewer_at_a_time)
{
    struct fake f;
    struct growth_watch w;
    struct flow flow;
    begin(&f, &w, &flow);
    for (int64_t i = 1; i < 4; i++) {
        f.storage_indexed = i * 1000;
        turn(&w, i * 1000, (1000 + 31 * i) * S);
    }
    ck_assert_str_eq(growth_watch_why(&w), "");
    size_t before = flow_batch_bytes(&flow);
    turn(&w, 4000, 1500 * S);
    ck_assert_str_eq(growth_watch_why(&w),
                     "the service counts fewer documents than it acknowledged");
    ck_assert_int_eq(w.growth.missing, 900);
    ck_assert(flow.growth_stopped);
    ck_assert_uint_eq(flow_batch_bytes(&flow), before / 2);
    f.storage_indexed = 4000;
    turn(&w, 5000, 1600 * S);
    ck_assert_str_eq(growth_watch_why(&w), "");
    ck_assert(!flow.growth_stopped);
}
END_TEST

SUITE_MAIN("engine/growth_watch", it_looks_every_half_minute, who_may_not_look_asks_once,
           a_service_that_loses_documents_gets_fewer_at_a_time,
           an_index_that_swells_freezes_the_batches_until_it_does_not)
