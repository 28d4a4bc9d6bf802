/* SPDX-License-Identifier: Apache-2.0 */
/* The alias watch: how often it polls, and which changes count. */
#include "generation/alias_watch.h"

#include <stdio.h>

#include "core/retry_budget.h"
#include "core/window.h"
#include "fake.h"
#include "fake_private.h"
#include "suite.h"

#define S INT64_C(1000000)

static struct loop_view view = {.target = {.index = "things-1"}};

static void begin(struct fake *f, struct alias_watch *a)
{
    *f = (struct fake){.source = "database"};
    snprintf(f->index, sizeof(f->index), "things-1");
    snprintf(f->alias, sizeof(f->alias), "things-1");
    snprintf(f->uuid, sizeof(f->uuid), "u1");
    view.service = fake_service_port(f);
    view.clock = fake_clock(f);
    *a = (struct alias_watch){.view = &view, .alias = "things", .uuid = "u1"};
}

/* Returns true if a move is noticed within this time. */
static bool misses(struct alias_watch *a, int64_t from_s, int64_t seconds)
{
    struct err err;
    struct fake *f = view.clock.context;
    for (int64_t t = 0; t < seconds * S; t += S / 10) {
        f->now_us = (1000 + from_s) * S + t;
        if (alias_watch_on_turn(a, &err) == LOOP_END) {
            return true;
        }
    }
    return false;
}

START_TEST(it_looks_every_ten_seconds)
{
    struct fake f;
    struct alias_watch a;
    begin(&f, &a);
    ck_assert(!misses(&a, 0, 35));
    ck_assert_uint_eq(f.alias_polls, 3);
}
END_TEST

START_TEST(what_points_elsewhere_is_seen)
{
    struct fake f;
    struct alias_watch a;
    begin(&f, &a);
    ck_assert(!misses(&a, 0, 15));
    snprintf(f.alias, sizeof(f.alias), "things-of-others");
    ck_assert(misses(&a, 15, 11));
    begin(&f, &a);
    f.alias[0] = '\0'; /* removed */
    ck_assert(misses(&a, 0, 11));
    begin(&f, &a);
    f.alias_several = true;
    ck_assert(misses(&a, 0, 11));
    begin(&f, &a);
    snprintf(f.uuid, sizeof(f.uuid), "u2"); /* created again under the same name */
    ck_assert(misses(&a, 0, 11));
}
END_TEST

START_TEST(no_answer_and_no_service_say_nothing)
{
    struct fake f;
    struct alias_watch a;
    begin(&f, &a);
    f.alias[0] = '\0';
    f.alias_poll_hangs = true;
    ck_assert(!misses(&a, 0, 60));
    ck_assert_uint_eq(f.alias_polls, 1);
    f.alias_poll_hangs = false;
    ck_assert(misses(&a, 60, 1));
    begin(&f, &a);
    f.alias[0] = '\0';
    f.alias_poll_fails = true;
    ck_assert(!misses(&a, 0, 60));
    f.alias_poll_fails = false;
    ck_assert(misses(&a, 60, 11));
}
END_TEST

START_TEST(who_may_not_look_asks_once)
{
    struct fake f;
    struct alias_watch a;
    begin(&f, &a);
    f.alias_poll_forbidden = true;
    ck_assert(!misses(&a, 0, 60));
    ck_assert_uint_eq(f.alias_polls, 1);
}
END_TEST

START_TEST(a_right_that_was_revoked_is_a_suspicion)
{
    struct fake f;
    struct alias_watch a;
    begin(&f, &a);
    ck_assert(!misses(&a, 0, 20));
    f.alias_poll_forbidden = true;
    ck_assert(misses(&a, 20, 20));
}
END_TEST

START_TEST(what_is_not_searched_yet_is_not_looked_at)
{
    struct fake f;
    struct alias_watch a;
    begin(&f, &a);
    f.alias[0] = '\0';
    a.alias = NULL;
    ck_assert(!misses(&a, 0, 60));
    ck_assert_uint_eq(f.alias_polls, 0);
}
END_TEST

START_TEST(a_service_that_is_away_is_noticed_while_no_change_waits)
{
    struct fake f;
    struct alias_watch a;
    struct window window = {0};
    struct retry_budget retry;
    begin(&f, &a);
    retry_budget_init(&retry, "service", "things", -1);
    a.service_retry = &retry;
    view.window = &window;
    f.alias_poll_fails = true;
    ck_assert(!misses(&a, 0, 11)); /* it does not follow yet: the sender would notice */
    ck_assert_int_eq(retry.away_since_us, 0);
    view.following.on = true;
    ck_assert(!misses(&a, 11, 10));
    ck_assert_int_ne(retry.away_since_us, 0);
    f.alias_poll_fails = false;
    window.read = 1; /* a change waits: the answers to it count */
    ck_assert(!misses(&a, 21, 30));
    ck_assert_int_ne(retry.away_since_us, 0);
    window.settled = 1;
    ck_assert(!misses(&a, 51, 11));
    ck_assert_int_eq(retry.away_since_us, 0);
    view.following.on = false;
}
END_TEST

SUITE_MAIN("engine/alias_watch", a_service_that_is_away_is_noticed_while_no_change_waits,
           it_looks_every_ten_seconds, what_points_elsewhere_is_seen,
           no_answer_and_no_service_say_nothing, a_right_that_was_revoked_is_a_suspicion,
           who_may_not_look_asks_once, what_is_not_searched_yet_is_not_looked_at)
