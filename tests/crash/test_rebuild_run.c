/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kill -9 at any moment of a run that performs a rebuild, or a rollback,
 * beside the live index that it follows. The next run, sync, reindex or abort completes it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rebuilds.h"
#include "sql.h"
#include "wait.h"

#define ROWS 3000

static void start_run(const struct world *w, struct program *run)
{
    rowferry_start(run, w->config, "run", NULL);
}

static void end_run(struct program *run)
{
    struct program_result result;
    program_signal(run, SIGTERM);
    program_finish(run, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "exit code %d: %s", result.exit_code, result.err);
    program_result_release(&result);
}

/* Files a request that a run will find. */
static void wish(const struct world *w, const char *word)
{
    crash_command_at(w, "rebuild_wished=kill", "reindex", word);
    ck_assert(rebuilds_underway(w));
}

static void carry_to_end(struct world *w)
{
    struct program run;
    struct deadline deadline = deadline_after(120000);
    start_run(w, &run);
    while (rebuilds_underway(w)) {
        ck_assert(deadline_wait(&deadline));
    }
    program_await(&run, "event=following", WAIT_MS);
    end_run(&run);
}

/* Returns how long a run takes for it in the current state of the world. */
static int64_t measured(struct world *w, const char *word)
{
    wish(w, word);
    int64_t began = deadline_now_ms();
    carry_to_end(w);
    return deadline_now_ms() - began;
}

static void kill_run_after(const struct world *w, int64_t ms)
{
    struct program run;
    struct program_result result;
    struct deadline moment = deadline_after(ms);
    start_run(w, &run);
    while (deadline_wait(&moment)) {
    }
    program_signal(&run, SIGKILL);
    program_finish(&run, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 128 + SIGKILL, "exit code %d: %s", result.exit_code,
                  result.err);
    program_result_release(&result);
}

START_TEST(a_run_killed_with_a_rebuild_at_any_moment_is_followed_by_one_that_ends_it)
{
    struct world w;
    int64_t wanted = crash_setting("ROWFERRY_SLOW_KILLS", 4);
    int64_t underway = 0;
    rebuilds_world(&w, ROWS);
    int64_t most[] = {measured(&w, NULL), measured(&w, "--rollback")};
    for (int n = 0; n < wanted; n++) {
        bool back = crash_dice(3) == 0;
        const char *word = back ? "--rollback" : NULL;
        int64_t ms = 1 + crash_dice(most[back ? 1 : 0]);
        printf("run with reindex %s, after %lld ms\n", back ? word : "", (long long)ms);
        wish(&w, word);
        rebuilds_change(&w, n);
        kill_run_after(&w, ms);
        underway += rebuilds_underway(&w);
        rebuilds_change(&w, n + 7);
        if (crash_dice(2) == 0) {
            printf("  then run\n");
            carry_to_end(&w);
        }
        rebuilds_recover(&w, rebuilds_underway(&w) ? word : NULL, (int)crash_dice(4));
    }
    printf("%lld kills of a run, %lld while a rebuild was under way\n", (long long)wanted,
           (long long)underway);
    world_stop(&w);
}
END_TEST

static const char *const points[] = {
    "generation_created=kill", "bulk_sent=kill@7",        "batch_answered=kill@5",
    "rebuild_copied=kill",     "rebuild_finished=kill",   "rebuild_left=kill",
    "alias_swapped=kill",      "generation_removed=kill", "rebuild_promoted=kill"};

START_TEST(a_run_killed_at_each_step_of_a_rebuild_is_followed_by_one_that_ends_it)
{
    struct world w;
    rebuilds_world(&w, ROWS / 4);
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        printf("run, %s\n", points[i]);
        wish(&w, NULL);
        rebuilds_change(&w, (int)i);
        crash_command_at(&w, points[i], "run", NULL);
        rebuilds_change(&w, (int)i + 7);
        if (i % 2 == 0) {
            printf("  then run\n");
            carry_to_end(&w);
        }
        rebuilds_recover(&w, NULL, (int)i / 2);
    }
    world_stop(&w);
}
END_TEST

CRASH_MAIN("crash/rebuild_run",
           a_run_killed_at_each_step_of_a_rebuild_is_followed_by_one_that_ends_it,
           a_run_killed_with_a_rebuild_at_any_moment_is_followed_by_one_that_ends_it)
