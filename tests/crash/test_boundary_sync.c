/* SPDX-License-Identifier: Apache-2.0 */
/* kill -9 of a sync at each call to the system. */
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

/* As if nothing had ever been synced. */
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

static void ends_equal(struct stage *s)
{
    stage_sync(s, 0);
    world_expect_equal(&s->w);
    generations_expect(&s->w, 1, NULL, NULL);
    ck_assert_int_eq(sql_int(s->w.conn, "select count(*) from rowferry.consumer"), 1);
}

static const struct workload first_sync = {
    .name = "first sync", .words = {"sync"}, .prepare = begin_anew, .recover = ends_equal};

START_TEST(a_first_sync_killed_at_any_call_goes_on)
{
    struct stage s;
    stage_start(&s);
    boundaries_try(&s, &first_sync, &boundary_kill);
    stage_stop(&s);
}
END_TEST

static const struct workload incremental = {
    .name = "incremental", .words = {"sync"}, .prepare = stage_change, .recover = ends_equal};

START_TEST(a_later_sync_killed_at_any_call_goes_on)
{
    struct stage s;
    stage_start(&s);
    stage_sync(&s, 0);
    boundaries_try(&s, &incremental, &boundary_kill);
    stage_stop(&s);
}
END_TEST

CRASH_MAIN("crash/boundary_sync", a_first_sync_killed_at_any_call_goes_on,
           a_later_sync_killed_at_any_call_goes_on)
