/* SPDX-License-Identifier: Apache-2.0 */
/* A paused worker: what it answers, what it keeps, and how the pause ends. */
#include "fake_worker.h"
#include "rowferry/engine/pipeline/requests.h"
#include "rowferry/state/live_progress.h"
#include "rowferry/state/pause.h"

static struct fake fake;
static struct fake_worker w;
static int64_t asked; /* a request */
static size_t naps;   /* in the pause */

/* Files a pause when the load is complete, once. */
static void pause_when_loaded(struct fake *f)
{
    if (asked == 0 && fake_equal(f)) {
        asked = fake_worker_ask(&w, REQUEST_PAUSE, "");
    }
}

static void pause_before(void)
{
    struct err err;
    struct state *state = NULL;
    OK(state_open(&state, fake.path, "things", &err));
    OK(pause_begin(state, fake.now_us, &err));
    state_close(state);
}

/* --- beginning and end ------------------------------------------------------------------------ */

static void write_and_resume(struct fake_worker *worker, int64_t ms)
{
    ck_assert_int_eq(ms, 10000); /* the state file reports the request */
    ck_assert_str_eq(pipeline_worker_stage(&worker->worker), LIVE_PROGRESS_PAUSED);
    if (naps++ == 0) {
        fake_worker_expect(worker, asked, REQUEST_DONE, "\"changed\":true");
        fake_write(worker->fake, 3, 77);
    } else if (naps == 3) {
        ck_assert(!fake_equal(worker->fake));
        asked = fake_worker_ask(worker, REQUEST_RESUME, "");
    }
}

static void stop_when_resumed(struct fake *f)
{
    pause_when_loaded(f);
    if (naps >= 3 && fake_equal(f)) {
        fake_worker_stop(&w);
    }
}

START_TEST(nothing_is_written_between_pause_and_resume)
{
    fake_worker_begin(&w, &fake, 10);
    fake.step = stop_when_resumed;
    w.waited = write_and_resume;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE);
    ck_assert(fake_equal(&fake));
    ck_assert_uint_eq(w.rounds, 2);
    fake_worker_expect(&w, asked, REQUEST_DONE, "\"changed\":true");
    ck_assert_uint_eq(fake_worker_logged(&w, "paused"), 1);
    ck_assert_uint_eq(fake_worker_logged(&w, "resumed"), 1);
    fake_worker_end(&w);
}
END_TEST

static void stop_at_once(struct fake_worker *worker, int64_t ms)
{
    (void)ms;
    naps++;
    fake_worker_stop(worker);
}

START_TEST(a_worker_that_starts_paused_opens_no_server)
{
    fake_worker_begin(&w, &fake, 10);
    pause_before();
    w.waited = stop_at_once;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE);
    ck_assert_uint_eq(w.rounds, 0);
    ck_assert_uint_eq(naps, 1);
    ck_assert_uint_eq(fake_worker_logged(&w, "resumed"), 0);
    fake_worker_end(&w);
}
END_TEST

/* --- requests --------------------------------------------------------------------------------- */

static void ask_in_the_pause(struct fake_worker *worker, int64_t ms)
{
    static int64_t ids[4];
    (void)ms;
    switch (naps++) {
    case 0:
        ids[0] = fake_worker_ask(worker, REQUEST_PAUSE, "");
        ids[1] = fake_worker_ask(worker, REQUEST_REINDEX, "{}");
        ids[2] = fake_worker_ask(worker, REQUEST_RESYNC, "k1");
        ids[3] = fake_worker_ask(worker, REQUEST_DISCARD, "");
        break;
    case 1:
        fake_worker_expect(worker, ids[0], REQUEST_DONE, "\"changed\":false");
        fake_worker_expect(worker, ids[1], REQUEST_FAILED, "paused");
        fake_worker_expect(worker, ids[2], REQUEST_FAILED, "paused");
        fake_worker_expect(worker, ids[3], REQUEST_DONE, "\"discarded\":0");
        fake_worker_stop(worker);
        break;
    default:
        break;
    }
}

START_TEST(a_paused_worker_serves_discards_and_refuses_what_needs_a_server)
{
    fake_worker_begin(&w, &fake, 10);
    pause_before();
    w.waited = ask_in_the_pause;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE);
    ck_assert_uint_eq(naps, 2);
    fake_worker_end(&w);
}
END_TEST

static void resume_when_loaded(struct fake *f)
{
    if (asked == 0 && fake_equal(f)) {
        asked = fake_worker_ask(&w, REQUEST_RESUME, "");
    } else if (w.steps++ > 100) {
        fake_worker_stop(&w);
    }
}

START_TEST(a_resume_of_a_pipeline_that_is_not_paused_changes_nothing)
{
    fake_worker_begin(&w, &fake, 10);
    fake.step = resume_when_loaded;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE);
    fake_worker_expect(&w, asked, REQUEST_DONE, "\"changed\":false");
    fake_worker_end(&w);
}
END_TEST

/* --- a long pause ----------------------------------------------------------------------------- */

static void stop_after_a_day(struct fake_worker *worker, int64_t ms)
{
    (void)ms;
    if (naps == 0) { /* its claim is kept alive while nothing reads the change log */
        ck_assert_ptr_nonnull(strstr(worker->attended, "things/things-"));
    }
    worker->fake->now_us += INT64_C(3600000000);
    if (++naps == 24) {
        asked = fake_worker_ask(worker, REQUEST_RESUME, "");
    }
}

static void stop_when_resumed_after_a_day(struct fake *f)
{
    pause_when_loaded(f);
    if (naps >= 24) {
        fake_worker_stop(&w);
    }
}

START_TEST(the_claim_is_kept_and_a_pause_over_source_retain_is_warned_about_once)
{
    fake_worker_begin(&w, &fake, 10);
    w.config.source.retain_age_ms = 7200000;
    settings_reload_release(&w.settings);
    settings_reload_init(&w.settings, &w.config);
    fake.step = stop_when_resumed_after_a_day;
    w.waited = stop_after_a_day;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_DONE);
    ck_assert_str_eq(w.attended, ""); /* the round keeps it alive again */
    ck_assert_uint_eq(fake_worker_logged(&w, "paused_long"), 1);
    fake_worker_end(&w);
}
END_TEST

static void lose_the_lease(struct fake_worker *worker, int64_t ms)
{
    (void)ms;
    fake_worker_lease(worker, LEASE_HOLDER_TAKEN);
}

START_TEST(a_paused_worker_ends_if_it_loses_the_lease)
{
    fake_worker_begin(&w, &fake, 10);
    pause_before();
    w.waited = lose_the_lease;
    ck_assert_int_eq(fake_worker_run(&w), EXIT_HELD);
    ck_assert_uint_eq(fake_worker_logged(&w, "resumed"), 0);
    ck_assert_uint_eq(fake_worker_logged(&w, "lost"), 1);
    fake_worker_end(&w);
}
END_TEST

SUITE_MAIN("daemon/pipeline_worker_pause", nothing_is_written_between_pause_and_resume,
           a_worker_that_starts_paused_opens_no_server,
           a_paused_worker_serves_discards_and_refuses_what_needs_a_server,
           a_resume_of_a_pipeline_that_is_not_paused_changes_nothing,
           the_claim_is_kept_and_a_pause_over_source_retain_is_warned_about_once,
           a_paused_worker_ends_if_it_loses_the_lease)
