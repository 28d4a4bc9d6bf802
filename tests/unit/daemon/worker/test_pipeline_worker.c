/* SPDX-License-Identifier: Apache-2.0 */
/* The rounds of a worker: which errors another one follows, and how it ends. */
#include "fake_worker.h"
#include "rowferry/state/history.h"

static struct fake fake;
static struct fake_worker w;
static enum err_class failure; /* of the round `failing` */
static size_t failing;

static void stop_when_equal(struct fake *f)
{
    if (fake_equal(f)) {
        fake_worker_stop(&w);
    }
}

static int fail_once(struct fake_worker *worker, struct err *err)
{
    return worker->rounds == failing ? err_set(err, failure, "out of order") : 0;
}

/* The first round ends when the load is complete, the second brings a new row. */
static void begin_anew_when_loaded(struct fake *f)
{
    if (w.rounds == 1 && fake_equal(f)) {
        fake_write(f, 20, 5);
        pipeline_worker_send_order(&w.worker, PIPELINE_WORKER_BEGIN_ANEW);
    } else if (w.rounds > 1) {
        stop_when_equal(f);
    }
}

/* Runs a worker whose round number `round` fails in this way. */
static enum exit_code run_with(enum err_class class, size_t round)
{
    fake_worker_begin(&w, &fake, 10);
    failure = class;
    failing = round;
    w.opened = fail_once;
    fake.step = begin_anew_when_loaded;
    return fake_worker_run(&w);
}

static struct run last_run(void)
{
    struct err err;
    struct state *state = NULL;
    struct run run;
    size_t count;
    OK(state_open(&state, fake.path, "things", &err));
    OK(history_last(state, &run, 1, &count, &err));
    ck_assert_uint_eq(count, 1);
    state_close(state);
    return run;
}

START_TEST(a_stop_ends_the_run_which_is_recorded)
{
    fake_worker_begin(&w, &fake, 10);
    fake.step = stop_when_equal;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE);
    const struct run run = last_run();
    ck_assert_str_eq(run.command, "run");
    ck_assert_int_eq(run.upserts, 10);
    ck_assert_int_eq(run.exit_code, 0);
    ck_assert_int_ne(run.ended_us, 0);
    ck_assert(w.worker.outcome.result.stopped);
    ck_assert(w.worker.outcome.result.first_load);
    fake_worker_end(&w);
}
END_TEST

START_TEST(a_transient_error_is_followed_by_another_round)
{
    ck_assert_int_eq(run_with(ERR_TRANSIENT, 2), EXIT_DONE);
    ck_assert(fake_equal(&fake));
    ck_assert_uint_eq(w.rounds, 3);
    ck_assert_uint_eq(w.wait_count, 1);
    ck_assert_int_eq(last_run().upserts, 11); /* of all rounds */
    fake_worker_end(&w);
}
END_TEST

START_TEST(an_error_of_a_person_is_tried_again_and_the_run_ends_well)
{
    static const enum err_class classes[] = {ERR_REJECTED, ERR_CONFIG, ERR_STATE, ERR_INTERNAL};
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        ck_assert_int_eq(run_with(classes[i], 2), EXIT_DONE);
        ck_assert(fake_equal(&fake));
        ck_assert_uint_eq(w.rounds, 3);
        ck_assert_uint_eq(fake_worker_logged(&w, "stopped"), 1);
        ck_assert_uint_eq(fake_worker_logged(&w, "goes_on"), 1);
        ck_assert_int_eq(last_run().exit_code, 0);
        fake_worker_end(&w);
    }
}
END_TEST

START_TEST(a_configuration_that_is_wrong_at_the_start_ends_it)
{
    ck_assert_int_eq(run_with(ERR_CONFIG, 1), EXIT_USAGE);
    ck_assert_uint_eq(w.rounds, 1);
    ck_assert_uint_eq(w.wait_count, 0);
    const struct run run = last_run();
    ck_assert_str_eq(run.message, "out of order");
    ck_assert_int_eq(run.exit_code, EXIT_USAGE);
    fake_worker_end(&w);
}
END_TEST

