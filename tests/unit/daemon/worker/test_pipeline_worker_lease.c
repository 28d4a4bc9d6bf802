/* SPDX-License-Identifier: Apache-2.0 */
/* How a worker becomes the holder on its host and among all hosts, stands by, and loses. */
#include "fake_worker.h"
#include "rowferry/state/live_progress.h"
#include "rowferry/state/lock.h"

static struct fake fake;
static struct fake_worker w;
static struct state *other; /* the state file of another process on this host */

static void stop_when_equal(struct fake *f)
{
    if (fake_equal(f)) {
        fake_worker_stop(&w);
    }
}

static void begin(enum pipeline_worker_mode mode)
{
    fake_worker_begin(&w, &fake, 10);
    w.worker.mode = mode;
    fake.step = stop_when_equal;
}

static void hold_in_another_process(void)
{
    struct err err;
    OK(state_open(&other, fake.path, "things", &err));
    OK(lock_take(other, "sync", 1, &err));
}

/* Returns what the first round was told about the time before. */
static int note_before(struct fake_worker *worker, struct err *err)
{
    (void)err;
    if (worker->rounds == 1) {
        worker->steps = (size_t)worker->worker.rivals;
    }
    return 0;
}

/* --- on this host ----------------------------------------------------------------------------- */

START_TEST(a_worker_ends_if_another_process_holds_the_pipeline)
{
    begin(PIPELINE_WORKER_ENDS_IF_HELD);
    hold_in_another_process();
    ck_assert_int_eq(fake_worker_run(&w), EXIT_HELD);
    ck_assert_uint_eq(w.rounds + w.wait_count, 0);
    ck_assert_ptr_null(w.lease.pipeline); /* it does not try the lease */
    state_close(other);
    fake_worker_end(&w);
}
END_TEST

static void release_at_the_third_try(struct fake_worker *worker, int64_t ms)
{
    ck_assert_int_ge(ms, 1000);
    ck_assert_int_lt(ms, 2000);
    ck_assert_str_eq(pipeline_worker_stage(&worker->worker), LIVE_PROGRESS_STANDING_BY);
    if (worker->wait_count == 3) {
        state_close(other);
    }
}

START_TEST(a_standby_takes_over_when_the_holder_ends)
{
    begin(PIPELINE_WORKER_STANDS_BY);
    hold_in_another_process();
    w.waited = release_at_the_third_try;
    w.opened = note_before;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE);
    ck_assert(fake_equal(&fake));
    ck_assert_uint_eq(w.wait_count, 3);
    ck_assert_uint_eq(w.steps, RIVALS_ACTIVE);
    ck_assert_uint_eq(fake_worker_logged(&w, "standing_by"), 1);
    ck_assert_uint_eq(fake_worker_logged(&w, "took_over"), 1);
    fake_worker_end(&w);
}
END_TEST

static void stop_at_once(struct fake_worker *worker, int64_t ms)
{
    (void)ms;
    fake_worker_stop(worker);
}

START_TEST(a_standby_can_be_stopped)
{
    begin(PIPELINE_WORKER_STANDS_BY);
    hold_in_another_process();
    w.waited = stop_at_once;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE);
    ck_assert_uint_eq(w.rounds, 0);
    state_close(other);
    fake_worker_end(&w);
}
END_TEST

/* --- among all hosts -------------------------------------------------------------------------- */

START_TEST(a_worker_that_holds_both_begins_without_standing_by)
{
    begin(PIPELINE_WORKER_STANDS_BY);
    w.opened = note_before;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE);
    ck_assert_uint_eq(w.steps, RIVALS_POSSIBLE);
    ck_assert_int_eq(w.worker.rivals, RIVALS_NONE);
    ck_assert(w.worker.session.fences);
    ck_assert_uint_eq(fake_worker_logged(&w, "took_over"), 0);
    ck_assert_ptr_null(w.lease.pipeline); /* given back */
    fake_worker_end(&w);
}
END_TEST

START_TEST(a_worker_ends_if_another_host_has_the_lease)
{
    begin(PIPELINE_WORKER_ENDS_IF_HELD);
    w.lease_state = LEASE_HOLDER_TAKEN;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_HELD);
    ck_assert_uint_eq(w.rounds, 0);
    fake_worker_end(&w);
}
END_TEST

START_TEST(a_worker_begins_if_the_lease_is_unknown)
{
    begin(PIPELINE_WORKER_ENDS_IF_HELD);
    w.lease_state = LEASE_HOLDER_UNSURE;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE);
    ck_assert(fake_equal(&fake));
    ck_assert(!w.worker.session.fences); /* only the lease holder may end other sessions */
    fake_worker_end(&w);
}
END_TEST

