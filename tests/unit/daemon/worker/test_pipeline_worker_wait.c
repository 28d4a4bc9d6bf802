/* SPDX-License-Identifier: Apache-2.0 */
/* How a worker waits between its rounds: after errors, and after a guard stop. */
#include "fake_worker.h"
#include "rowferry/engine/pipeline/requests.h"
#include "rowferry/state/guard_stop.h"
#include "rowferry/state/live_progress.h"

static struct fake fake;
static struct fake_worker w;
static int64_t asked; /* a request */

/* --- after errors ----------------------------------------------------------------------------- */

static int disk_full(struct err *err)
{
    err_set(err, ERR_TRANSIENT, "disk full");
    err->sqlite_code = 13;
    return ERR_TRANSIENT;
}

static int fail_always(struct fake_worker *worker, struct err *err)
{
    (void)worker;
    return disk_full(err);
}

static void stop_after_20(struct fake_worker *worker, int64_t ms)
{
    (void)ms;
    if (worker->wait_count == 20) {
        fake_worker_stop(worker);
    }
}

START_TEST(the_wait_grows_up_to_five_seconds)
{
    fake_worker_begin(&w, &fake, 5);
    w.opened = fail_always;
    w.waited = stop_after_20;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE); /* a stop is not an error */
    int64_t most_ms = PIPELINE_WORKER_BASE_MS;
    int64_t longest_ms = 0;
    for (size_t i = 0; i < 20; i++) {
        ck_assert_int_le(w.waits[i], most_ms);
        longest_ms = w.waits[i] > longest_ms ? w.waits[i] : longest_ms;
        most_ms = most_ms * 2 < PIPELINE_WORKER_MAX_MS ? most_ms * 2 : PIPELINE_WORKER_MAX_MS;
    }
    ck_assert_int_gt(longest_ms, PIPELINE_WORKER_MAX_MS / 2);
    ck_assert_uint_eq(fake_worker_logged(&w, "stalled"), 1);
    fake_worker_end(&w);
}
END_TEST

/* Fails ten rounds, lets one work, fails again. */
static int fail_but_the_11th(struct fake_worker *worker, struct err *err)
{
    return worker->rounds != 11 ? disk_full(err) : 0;
}

static void begin_anew_when_loaded(struct fake *f)
{
    if (fake_equal(f)) {
        pipeline_worker_send_order(&w.worker, PIPELINE_WORKER_BEGIN_ANEW);
    }
}

START_TEST(after_a_success_it_begins_again_with_the_first_wait)
{
    fake_worker_begin(&w, &fake, 5);
    w.opened = fail_but_the_11th;
    w.waited = stop_after_20;
    fake.step = begin_anew_when_loaded;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE);
    ck_assert(fake_equal(&fake));
    ck_assert_int_le(w.waits[10], PIPELINE_WORKER_BASE_MS);
    ck_assert_int_le(w.waits[11], 2 * PIPELINE_WORKER_BASE_MS);
    ck_assert_uint_eq(fake_worker_logged(&w, "stalled"), 2);
    ck_assert_uint_eq(fake_worker_logged(&w, "goes_on"), 1);
    fake_worker_end(&w);
}
END_TEST

START_TEST(a_stop_ends_the_wait)
{
    fake_worker_begin(&w, &fake, 5);
    w.opened = fail_always;
    pipeline_worker_send_order(&w.worker, PIPELINE_WORKER_STOP);
    pipeline_worker_pause_for(&w.worker, 3600000);
    ck_assert_uint_eq(w.wait_count, 0);
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE);
    ck_assert_uint_eq(w.rounds, 0);
    fake_worker_end(&w);
}
END_TEST

/* --- after an error that a person has to correct -----------------------------------------------
 */

static int refuse_always(struct fake_worker *worker, struct err *err)
{
    (void)worker;
    return err_set(err, ERR_REJECTED, "the right was revoked");
}

