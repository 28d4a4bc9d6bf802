/* SPDX-License-Identifier: Apache-2.0 */
/* kill -9 at the failpoints, where a step is half done. */
#include "crash.h"

#include <stdio.h>

#include "generations.h"
#include "sql.h"

#define ROWS 6000

static void changes(struct world *w, int i)
{
    sql_exec(w->conn,
             "update articles set title = 'changed %d' where source_id %% 3 = %d;"
             "delete from articles where source_id %% 500 = %d",
             i, i % 3, i + 1);
}

static void ends_equal(struct world *w)
{
    struct program_result result;
    world_sync(w, 0, &result);
    program_result_release(&result);
    world_expect_equal(w);
}

START_TEST(a_first_load_killed_at_each_point_goes_on)
{
    static const char *const points[] = {"generation_created=kill",
                                         "bulk_sent=kill",
                                         "bulk_sent=kill@20",
                                         "batch_answered=kill",
                                         "batch_answered=kill@17",
                                         "checkpoint_before_commit=kill",
                                         "checkpoint_before_commit=kill@3",
                                         "checkpoint_after_commit=kill",
                                         "checkpoint_after_commit=kill@2",
                                         "alias_swapped=kill"};
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        struct world w;
        crash_world(&w, ROWS);
        crash_at(&w, points[i]);
        changes(&w, (int)i);
        ends_equal(&w);
        generations_expect(&w, 1, NULL, NULL); /* the killed generation left nothing behind */
        world_stop(&w);
    }
}
END_TEST

START_TEST(a_later_sync_killed_at_each_point_goes_on)
{
    static const char *const points[] = {"bulk_sent=kill",
                                         "bulk_sent=kill@9",
                                         "batch_answered=kill",
                                         "batch_answered=kill@11",
                                         "checkpoint_before_commit=kill",
                                         "checkpoint_after_commit=kill"};
    struct world w;
    crash_world(&w, ROWS);
    ends_equal(&w);
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        changes(&w, (int)i);
        crash_at(&w, points[i]);
        changes(&w, (int)i + 1);
        ends_equal(&w);
    }
    world_stop(&w);
}
END_TEST

START_TEST(killed_at_every_point_in_turn_one_load_still_gets_there)
{
    static const char *const points[] = {
        "generation_created=kill",      "checkpoint_after_commit=kill",  "bulk_sent=kill@5",
        "batch_answered=kill@5",        "checkpoint_before_commit=kill", "alias_swapped=kill",
        "checkpoint_before_commit=kill"};
    struct world w;
    crash_world(&w, ROWS);
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        crash_at(&w, points[i]);
        changes(&w, (int)i);
    }
    ends_equal(&w);
    generations_expect(&w, 1, NULL, NULL);
    world_stop(&w);
}
END_TEST

CRASH_MAIN("crash/failpoints", a_first_load_killed_at_each_point_goes_on,
           a_later_sync_killed_at_each_point_goes_on,
           killed_at_every_point_in_turn_one_load_still_gets_there)
