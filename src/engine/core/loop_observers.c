/* SPDX-License-Identifier: Apache-2.0 */
/* Sends the loop's events. */
#include "core/loop_observers.h"

#include <stdlib.h>

void loop_observers_add(struct loop_observers *o, const struct loop_observer *observer)
{
    if (o->count == LOOP_OBSERVERS_MAX) {
        abort();
    }
    struct loop_observer *added = &o->all[o->count++];
    *added = *observer;
    if (added->on_change != NULL) {
        o->changes[o->change_count++] = added;
    }
    if (added->on_settled != NULL) {
        o->settled[o->settled_count++] = added;
    }
}

bool loop_observers_change(const struct loop_observers *o, const struct change *change)
{
    for (size_t i = 0; i < o->change_count; i++) {
        if (o->changes[i]->on_change(o->changes[i]->self, change)) {
            return true;
        }
    }
    return false;
}

void loop_observers_settled(const struct loop_observers *o, uint64_t page, bool sent,
                            const struct new_letter *letter)
{
    for (size_t i = 0; i < o->settled_count; i++) {
        o->settled[i]->on_settled(o->settled[i]->self, page, sent, letter);
    }
}

void loop_observers_page(const struct loop_observers *o, bool more)
{
    for (size_t i = 0; i < o->count; i++) {
        if (o->all[i].on_page != NULL) {
            o->all[i].on_page(o->all[i].self, more);
        }
    }
}

void loop_observers_poll(const struct loop_observers *o, bool notified, int64_t at_us)
{
    for (size_t i = 0; i < o->count; i++) {
        if (o->all[i].on_poll != NULL) {
            o->all[i].on_poll(o->all[i].self, notified, at_us);
        }
    }
}