static int64_t tries_us[16]; /* by round */

/* Notes when each round begins; stops in the wait after the 15th. */
static int refuse_and_note(struct fake_worker *worker, struct err *err)
{
    tries_us[worker->rounds] = worker->fake->now_us;
    return refuse_always(worker, err);
}

static void stop_after_15_rounds(struct fake_worker *worker, int64_t ms)
{
    (void)ms;
    if (worker->rounds == 15) {
        fake_worker_stop(worker);
    }
}

START_TEST(a_stopped_pipeline_is_tried_again_with_pauses_of_up_to_a_minute)
{
    fake_worker_begin(&w, &fake, 5);
    w.opened = refuse_and_note;
    w.waited = stop_after_15_rounds;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_FAILED);
    int64_t longest_us = 0;
    for (size_t i = 2; i <= 15; i++) {
        int64_t pause_us = tries_us[i] - tries_us[i - 1];
        ck_assert_int_le(pause_us, INT64_C(61000000));
        longest_us = pause_us > longest_us ? pause_us : longest_us;
    }
    ck_assert_int_gt(longest_us, 30000000);
    ck_assert_uint_eq(fake_worker_logged(&w, "stopped"), 1);
    fake_worker_end(&w);
}
END_TEST

static int refuse_the_first(struct fake_worker *worker, struct err *err)
{
    return worker->rounds == 1 ? refuse_always(worker, err) : 0;
}

static void stop_when_loaded(struct fake *f)
{
    if (fake_equal(f)) {
        fake_worker_stop(&w);
    }
}

/* Expects what status and page show, then resumes. */
static void expect_the_error_and_resume(struct fake_worker *worker, int64_t ms)
{
    struct err err;
    struct state *state = NULL;
    struct live_progress progress;
    struct status_snapshot_view view;
    bool known = false;
    (void)ms;
    if (asked != 0) {
        return;
    }
    OK(state_open(&state, worker->fake->path, "things", &err));
    OK(live_progress_read(state, &progress, &known, &err));
    state_close(state);
    ck_assert(known);
    ck_assert_str_eq(progress.stall, "stopped");
    ck_assert_str_eq(progress.stall_why, "the right was revoked");
    status_snapshot_look(worker->worker.shared.snapshot, &view);
    ck_assert(view.over);
    ck_assert_int_eq(view.exit_code, EXIT_FAILED);
    ck_assert_str_eq(view.message, "the right was revoked");
    asked = fake_worker_ask(worker, REQUEST_RESUME, "");
}

START_TEST(a_stopped_pipeline_says_why_and_is_tried_again_at_once_on_request)
{
    struct status_snapshot_view view;
    fake_worker_begin(&w, &fake, 5);
    w.opened = refuse_the_first;
    w.waited = expect_the_error_and_resume;
    fake.step = stop_when_loaded;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE);
    fake_worker_expect(&w, asked, REQUEST_DONE, "\"again\":true");
    ck_assert(fake_equal(&fake));
    ck_assert_uint_le(w.wait_count, 3);
    status_snapshot_look(w.worker.shared.snapshot, &view);
    ck_assert_str_eq(view.message, "");
    fake_worker_end(&w);
}
END_TEST

static void try_again_once(struct fake_worker *worker, int64_t ms)
{
    (void)ms;
    if (asked == 0) {
        asked = fake_worker_ask(worker, REQUEST_TRY_AGAIN, "0");
    }
    if (worker->rounds == 3) {
        fake_worker_stop(worker);
    }
}

START_TEST(a_try_that_fails_is_answered_with_the_reason_and_followed_by_a_pause)
{
    fake_worker_begin(&w, &fake, 5);
    w.opened = refuse_and_note;
    w.waited = try_again_once;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_FAILED);
    fake_worker_expect(&w, asked, REQUEST_FAILED, "the right was revoked");
    ck_assert_int_lt(tries_us[2] - tries_us[1], 1000000);
    ck_assert_int_gt(tries_us[3] - tries_us[2], 1000000);
    fake_worker_end(&w);
}
END_TEST

