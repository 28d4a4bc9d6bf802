/* SPDX-License-Identifier: Apache-2.0 */
/* A source that has had no changes for a while is left alone. */
#include "fake_worker.h"
#include "rowferry/engine/pipeline/requests.h"

#define QUIET_S 3600

static struct fake fake;
static struct fake_worker w;
static int64_t quiet_since_us; /* virtual time at which the first quiet time began */
static int64_t request;

static int64_t quiet_s(void)
{
    return (fake.now_us - quiet_since_us) / 1000000;
}

static void begin(void (*waited)(struct fake_worker *worker, int64_t ms))
{
    fake_worker_begin(&w, &fake, 10);
    w.config.source.quiet_ms = QUIET_S * INT64_C(1000);
    fake_worker_reload(&w);
    w.waited = waited;
    quiet_since_us = 0;
    request = 0;
}

/* Returns true once, as soon as the first quiet time begins. */
static bool first_quiet(const struct fake_worker *worker)
{
    ck_assert_uint_le(worker->rested, 2);
    if (worker->rested != 1 || quiet_since_us != 0) {
        return false;
    }
    quiet_since_us = fake.now_us;
    ck_assert(fake_equal(&fake));
    ck_assert_ptr_null(worker->table); /* not connected */
    return true;
}

static void write_then_stop(struct fake_worker *worker, int64_t ms)
{
    (void)ms;
    if (first_quiet(worker)) {
        fake_write(&fake, 20, 5);
    } else if (worker->rested == 1) {
        ck_assert(!fake_equal(&fake)); /* nobody has looked */
    } else if (worker->rested == 2) {
        ck_assert(fake_equal(&fake));
        fake_worker_stop(worker);
    }
}

START_TEST(changes_are_found_when_the_quiet_time_is_over)
{
    begin(write_then_stop);
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE);
    ck_assert_uint_eq(w.rounds, 2);
    /* after a change it follows for a minute before it leaves the source alone again */
    ck_assert_int_ge(quiet_s(), QUIET_S + 60);
    ck_assert_int_le(quiet_s(), QUIET_S + 120);
    fake_worker_end(&w);
}
END_TEST

static void stop_in_the_third(struct fake_worker *worker, int64_t ms)
{
    (void)ms;
    if (quiet_since_us == 0 && worker->rested == 1) {
        quiet_since_us = fake.now_us;
    } else if (worker->rested == 3) {
        fake_worker_stop(worker);
    }
}

START_TEST(without_changes_each_look_is_short)
{
    begin(stop_in_the_third);
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE);
    ck_assert_uint_eq(w.rounds, 3);
    ck_assert_int_le(quiet_s(), 2 * QUIET_S + 30);
    fake_worker_end(&w);
}
END_TEST

static void ask_then_stop(struct fake_worker *worker, int64_t ms)
{
    (void)ms;
    if (first_quiet(worker)) {
        request = fake_worker_ask(worker, REQUEST_RESYNC, "3\n");
    } else if (worker->rested == 2) {
        fake_worker_stop(worker);
    }
}

START_TEST(a_request_ends_it)
{
    begin(ask_then_stop);
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE);
    fake_worker_expect(&w, request, REQUEST_DONE, "");
    ck_assert_int_lt(quiet_s(), QUIET_S / 10);
    fake_worker_end(&w);
}
END_TEST

static void reload_then_stop(struct fake_worker *worker, int64_t ms)
{
    (void)ms;
    if (first_quiet(worker)) {
        fake_write(&fake, 20, 5);
        pipeline_worker_send_order(&worker->worker, PIPELINE_WORKER_BEGIN_ANEW);
    } else if (worker->rested == 2) {
        ck_assert(fake_equal(&fake));
        fake_worker_stop(worker);
    }
}

START_TEST(an_order_ends_it)
{
    begin(reload_then_stop);
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE);
    ck_assert_int_lt(quiet_s(), QUIET_S / 10);
    fake_worker_end(&w);
}
END_TEST

static void another_takes_it(struct fake_worker *worker, int64_t ms)
{
    (void)ms;
    if (first_quiet(worker)) {
        fake_write(&fake, 20, 5);
        fake_worker_lease(worker, LEASE_HOLDER_TAKEN);
    }
}

START_TEST(a_pipeline_that_another_process_took_meanwhile_is_lost)
{
    begin(another_takes_it);
    ck_assert_int_eq(fake_worker_run(&w), EXIT_HELD);
    ck_assert_uint_eq(w.rounds, 1);
    ck_assert_uint_eq(fake_worker_logged(&w, "lost"), 1);
    ck_assert(!fake_equal(&fake)); /* it did not write */
    fake_worker_end(&w);
}
END_TEST

SUITE_MAIN("daemon/pipeline_worker_quiet", changes_are_found_when_the_quiet_time_is_over,
           without_changes_each_look_is_short, a_request_ends_it, an_order_ends_it,
           a_pipeline_that_another_process_took_meanwhile_is_lost)