static void expect_standby_in_status(void)
{
    struct err err;
    struct state *state = NULL;
    struct live_progress progress;
    bool known = false;
    OK(state_open(&state, fake.path, "things", &err));
    OK(live_progress_read(state, &progress, &known, &err));
    ck_assert(known);
    ck_assert_str_eq(progress.stage, LIVE_PROGRESS_STANDING_BY);
    ck_assert_str_eq(progress.holder, "held on another host");
    ck_assert_str_eq(progress.growth_stopped, "");
    state_close(state);
}

/* The source is away for a while, then the other host ends. */
static void give_the_lease(struct fake_worker *worker, int64_t ms)
{
    ck_assert_int_eq(ms, 10000);
    expect_standby_in_status();
    if (worker->wait_count == 2) {
        fake_worker_lease(worker, LEASE_HOLDER_UNSURE); /* it held the pipeline last */
    } else if (worker->wait_count == 4) {
        fake_worker_lease(worker, LEASE_HOLDER_HOLDS);
    }
}

START_TEST(a_standby_waits_for_the_lease_also_while_it_is_unknown)
{
    begin(PIPELINE_WORKER_STANDS_BY);
    w.lease_state = LEASE_HOLDER_TAKEN;
    w.waited = give_the_lease;
    w.opened = note_before;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE);
    ck_assert(fake_equal(&fake));
    ck_assert_uint_eq(w.wait_count, 4);
    ck_assert_uint_eq(w.steps, RIVALS_ACTIVE);
    ck_assert_uint_eq(fake_worker_logged(&w, "standing_by"), 1);
    fake_worker_end(&w);
}
END_TEST

START_TEST(a_cursor_cannot_stand_by_for_another_host)
{
    fake_init(&fake, 10);
    fake.cursor = true;
    fake_worker_init(&w, &fake);
    w.worker.mode = PIPELINE_WORKER_STANDS_BY;
    w.lease_state = LEASE_HOLDER_TAKEN;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_HELD);
    ck_assert_ptr_nonnull(strstr(w.worker.err.message, "cannot stand by"));
    ck_assert_str_ne(w.worker.err.hint, "");
    fake_worker_end(&w);
}
END_TEST

/* --- loss ------------------------------------------------------------------------------------- */

/* Another host takes the lease when the load is complete, once. */
static void take_the_lease_when_loaded(struct fake *f)
{
    if (w.steps == 0 && fake_equal(f)) {
        w.steps = 1;
        fake_worker_lease(&w, LEASE_HOLDER_TAKEN);
    }
    if (f->log_count > 0 && fake_equal(f)) {
        fake_worker_stop(&w);
    }
}

START_TEST(a_worker_ends_if_it_loses_the_lease)
{
    begin(PIPELINE_WORKER_ENDS_IF_HELD);
    fake.step = take_the_lease_when_loaded;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_HELD);
    ck_assert_ptr_nonnull(strstr(w.worker.err.message, "lost"));
    ck_assert_uint_eq(fake_worker_logged(&w, "lost"), 1);
    fake_worker_end(&w);
}
END_TEST

/* The other host writes a change and ends. */
static void let_the_other_host_work(struct fake_worker *worker, int64_t ms)
{
    (void)ms;
    if (worker->wait_count == 1) {
        fake_write(worker->fake, 2, 99);
        fake_worker_lease(worker, LEASE_HOLDER_HOLDS);
    }
}

START_TEST(a_standby_that_lost_the_lease_takes_over_again)
{
    begin(PIPELINE_WORKER_STANDS_BY);
    fake.step = take_the_lease_when_loaded;
    w.waited = let_the_other_host_work;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE);
    ck_assert(fake_equal(&fake));
    ck_assert_uint_eq(w.rounds, 2);
    ck_assert_uint_eq(fake_worker_logged(&w, "lost"), 1);
    ck_assert_uint_eq(fake_worker_logged(&w, "took_over"), 1);
    fake_worker_end(&w);
}
END_TEST

SUITE_MAIN("daemon/pipeline_worker_lease", a_worker_ends_if_another_process_holds_the_pipeline,
           a_standby_takes_over_when_the_holder_ends, a_standby_can_be_stopped,
           a_worker_that_holds_both_begins_without_standing_by,
           a_worker_ends_if_another_host_has_the_lease, a_worker_begins_if_the_lease_is_unknown,
           a_standby_waits_for_the_lease_also_while_it_is_unknown,
           a_cursor_cannot_stand_by_for_another_host, a_worker_ends_if_it_loses_the_lease,
           a_standby_that_lost_the_lease_takes_over_again)
