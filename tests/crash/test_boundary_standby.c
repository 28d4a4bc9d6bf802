/* SPDX-License-Identifier: Apache-2.0 */
/* kill -9, torn write and full disk at each system call of a standby, while it waits and while it
 * takes over. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "boundaries.h"
#include "compare.h"
#include "sql.h"
#include "wait.h"

static void kill_holder(struct stage *s)
{
    struct program_result result;
    if (s->held) {
        program_signal(&s->holder, SIGKILL);
        program_finish(&s->holder, WAIT_MS, &result);
        program_result_release(&result);
    }
    s->held = false;
}

static void hold_here(struct stage *s)
{
    stage_change(s);
    rowferry_start(&s->holder, s->w.config, "run", "--wait", NULL);
    s->held = true;
    program_await(&s->holder, "event=following", WAIT_MS);
    stage_change(s);
}

static bool has_said(const struct program *p, const char *text)
{
    char *all = program_said(p);
    bool said = strstr(all, text) != NULL;
    free(all);
    return said;
}

/* With a full disk the standby does not get further. */
static bool goes_on(const struct program *p)
{
    return program_running(p) && !has_said(p, "event=stalled");
}

static void await_or_end(const struct program *p, const char *text)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    while (goes_on(p) && !has_said(p, text)) {
        ck_assert_msg(deadline_wait(&deadline), "never said \"%s\" but: %s", text, program_said(p));
    }
}

static bool is_equal(const struct stage *s)
{
    struct comparison c;
    char *query = compare_table("articles", "source_id");
    compare(&c, s->w.conn, query, s->w.service.url, "shop-articles", "ApiKey " WORLD_API_KEY);
    free(c.first);
    free(query);
    return c.differences == 0;
}

/* Kills the holder, lets the standby follow changes, and stops it. */
static void takes_over(struct stage *s, struct program *p)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    while (program_running(p) && !has_said(p, "event=standing_by") &&
           !has_said(p, "event=not_told")) { /* a full disk prevents the report */
        ck_assert(deadline_wait(&deadline));
    }
    stage_change(s);
    kill_holder(s);
    await_or_end(p, "event=following");
    stage_change(s);
    while (goes_on(p) && !is_equal(s)) {
        ck_assert(deadline_wait(&deadline));
    }
    if (program_running(p)) {
        program_signal(p, SIGTERM);
    }
}

static void ends_equal(struct stage *s)
{
    kill_holder(s);
    stage_sync_elsewhere(s);
    world_expect_equal(&s->w);
    ck_assert_int_eq(sql_int(s->w.conn, "select count(*) from rowferry.consumer"), 1);
}

static const struct workload standby = {.name = "standby takeover",
                                        .words = {"run", "--wait"},
                                        .elsewhere = true,
                                        .stopped = true,
                                        .sparse = 3, /* each takes seconds */
                                        .prepare = hold_here,
                                        .meanwhile = takes_over,
                                        .recover = ends_equal};

START_TEST(a_standby_broken_at_any_call_leaves_nothing_undone)
{
    boundaries_test_all(&standby);
}
END_TEST

CRASH_LONG_MAIN("crash/boundary_standby", a_standby_broken_at_any_call_leaves_nothing_undone)
