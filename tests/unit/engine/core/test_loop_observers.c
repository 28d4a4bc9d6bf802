/* SPDX-License-Identifier: Apache-2.0 */
/* Who receives an event of the loop, and in which order. */
#include "core/loop_observers.h"

#include "suite.h"

struct watcher {
    int *clock;
    int changes, settled, pages, polls;
    int called_at; /* value of the clock at its last event */
    bool handles;
};

static bool on_change(void *self, const struct change *change)
{
    struct watcher *w = self;
    ck_assert_int_eq(change->kind, CHANGE_DELETE);
    w->changes++;
    w->called_at = ++*w->clock;
    return w->handles;
}

static void on_settled(void *self, uint64_t page, bool sent, const struct new_letter *letter)
{
    struct watcher *w = self;
    ck_assert(page == 7 && sent && letter == NULL);
    w->settled++;
}

static void on_page(void *self, bool more)
{
    ((struct watcher *)self)->pages += more ? 1 : 100;
}

static void on_poll(void *self, bool notified, int64_t at_us)
{
    ck_assert(notified && at_us == 5);
    ((struct watcher *)self)->polls++;
}

START_TEST(each_event_reaches_those_that_have_its_function)
{
    int clock = 0;
    struct watcher all = {.clock = &clock};
    struct watcher none = {.clock = &clock};
    struct loop_observers o = {0};
    loop_observers_add(&o, &(struct loop_observer){.self = &none});
    loop_observers_add(&o, &(struct loop_observer){.self = &all,
                                                   .on_change = on_change,
                                                   .on_settled = on_settled,
                                                   .on_page = on_page,
                                                   .on_poll = on_poll});
    ck_assert(!loop_observers_change(&o, &(struct change){.kind = CHANGE_DELETE}));
    loop_observers_settled(&o, 7, true, NULL);
    loop_observers_page(&o, true);
    loop_observers_page(&o, false);
    loop_observers_poll(&o, true, 5);
    ck_assert(all.changes == 1 && all.settled == 1);
    ck_assert(all.pages == 101 && all.polls == 1);
    ck_assert(none.changes + none.settled + none.pages + none.polls == 0);
}
END_TEST

START_TEST(a_change_that_was_handled_reaches_no_later_observer)
{
    int clock = 0;
    struct watcher first = {.clock = &clock};
    struct watcher second = {.clock = &clock, .handles = true};
    struct watcher third = {.clock = &clock};
    struct loop_observers o = {0};
    loop_observers_add(&o, &(struct loop_observer){.self = &first, .on_change = on_change});
    loop_observers_add(&o, &(struct loop_observer){.self = &second, .on_change = on_change});
    loop_observers_add(&o, &(struct loop_observer){.self = &third, .on_change = on_change});
    ck_assert(loop_observers_change(&o, &(struct change){.kind = CHANGE_DELETE}));
    ck_assert_int_eq(first.called_at, 1);
    ck_assert_int_eq(second.called_at, 2);
    ck_assert_int_eq(third.changes, 0);
}
END_TEST

SUITE_MAIN("engine/loop_observers", each_event_reaches_those_that_have_its_function,
           a_change_that_was_handled_reaches_no_later_observer)
