/* SPDX-License-Identifier: Apache-2.0 */
/* kill -9, torn write and full disk at each system call of a sync: of the first, of a later one,
 * and of one that takes over. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "boundaries.h"
#include "generations.h"
#include "sql.h"

static void forget(const struct stage *s, const char *name)
{
    char *path = scratch_path(s->w.dir, name);
    unlink(path);
    free(path);
}

/* Removes everything that earlier syncs created. */
static void begin_anew(struct stage *s)
{
    struct generations g;
    generations_list(&s->w, "shop-articles", &g);
    for (size_t i = 0; i < g.count; i++) {
        generations_do(&s->w, "DELETE", NULL, "/%s", g.names[i]);
    }
    generations_release(&g);
    forget(s, "state.db");
    forget(s, "state.db-journal");
    sql_exec(s->w.conn, "delete from rowferry.consumer; delete from rowferry.change");
    stage_change(s);
}

static void expect_one(struct stage *s)
{
    world_expect_equal(&s->w);
    generations_expect(&s->w, 1, NULL, NULL);
    ck_assert_int_eq(sql_int(s->w.conn, "select count(*) from rowferry.consumer"), 1);
}

static void sync_here(struct stage *s)
{
    stage_sync(s, 0);
}

static void ends_equal(struct stage *s)
{
    sync_here(s);
    expect_one(s);
}

static const struct workload first_sync = {
    .name = "first sync", .words = {"sync"}, .prepare = begin_anew, .recover = ends_equal};
static const struct workload incremental = {.name = "incremental",
                                            .words = {"sync"},
                                            .begin = sync_here,
                                            .prepare = stage_change,
                                            .recover = ends_equal};

START_TEST(a_first_sync_broken_at_any_call_goes_on)
{
    boundaries_test_all(&first_sync);
}
END_TEST

START_TEST(a_later_sync_broken_at_any_call_goes_on)
{
    boundaries_test_all(&incremental);
}
END_TEST

/* --- another host continues ------------------------------------------------------------------ */

static void change_and_sync_here(struct stage *s)
{
    stage_change(s);
    sync_here(s);
    stage_change(s);
}

static void ends_equal_elsewhere(struct stage *s)
{
    stage_sync_elsewhere(s);
    expect_one(s);
}

static const struct workload takeover = {.name = "takeover",
                                         .words = {"sync"},
                                         .elsewhere = true,
                                         .prepare = change_and_sync_here,
                                         .recover = ends_equal_elsewhere};

START_TEST(a_sync_that_goes_on_from_another_hosts_broken_at_any_call_goes_on)
{
    boundaries_test_all(&takeover);
}
END_TEST

CRASH_LONG_MAIN("crash/boundary_sync", a_first_sync_broken_at_any_call_goes_on,
                a_later_sync_broken_at_any_call_goes_on,
                a_sync_that_goes_on_from_another_hosts_broken_at_any_call_goes_on)