/* --- after a guard stop ----------------------------------------------------------------------- */

/* Deletes most rows when the load is complete, so that the guard stops the pipeline. */
static void delete_rows_when_loaded(struct fake *f)
{
    if (f->log_count == 0 && fake_equal(f)) {
        for (size_t i = 0; i < 30; i++) {
            fake_write(f, i, -1);
        }
        f->guard_count = 10;
    }
}

static void stop_when_equal(struct fake *f)
{
    delete_rows_when_loaded(f);
    if (f->log_count > 0 && fake_equal(f)) {
        fake_worker_stop(&w);
    }
}

static void guarded_begin(void)
{
    fake_worker_begin(&w, &fake, 40);
    fake.step = stop_when_equal;
    w.pipeline.delete_guard = (struct delete_guard_config){.share = 0.1, .count = 10};
    fake_worker_reload(&w);
}

static struct guard_stop guard_stop_now(void)
{
    struct err err;
    struct state *state = NULL;
    struct guard_stop halt;
    bool known = false;
    OK(state_open(&state, fake.path, "things", &err));
    OK(guard_stop_read(state, &halt, &known, &err));
    ck_assert(known);
    state_close(state);
    return halt;
}

/* Files the command for the present guard stop, once. */
static void ask_about_stop(const char *command)
{
    char at[32];
    if (asked == 0) {
        snprintf(at, sizeof(at), "%lld", (long long)guard_stop_now().at_us);
        asked = fake_worker_ask(&w, command, at);
    }
}

static void permit(struct fake_worker *worker, int64_t ms)
{
    (void)worker;
    (void)ms;
    ask_about_stop(REQUEST_ALLOW_DELETES);
}

START_TEST(permitted_deletes_are_made_by_the_next_round)
{
    guarded_begin();
    w.waited = permit;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE);
    ck_assert(fake_equal(&fake));
    ck_assert_uint_eq(w.rounds, 2);
    ck_assert_int_lt(w.waits[0], 1000); /* requests are looked for often */
    ck_assert_uint_eq(fake_worker_logged(&w, "guard"), 1);
    ck_assert_uint_eq(fake_worker_logged(&w, "permitted"), 1);
    fake_worker_expect(&w, asked, REQUEST_DONE, "\"deletes\":30");
    fake_worker_end(&w);
}
END_TEST

static void restore_rows_and_recount(struct fake_worker *worker, int64_t ms)
{
    (void)ms;
    if (asked == 0) {
        for (size_t i = 0; i < 30; i++) {
            fake_write(worker->fake, i, (long)i * 10);
        }
    }
    ask_about_stop(REQUEST_TRY_AGAIN);
}

START_TEST(a_recount_finds_rows_that_were_restored)
{
    guarded_begin();
    w.waited = restore_rows_and_recount;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE);
    ck_assert(fake_equal(&fake));
    ck_assert_uint_eq(w.rounds, 2);
    ck_assert_uint_eq(fake_worker_logged(&w, "permitted"), 0);
    fake_worker_end(&w);
}
END_TEST

/* --- a second guard stop after a long time of following ----------------------------------------
 */

#define HOURS_US INT64_C(7200000000)

static int64_t guarded_at_us[2]; /* times at which the rows were restored */
static size_t restored;
static size_t equal_steps;

static void restore_at_each_stop(struct fake_worker *worker, int64_t ms)
{
    (void)ms;
    if (strcmp(pipeline_worker_stage(&worker->worker), "guard") == 0 && restored < 2 &&
        fake.guard_count == 10) {
        for (size_t i = 0; i < 30; i++) {
            fake_write(&fake, i, (long)i * 10);
        }
        fake.guard_count = -1;
        guarded_at_us[restored++] = fake.now_us;
    }
}

