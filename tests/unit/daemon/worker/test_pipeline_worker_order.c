/* SPDX-License-Identifier: Apache-2.0 */
/* Orders to a worker, its stage, and its heartbeat. */
#include <sys/eventfd.h>

#include "fake_worker.h"

static struct fake fake;
static struct fake_worker w;

static enum pipeline_worker_order order(void)
{
    return pipeline_worker_order_of(&w.worker);
}

static void send(enum pipeline_worker_order sent)
{
    pipeline_worker_send_order(&w.worker, sent);
}

START_TEST(of_several_orders_the_stop_comes_first)
{
    fake_worker_begin(&w, &fake, 1);
    ck_assert_int_eq(order(), PIPELINE_WORKER_GO_ON);
    send(PIPELINE_WORKER_BEGIN_ANEW);
    ck_assert_int_eq(order(), PIPELINE_WORKER_BEGIN_ANEW);
    send(PIPELINE_WORKER_GO_ON);
    ck_assert_int_eq(order(), PIPELINE_WORKER_BEGIN_ANEW);
    send(PIPELINE_WORKER_STOP);
    send(PIPELINE_WORKER_BEGIN_ANEW);
    ck_assert(pipeline_worker_stopped(&w.worker));
    fake_worker_end(&w);
}
END_TEST

START_TEST(an_order_to_begin_anew_is_carried_out_once_and_a_stop_stays)
{
    fake_worker_begin(&w, &fake, 1);
    send(PIPELINE_WORKER_BEGIN_ANEW);
    pipeline_worker_order_done(&w.worker);
    ck_assert_int_eq(order(), PIPELINE_WORKER_GO_ON);
    send(PIPELINE_WORKER_STOP);
    pipeline_worker_order_done(&w.worker);
    ck_assert_int_eq(order(), PIPELINE_WORKER_STOP);
    fake_worker_end(&w);
}
END_TEST

static void expect_heartbeat(struct fake_worker *worker, int64_t ms)
{
    ck_assert_int_le(ms, 10000);
    ck_assert_int_eq(pipeline_worker_silent_ms(&worker->worker, worker->fake->now_us), ms);
}

START_TEST(a_long_wait_has_a_heartbeat_every_ten_seconds)
{
    fake_worker_begin(&w, &fake, 1);
    int64_t begun_us = fake.now_us;
    w.waited = expect_heartbeat;
    pipeline_worker_pause_for(&w.worker, 35000);
    ck_assert_int_eq(fake.now_us - begun_us, 35000000);
    ck_assert_uint_eq(w.wait_count, 4);
    ck_assert_int_eq(w.waits[3], 5000);
    fake_worker_end(&w);
}
END_TEST

static void order_at_the_second_wait(struct fake_worker *worker, int64_t ms)
{
    (void)ms;
    if (worker->wait_count == 2) {
        send(PIPELINE_WORKER_BEGIN_ANEW);
    }
}

START_TEST(an_order_ends_a_wait_and_another_wakeup_does_not)
{
    fake_worker_begin(&w, &fake, 1);
    w.waited = order_at_the_second_wait;
    ck_assert_int_eq(eventfd_write(w.worker.shared.wake_fd, 1), 0); /* the lease thread calls */
    pipeline_worker_pause_for(&w.worker, 3600000);
    ck_assert_uint_eq(w.wait_count, 2);
    ck_assert_int_eq(order(), PIPELINE_WORKER_BEGIN_ANEW); /* left to the round's owner */
    fake_worker_end(&w);
}
END_TEST

START_TEST(a_wakeup_ends_a_nap)
{
    fake_worker_begin(&w, &fake, 1);
    ck_assert_int_eq(eventfd_write(w.worker.shared.wake_fd, 1), 0);
    pipeline_worker_nap(&w.worker, -1, 5000);
    ck_assert_uint_eq(w.wait_count, 0);
    send(PIPELINE_WORKER_BEGIN_ANEW);
    pipeline_worker_nap(&w.worker, -1, 5000);
    ck_assert_uint_eq(w.wait_count, 0);
    ck_assert_int_eq(order(), PIPELINE_WORKER_GO_ON);
    pipeline_worker_nap(&w.worker, -1, 5000);
    ck_assert_uint_eq(w.wait_count, 1);
    fake_worker_end(&w);
}
END_TEST

START_TEST(a_change_of_the_stage_is_published_and_signalled)
{
    struct status_snapshot_view view;
    sigset_t pending;
    const struct timespec at_once = {0, 0};
    sigset_t changes;
    sigemptyset(&changes);
    sigaddset(&changes, SIGUSR1);
    fake_worker_begin(&w, &fake, 1);
    pipeline_worker_enter(&w.worker, "waiting");
    status_snapshot_look(w.worker.shared.snapshot, &view);
    ck_assert_str_eq(view.stage, "waiting");
    ck_assert_int_eq(view.since_us, fake.now_us);
    ck_assert_int_eq(sigtimedwait(&changes, NULL, &at_once), SIGUSR1);
    pipeline_worker_enter(&w.worker, pipeline_worker_stage(&w.worker));
    ck_assert_int_eq(sigpending(&pending), 0);
    ck_assert(!sigismember(&pending, SIGUSR1)); /* it is the same stage */
    fake_worker_end(&w);
}
END_TEST

START_TEST(a_worker_that_has_ended_is_not_silent)
{
    fake_worker_begin(&w, &fake, 1);
    pipeline_worker_note_alive(&w.worker);
    ck_assert_int_eq(pipeline_worker_silent_ms(&w.worker, fake.now_us + 7000000), 7000);
    send(PIPELINE_WORKER_STOP);
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE);
    ck_assert_int_eq(pipeline_worker_silent_ms(&w.worker, fake.now_us + 7000000), 0);
    fake_worker_end(&w);
}
END_TEST

SUITE_MAIN("daemon/pipeline_worker_order", of_several_orders_the_stop_comes_first,
           an_order_to_begin_anew_is_carried_out_once_and_a_stop_stays,
           a_long_wait_has_a_heartbeat_every_ten_seconds,
           an_order_ends_a_wait_and_another_wakeup_does_not, a_wakeup_ends_a_nap,
           a_change_of_the_stage_is_published_and_signalled, a_worker_that_has_ended_is_not_silent)
