/* SPDX-License-Identifier: Apache-2.0 */
/* kill -9 at any moment: the next sync resumes, and the index is equal. */
#include "crash.h"

#include <stdio.h>

#include "sql.h"

#define ROWS 80000
#define KILLS_PER_LOAD 2
#define LATER_ROWS 20000
#define CHANGED 8000

/* Kills an initial load repeatedly while the table changes, then lets it end. Returns the number
 * of operations that the service received. */
static int64_t killed_load(int64_t kill_count, struct kills *kills)
{
    struct world w;
    struct program_result result;
    crash_world(&w, ROWS);
    for (int64_t i = 0; i < kill_count; i++) {
        crash_kill(&w, 1 + crash_dice(ROWS * 8 / 10 / kill_count), kills);
        sql_exec(w.conn,
                 "update articles set title = 'changed %d' where source_id %% 500 = %d;"
                 "delete from articles where source_id %% 1000 = %d",
                 (int)i, (int)i, 999 - (int)i);
    }
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    int64_t taken = crash_taken(&w);
    world_stop(&w);
    return taken;
}

START_TEST(a_first_load_that_is_killed_goes_on_and_sends_little_twice)
{
    struct kills kills = {0};
    int64_t wanted = crash_setting("ROWFERRY_SLOW_KILLS", 6);
    int64_t most = 0;
    while (kills.count < wanted) {
        int64_t left = wanted - kills.count;
        int64_t taken = killed_load(left < KILLS_PER_LOAD ? left : KILLS_PER_LOAD, &kills);
        most = taken > most ? taken : most;
        ck_assert_msg(taken * 10 <= ROWS * INT64_C(12),
                      "%lld operations for a table of %d rows and %d kills", (long long)taken, ROWS,
                      KILLS_PER_LOAD);
    }
    printf("first loads of %d rows, %d kills each: at most %lld operations\n", ROWS, KILLS_PER_LOAD,
           (long long)most);
    crash_expect_unsettled(&kills);
}
END_TEST

START_TEST(a_later_sync_that_is_killed_loses_no_change)
{
    struct kills kills = {0};
    struct world w;
    struct program_result result;
    int64_t wanted = crash_setting("ROWFERRY_SLOW_KILLS", 6);
    int64_t most = 0;
    crash_world(&w, LATER_ROWS);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    while (kills.count < wanted) {
        int64_t before = crash_taken(&w);
        int from = (int)crash_dice(LATER_ROWS - CHANGED) + 1;
        sql_exec(w.conn,
                 "update articles set title = 'change %d' where source_id between %d and %d;"
                 "delete from articles where source_id %% 1000 = %d",
                 (int)kills.count, from, from + CHANGED - 1, (int)kills.count + 1);
        crash_kill(&w, 1 + crash_dice(CHANGED / 2), &kills);
        if (crash_dice(2) == 0 && kills.count < wanted) {
            crash_kill(&w, 1, &kills);
        }
        world_sync(&w, 0, &result);
        program_result_release(&result);
        world_expect_equal(&w);
        most = crash_taken(&w) - before > most ? crash_taken(&w) - before : most;
    }
    printf("syncs of %d changes, one or two kills each: at most %lld operations\n", CHANGED,
           (long long)most);
    crash_expect_unsettled(&kills);
    world_stop(&w);
}
END_TEST

CRASH_MAIN("crash/kill", a_first_load_that_is_killed_goes_on_and_sends_little_twice,
           a_later_sync_that_is_killed_loses_no_change)