/* When the index is equal again: hours pass, then most rows are deleted again. Stops when it is
 * equal the second time. */
static void delete_again_when_equal(struct fake *f)
{
    delete_rows_when_loaded(f);
    if (restored == 0 || f->guard_count == 10 || !fake_equal(f)) {
        return;
    }
    if (restored == 2) {
        fake_worker_stop(&w);
        return;
    }
    if (equal_steps++ < 10) {
        f->now_us += HOURS_US / 10;
        return;
    }
    for (size_t i = 0; i < 30; i++) {
        fake_write(f, i, -1);
    }
    f->guard_count = 10;
}

START_TEST(a_second_guard_stop_is_counted_again_as_soon_as_the_first)
{
    guarded_begin();
    restored = 0;
    equal_steps = 0;
    w.waited = restore_at_each_stop;
    fake.step = delete_again_when_equal;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE);
    ck_assert_uint_eq(restored, 2);
    ck_assert(fake_equal(&fake));
    ck_assert_int_lt(fake.now_us - guarded_at_us[1], INT64_C(60000000));
    fake_worker_end(&w);
}
END_TEST

static void permit_another_stop(struct fake_worker *worker, int64_t ms)
{
    (void)ms;
    if (asked == 0) {
        asked = fake_worker_ask(worker, REQUEST_ALLOW_DELETES, "17");
    }
    if (worker->rounds == 3) {
        fake_worker_stop(worker);
    }
}

START_TEST(a_permission_for_another_stop_is_refused_and_the_guard_counts_again_by_itself)
{
    guarded_begin();
    w.waited = permit_another_stop;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_FAILED); /* it is still refused */
    fake_worker_expect(&w, asked, REQUEST_FAILED, "\"error\"");
    ck_assert_uint_eq(w.wait_count, FAKE_WAITS); /* two intervals of 30 s, in steps of 100 ms */
    ck_assert_uint_eq(w.rounds, 3);
    ck_assert_uint_eq(fake_worker_logged(&w, "guard"), 1); /* the same stop is logged once */
    fake_worker_end(&w);
}
END_TEST

static void expect_the_stop_in_status(struct fake_worker *worker, int64_t ms)
{
    struct err err;
    struct state *state = NULL;
    struct live_progress progress;
    bool known = false;
    (void)ms;
    OK(state_open(&state, worker->fake->path, "things", &err));
    OK(live_progress_read(state, &progress, &known, &err));
    state_close(state);
    ck_assert(known);
    ck_assert_str_eq(progress.stage, "guard");
    ck_assert_str_eq(progress.stall, "guard");
    ck_assert_str_ne(progress.stall_why, "");
    ck_assert_str_eq(pipeline_worker_stage(&worker->worker), "guard");
    asked = fake_worker_ask(worker, REQUEST_DISCARD, "");
    fake_worker_stop(worker);
}

START_TEST(status_shows_the_guard_stop)
{
    guarded_begin();
    w.waited = expect_the_stop_in_status;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_FAILED);
    ck_assert_int_ne(asked, 0);
    fake_worker_end(&w);
}
END_TEST

SUITE_MAIN("daemon/pipeline_worker_wait", the_wait_grows_up_to_five_seconds,
           after_a_success_it_begins_again_with_the_first_wait, a_stop_ends_the_wait,
           a_stopped_pipeline_is_tried_again_with_pauses_of_up_to_a_minute,
           a_stopped_pipeline_says_why_and_is_tried_again_at_once_on_request,
           a_try_that_fails_is_answered_with_the_reason_and_followed_by_a_pause,
           permitted_deletes_are_made_by_the_next_round, a_recount_finds_rows_that_were_restored,
           a_permission_for_another_stop_is_refused_and_the_guard_counts_again_by_itself,
           a_second_guard_stop_is_counted_again_as_soon_as_the_first, status_shows_the_guard_stop)
