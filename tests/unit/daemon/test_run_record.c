/* SPDX-License-Identifier: Apache-2.0 */
/* The row of a run in the history. */
#include "rowferry/daemon/run_record.h"

#include "rowferry/state/history.h"
#include "workplace.h"

static int64_t at_us;

static int64_t wall(void *context)
{
    (void)context;
    return at_us;
}

static struct run last_run(struct state *state)
{
    struct err err;
    struct run run;
    size_t count;
    OK(history_last(state, &run, 1, &count, &err));
    ck_assert_uint_eq(count, 1);
    return run;
}

START_TEST(a_run_is_recorded_from_its_begin_to_its_end)
{
    struct workplace w = workplace_make("", "");
    struct err err;
    struct session s = {.command = "run", .state = workplace_state(&w), .clock = {.wall_us = wall}};
    struct sync_outcome o = {
        .result.counters = {.upserts = 3, .deletes = 2, .rejected = 1, .bytes = 99}};
    int64_t id;
    at_us = 1000;
    OK(run_record_begin(&s, &id, &err));
    struct run run = last_run(s.state);
    ck_assert_str_eq(run.command, "run");
    ck_assert_int_eq(run.started_us, 1000);
    ck_assert_int_eq(run.ended_us, 0);
    at_us = 5000;
    OK(run_record_end(&s, id, &o, &err));
    run = last_run(s.state);
    ck_assert_int_eq(run.id, id);
    ck_assert_int_eq(run.ended_us, 5000);
    ck_assert_int_eq(run.upserts, 3);
    ck_assert_int_eq(run.deletes, 2);
    ck_assert_int_eq(run.rejected, 1);
    ck_assert_int_eq(run.bytes, 99);
    ck_assert_int_eq(run.exit_code, 0);
    ck_assert_str_eq(run.message, "");
    state_close(s.state);
    workplace_remove(&w);
}
END_TEST

START_TEST(a_run_that_is_stopped_has_its_error_until_it_works)
{
    struct workplace w = workplace_make("", "");
    struct err err;
    struct err why;
    struct session s = {.command = "run", .state = workplace_state(&w), .clock = {.wall_us = wall}};
    struct sync_outcome o = {.exit_code = EXIT_FAILED, .err = &why};
    int64_t id;
    err_set(&why, ERR_STATE, "renamed");
    OK(run_record_begin(&s, &id, &err));
    OK(run_record_stop(&s, id, &o, &err));
    struct run run = last_run(s.state);
    ck_assert_int_eq(run.ended_us, 0);
    ck_assert_int_eq(run.exit_code, EXIT_FAILED);
    ck_assert_str_eq(run.message, "renamed");
    o = (struct sync_outcome){0};
    OK(run_record_stop(&s, id, &o, &err));
    run = last_run(s.state);
    ck_assert_int_eq(run.exit_code, -1);
    ck_assert_str_eq(run.message, "");
    state_close(s.state);
    workplace_remove(&w);
}
END_TEST

START_TEST(a_run_that_failed_has_its_exit_code_and_message)
{
    struct workplace w = workplace_make("", "");
    struct err err;
    struct err failed;
    struct session s = {.command = "run", .state = workplace_state(&w), .clock = {.wall_us = wall}};
    struct sync_outcome o = {.exit_code = EXIT_HELD, .err = &failed};
    int64_t id;
    err_set(&failed, ERR_HELD, "held");
    OK(run_record_begin(&s, &id, &err));
    OK(run_record_end(&s, id, &o, &err));
    struct run run = last_run(s.state);
    ck_assert_int_eq(run.exit_code, EXIT_HELD);
    ck_assert_str_eq(run.message, "held");
    state_close(s.state);
    workplace_remove(&w);
}
END_TEST

SUITE_MAIN("daemon/run_record", a_run_is_recorded_from_its_begin_to_its_end,
           a_run_that_failed_has_its_exit_code_and_message,
           a_run_that_is_stopped_has_its_error_until_it_works)
