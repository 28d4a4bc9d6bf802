/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kill -9 of a rebuild, a rollback, or an abort, at each failpoint and at any
 * moment: the next command completes it, the index is equal, and nothing is left over.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rebuilds.h"
#include "sql.h"
#include "wait.h"

#define ROWS 1200
#define RANDOM_ROWS 4000

static void kill_at(struct world *w, const char *word, const char *failpoint, int n)
{
    printf("reindex %s, %s\n", word != NULL ? word : "", failpoint);
    rebuilds_change(w, n);
    crash_command_at(w, failpoint, "reindex", word);
    rebuilds_change(w, n + 7);
    rebuilds_recover(w, word, n);
}

/* Kills at each failpoint and recovers with each command, in turns. */
static void kill_at_each(const char *word, const char *const *points, size_t count)
{
    struct world w;
    int64_t turns = crash_setting("ROWFERRY_SLOW_KILLS", 0) >= 100 ? 4 : 1;
    rebuilds_world(&w, ROWS);
    for (int64_t turn = 0; turn < turns; turn++) {
        for (size_t i = 0; i < count; i++) {
            kill_at(&w, word, points[i], (int)(turn + (int64_t)i));
        }
    }
    world_stop(&w);
}

START_TEST(a_rebuild_killed_at_each_step_is_ended_by_the_next_command)
{
    static const char *const points[] = {
        "rebuild_wished=kill",     "generation_created=kill",
        "bulk_sent=kill@7",        "batch_answered=kill@5",
        "rebuild_copied=kill",     "rebuild_finished=kill",
        "rebuild_left=kill",       "alias_swapped=kill",
        "rebuild_promoted=kill",   "checkpoint_before_commit=kill@3",
        "generation_created=kill", "checkpoint_after_commit=kill@2",
        "generation_removed=kill", "checkpoint_before_commit=kill@5",
        "rebuild_promoted=kill",   "alias_swapped=kill",
        "generation_removed=kill"};
    kill_at_each(NULL, points, sizeof(points) / sizeof(points[0]));
}
END_TEST

START_TEST(a_way_back_killed_at_each_step_is_ended_by_the_next_command)
{
    static const char *const points[] = {
        "rebuild_wished=kill",   "bulk_sent=kill",        "rebuild_copied=kill",
        "rebuild_left=kill",     "rebuild_finished=kill", "alias_swapped=kill",
        "rebuild_promoted=kill", "alias_swapped=kill",    "checkpoint_before_commit=kill@2"};
    kill_at_each("--rollback", points, sizeof(points) / sizeof(points[0]));
}
END_TEST

/* Aborts a rebuild that stopped at some step, and kills the abort. */
START_TEST(an_abort_killed_half_way_is_ended_by_the_next_command)
{
    static const char *const stands[] = {"rebuild_wished=kill", "generation_created=kill",
                                         "rebuild_copied=kill", "rebuild_finished=kill"};
    struct world w;
    rebuilds_world(&w, ROWS);
    for (int i = 0; i < 8; i++) {
        const char *word = i < 4 ? NULL : "--rollback";
        if (word != NULL && i == 5) {
            continue; /* a rollback creates nothing */
        }
        printf("reindex %s, %s\n", word != NULL ? word : "", stands[i % 4]);
        crash_command_at(&w, stands[i % 4], "reindex", word);
        rebuilds_change(&w, i);
        crash_command_at(&w, "rebuild_dropped=kill", "reindex", "--abort");
        rebuilds_recover(&w, word, i);
    }
    world_stop(&w);
}
END_TEST

/* Returns how long the command takes in the current state of the world. */
static int64_t measured(struct world *w, const char *word)
{
    int64_t began = deadline_now_ms();
    rebuilds_run(w, word);
    return deadline_now_ms() - began;
}

/* Returns true if the kill hit before the end. */
static bool kill_after(const struct world *w, const char *word, int64_t ms)
{
    struct program program;
    struct program_result result;
    struct deadline moment = deadline_after(ms);
    rowferry_start(&program, w->config, "reindex", word, NULL);
    while (deadline_wait(&moment)) {
    }
    program_signal(&program, SIGKILL);
    program_finish(&program, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 128 + SIGKILL || result.exit_code == 0, "exit code %d: %s",
                  result.exit_code, result.err);
    bool hit = result.exit_code != 0;
    program_result_release(&result);
    return hit;
}

START_TEST(a_rebuild_killed_at_any_moment_is_ended_by_the_next_command)
{
    struct world w;
    int64_t wanted = crash_setting("ROWFERRY_SLOW_KILLS", 4);
    int64_t hits = 0;
    int64_t aborts = 0;
    int64_t underway = 0;
    rebuilds_world(&w, RANDOM_ROWS);
    int64_t most[] = {measured(&w, NULL), measured(&w, "--rollback")};
    /* a kill may also come before the request or after the end */
    for (int n = 0; hits < wanted || underway * 2 < wanted; n++) {
        ck_assert_msg(n < 20 * wanted, "%lld of %d kills hit a rebuild, %lld one under way",
                      (long long)hits, n, (long long)underway);
        bool back = crash_dice(3) == 0;
        const char *word = back ? "--rollback" : NULL;
        int64_t ms = 1 + crash_dice(most[back ? 1 : 0]);
        printf("reindex %s, after %lld ms\n", back ? word : "", (long long)ms);
        rebuilds_change(&w, n);
        hits += kill_after(&w, word, ms);
        underway += rebuilds_underway(&w);
        rebuilds_change(&w, n + 7);
        if (rebuilds_underway(&w) && crash_dice(4) == 0) {
            aborts += kill_after(&w, "--abort", 1 + crash_dice(60));
        }
        rebuilds_recover(&w, rebuilds_underway(&w) ? word : NULL, (int)crash_dice(4));
    }
    printf("%lld kills of rebuilds, %lld while one was under way, %lld of aborts\n",
           (long long)hits, (long long)underway, (long long)aborts);
    world_stop(&w);
}
END_TEST

CRASH_MAIN("crash/rebuild", a_rebuild_killed_at_each_step_is_ended_by_the_next_command,
           a_way_back_killed_at_each_step_is_ended_by_the_next_command,
           an_abort_killed_half_way_is_ended_by_the_next_command,
           a_rebuild_killed_at_any_moment_is_ended_by_the_next_command)
