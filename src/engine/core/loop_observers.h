/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of the loop. Each part that watches the loop or decides about it is registered once, and
 * receives its events in the order of registration.
 */
#pragma once

#include "core/loop_view.h"

struct new_letter;

#define LOOP_OBSERVERS_MAX 10

/* Functions may be null. `self` is the context of all of them. */
struct loop_observer {
    void *self;
    /* A change was read. Returns true if it needs no further handling. */
    bool (*on_change)(void *self, const struct change *change);
    /* An operation of the page was settled. letter: null if it succeeded. sent: the service
     * confirmed it; false for a delete that no document can need. */
    void (*on_settled)(void *self, uint64_t page, bool sent, const struct new_letter *letter);
    /* Between two pages, when the source may be queried. more: it has more to read. */
    void (*on_page)(void *self, bool more);
    /* A poll that began at_us showed nothing new; or, if notified, the source announced changes. */
    void (*on_poll)(void *self, bool notified, int64_t at_us);
    /* A turn has ended. Sets *why if it returns LOOP_END. */
    enum loop_answer (*on_turn)(void *self, struct err *why);
};

struct loop_observers {
    struct loop_observer all[LOOP_OBSERVERS_MAX];
    size_t count;
    /* those of `all` with the events of every operation */
    const struct loop_observer *changes[LOOP_OBSERVERS_MAX];
    const struct loop_observer *settled[LOOP_OBSERVERS_MAX];
    size_t change_count, settled_count;
};

/* Registers an observer. Aborts if there are too many. The struct must not move afterwards. */
void loop_observers_add(struct loop_observers *o, const struct loop_observer *observer);

/* Sends an event. loop_observers_change returns true once an observer has handled the change. */
bool loop_observers_change(const struct loop_observers *o, const struct change *change);
void loop_observers_settled(const struct loop_observers *o, uint64_t page, bool sent,
                            const struct new_letter *letter);
void loop_observers_page(const struct loop_observers *o, bool more);
void loop_observers_poll(const struct loop_observers *o, bool notified, int64_t at_us);
