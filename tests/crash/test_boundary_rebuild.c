/* SPDX-License-Identifier: Apache-2.0 */
/* kill -9, torn write and full disk at each system call of a rebuild with its swap, and of a
 * rollback. */
#include "boundaries.h"
#include "generations.h"
#include "rebuilds.h"
#include "sql.h"

static void begin_rebuilt(struct stage *s)
{
    stage_sync(s, 0);
    rebuilds_run(&s->w, NULL);
}

static void ends_with(struct stage *s, const char *word)
{
    if (rebuilds_underway(&s->w)) {
        rebuilds_run(&s->w, word);
    }
    ck_assert(!rebuilds_underway(&s->w));
    stage_sync(s, 0);
    world_expect_equal(&s->w);
    generations_expect(&s->w, 2, NULL, NULL);
    ck_assert_int_le(sql_int(s->w.conn, "select count(*) from rowferry.consumer"), 2);
}

static void ends_rebuilt(struct stage *s)
{
    ends_with(s, NULL);
}

static void ends_back(struct stage *s)
{
    ends_with(s, "--rollback");
}

static const struct workload rebuild = {.name = "rebuild",
                                        .words = {"reindex"},
                                        .begin = begin_rebuilt,
                                        .prepare = stage_change,
                                        .recover = ends_rebuilt};

START_TEST(a_rebuild_broken_at_any_call_is_ended_by_the_next_one)
{
    boundaries_test_all(&rebuild);
}
END_TEST

static const struct workload rollback = {.name = "rollback",
                                         .words = {"reindex", "--rollback"},
                                         .begin = begin_rebuilt,
                                         .prepare = stage_change,
                                         .recover = ends_back};

START_TEST(a_rollback_broken_at_any_call_is_ended_by_the_next_one)
{
    boundaries_test_all(&rollback);
}
END_TEST

CRASH_LONG_MAIN("crash/boundary_rebuild", a_rebuild_broken_at_any_call_is_ended_by_the_next_one,
                a_rollback_broken_at_any_call_is_ended_by_the_next_one)