START_TEST(a_consumer_lock_of_an_earlier_round_is_waited_for_and_of_another_process_not)
{
    ck_assert_int_eq(run_with(ERR_HELD, 1), EXIT_HELD);
    ck_assert_uint_eq(w.rounds, 1);
    fake_worker_end(&w);
    ck_assert_int_eq(run_with(ERR_HELD, 2), EXIT_DONE);
    ck_assert_uint_eq(w.rounds, 3);
    fake_worker_end(&w);
}
END_TEST

START_TEST(a_standby_waits_for_the_consumer_lock_of_another_process)
{
    fake_worker_begin(&w, &fake, 10);
    w.worker.mode = PIPELINE_WORKER_STANDS_BY;
    failure = ERR_HELD;
    failing = 1;
    w.opened = fail_once;
    fake.step = stop_when_equal;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE);
    ck_assert_uint_eq(w.rounds, 2);
    fake_worker_end(&w);
}
END_TEST

START_TEST(a_source_that_is_away_is_waited_for_within_the_round)
{
    fake_worker_begin(&w, &fake, 10);
    fake.fail_connects = 50; /* more than the retry budget of a sync allows */
    fake.step = stop_when_equal;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE);
    ck_assert(fake_equal(&fake));
    ck_assert_uint_eq(w.rounds, 1);
    fake_worker_end(&w);
}
END_TEST

/* --- settings --------------------------------------------------------------------------------- */

static int64_t limits_seen[8]; /* by round */

static int note_limits(struct fake_worker *worker, struct err *err)
{
    (void)err;
    limits_seen[worker->rounds] = worker->worker.session.pipeline->limits.batch_operations;
    return 0;
}

/* Replaces the settings, as a reload does, when the first round has loaded the rows. */
static void reload_when_loaded(struct fake *f)
{
    if (w.rounds == 1 && fake_equal(f)) {
        fake_write(f, 20, 5);
        w.pipeline.limits.batch_operations = 2;
        fake_worker_reload(&w);
        pipeline_worker_send_order(&w.worker, PIPELINE_WORKER_BEGIN_ANEW);
    } else if (w.rounds > 1) {
        stop_when_equal(f);
    }
}

START_TEST(the_next_round_has_the_settings_that_were_reloaded)
{
    fake_worker_begin(&w, &fake, 10);
    w.opened = note_limits;
    fake.step = reload_when_loaded;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE);
    ck_assert_int_eq(limits_seen[1], 5);
    ck_assert_int_eq(limits_seen[2], 2);
    ck_assert(fake_equal(&fake));
    fake_worker_end(&w);
}
END_TEST

/* --- a thread --------------------------------------------------------------------------------- */

START_TEST(a_thread_is_joined_after_a_stop)
{
    struct err err;
    fake_worker_begin(&w, &fake, 10);
    fake.step = stop_when_equal;
    OK(pipeline_worker_start(&w.worker, NULL, &err));
    ck_assert_int_eq(pthread_join(w.worker.thread, NULL), 0);
    ck_assert_str_eq(pipeline_worker_stage(&w.worker), "ended");
    ck_assert(fake_equal(&fake));
    fake_worker_end(&w);
}
END_TEST

SUITE_MAIN("daemon/pipeline_worker", a_stop_ends_the_run_which_is_recorded,
           a_transient_error_is_followed_by_another_round,
           an_error_of_a_person_is_tried_again_and_the_run_ends_well,
           a_configuration_that_is_wrong_at_the_start_ends_it,
           a_consumer_lock_of_an_earlier_round_is_waited_for_and_of_another_process_not,
           a_standby_waits_for_the_consumer_lock_of_another_process,
           a_source_that_is_away_is_waited_for_within_the_round,
           the_next_round_has_the_settings_that_were_reloaded, a_thread_is_joined_after_a_stop)
