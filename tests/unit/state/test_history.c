/* SPDX-License-Identifier: Apache-2.0 */
/* Run history: the entries kept, and their order. */
#include "rowferry/state/history.h"

#include "statefile.h"

START_TEST(a_run_that_was_killed_shows_no_end)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct state *s = statefile_open(&f, "articles");
    int64_t killed;
    int64_t ended;
    OK(history_begin(s, "sync", 100, &killed, &err));
    OK(history_begin(s, "run", 200, &ended, &err));
    struct run run = {.id = ended, .ended_us = 300, .upserts = 4, .deletes = 3, .rejected = 2};
    run.bytes = 99;
    run.exit_code = 6;
    snprintf(run.message, sizeof(run.message), "could not connect");
    OK(history_end(s, &run, &err));
    struct run runs[4];
    size_t count;
    OK(history_last(s, runs, 4, &count, &err));
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(runs[0].command, "run");
    ck_assert_int_eq(runs[0].started_us, 200);
    ck_assert_int_eq(runs[0].ended_us, 300);
    ck_assert_int_eq(runs[0].upserts, 4);
    ck_assert_int_eq(runs[0].deletes, 3);
    ck_assert_int_eq(runs[0].rejected, 2);
    ck_assert_int_eq(runs[0].bytes, 99);
    ck_assert_int_eq(runs[0].exit_code, 6);
    ck_assert_str_eq(runs[0].message, "could not connect");
    ck_assert_int_eq(runs[1].id, killed);
    ck_assert_int_eq(runs[1].ended_us, 0);
    ck_assert_int_eq(runs[1].exit_code, -1);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(the_last_hundred_runs_of_each_pipeline_stay)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct state *other = statefile_open(&f, "authors");
    int64_t id;
    OK(history_begin(other, "sync", 1, &id, &err));
    struct state *s = statefile_open(&f, "articles");
    for (int i = 0; i < 130; i++) {
        OK(history_begin(s, "sync", i, &id, &err));
    }
    static struct run runs[200];
    size_t count;
    OK(history_last(s, runs, 200, &count, &err));
    ck_assert_uint_eq(count, 100);
    ck_assert_int_eq(runs[0].started_us, 129);
    ck_assert_int_eq(runs[99].started_us, 30);
    OK(history_last(s, runs, 3, &count, &err));
    ck_assert_uint_eq(count, 3);
    OK(history_last(other, runs, 3, &count, &err));
    ck_assert_uint_eq(count, 1);
    state_close(s);
    state_close(other);
    statefile_remove(&f);
}
END_TEST

START_TEST(the_end_of_an_unknown_run_is_an_error)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct state *s = statefile_open(&f, "articles");
    ck_assert_int_eq(history_end(s, &(struct run){.id = 9}, &err), ERR_STATE);
    ck_assert_ptr_nonnull(strstr(err.message, "has no run of pipeline \"articles\""));
    state_close(s);
    statefile_remove(&f);
}
END_TEST

SUITE_MAIN("state/history", a_run_that_was_killed_shows_no_end,
           the_last_hundred_runs_of_each_pipeline_stay, the_end_of_an_unknown_run_is_an_error)
