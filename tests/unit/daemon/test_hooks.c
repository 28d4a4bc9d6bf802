/* SPDX-License-Identifier: Apache-2.0 */
/* What the hooks of a pipeline are told, in which order, and what is told again. */
#include "rowferry/daemon/hooks.h"

#include <stdio.h>
#include <string.h>

#include "suite.h"

static const struct hook_facts well = {.generation = "shop-1", .works = true};

/* Tells everything that is due, and writes the events' numbers. */
static const char *told(struct hook_marks *m, const struct hook_facts *f)
{
    static char out[32];
    size_t len = 0;
    enum hook_event event;
    do {
        event = hooks_due(m, f, NULL, 0);
        hooks_settle(m, f, event);
        if (event < HOOK_EVENTS) {
            out[len++] = "gsdrh"[event];
        }
    } while (event < HOOK_EVENTS && len < sizeof(out) - 1);
    out[len] = '\0';
    return out;
}

START_TEST(a_pipeline_that_works_tells_nothing)
{
    struct hook_marks m = {0};
    ck_assert_str_eq(told(&m, &well), "");
    ck_assert_str_eq(m.generation, "shop-1");
    ck_assert(!hooks_settle(&m, &well, HOOK_EVENTS));
}
END_TEST

START_TEST(each_change_is_told_once)
{
    struct hook_marks m = {0};
    struct hook_facts f = well;
    (void)told(&m, &f);
    f.guard_us = 5;
    f.dead_letters = 2;
    ck_assert_str_eq(told(&m, &f), "gd");
    ck_assert_str_eq(told(&m, &f), "");
    f.guard_us = 9; /* it stopped again, for more */
    ck_assert_str_eq(told(&m, &f), "g");
    f.guard_us = 0;
    f.works = false; /* a process that has just begun does not know */
    ck_assert_str_eq(told(&m, &f), "");
    f.works = true;
    ck_assert_str_eq(told(&m, &f), "h");
    f.stopped = true;
    snprintf(f.why, sizeof(f.why), "no such table");
    ck_assert_str_eq(told(&m, &f), "s");
    snprintf(f.why, sizeof(f.why), "no such column");
    ck_assert_str_eq(told(&m, &f), "s");
    f.stopped = false;
    snprintf(f.generation, sizeof(f.generation), "shop-2");
    ck_assert_str_eq(told(&m, &f), "rh");
    f.stopped = true; /* the same error comes back after it was over */
    ck_assert_str_eq(told(&m, &f), "s");
}
END_TEST

START_TEST(fewer_dead_letters_are_no_event_and_more_than_then_are)
{
    struct hook_marks m = {0};
    struct hook_facts f = well;
    f.dead_letters = 10;
    ck_assert_str_eq(told(&m, &f), "d");
    f.dead_letters = 3;
    ck_assert_str_eq(told(&m, &f), "");
    f.dead_letters = -1; /* unknown */
    ck_assert_str_eq(told(&m, &f), "");
    f.dead_letters = 4;
    ck_assert_str_eq(told(&m, &f), "d");
}
END_TEST

START_TEST(an_event_is_told_at_most_once_a_minute)
{
    struct hook_marks m = {0};
    struct hook_facts f = well;
    int64_t told_us[HOOK_EVENTS] = {[HOOK_DEAD_LETTERS] = 1000000};
    (void)told(&m, &f);
    f.dead_letters = 1;
    f.guard_us = 3;
    ck_assert_int_eq(hooks_due(&m, &f, told_us, 2000000), HOOK_GUARD);
    hooks_settle(&m, &f, HOOK_GUARD);
    ck_assert_int_eq(hooks_due(&m, &f, told_us, 60999999), HOOK_EVENTS);
    ck_assert_int_eq(hooks_due(&m, &f, told_us, 61000000), HOOK_DEAD_LETTERS);
}
END_TEST

START_TEST(the_object_is_one_line_of_json)
{
    char name[] = "articles";
    char index[] = "shop-\"x\"";
    struct pipeline_config p = {.name = name, .to.index = index};
    struct hook_facts f = {.dead_letters = 3, .why = "a \"b\"\nc"};
    struct buf out;
    buf_init(&out, 4096);
    hooks_push(&out, HOOK_STOPPED, &p, &f, 0);
    ck_assert_str_eq(
        buf_text(&out),
        "{\"event\":\"stopped\",\"pipeline\":\"articles\",\"index\":\"shop-\\\"x\\\"\","
        "\"generation\":null,\"at\":\"1970-01-01T00:00:00.000Z\",\"message\":\"a "
        "\\\"b\\\"\\nc\",\"dead_letters\":3}\n");
    buf_release(&out);
}
END_TEST

SUITE_MAIN("daemon/hooks", a_pipeline_that_works_tells_nothing, each_change_is_told_once,
           fewer_dead_letters_are_no_event_and_more_than_then_are,
           an_event_is_told_at_most_once_a_minute, the_object_is_one_line_of_json)
