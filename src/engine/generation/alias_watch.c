/* SPDX-License-Identifier: Apache-2.0 */
/* Polls the alias every ten seconds. */
#include "generation/alias_watch.h"

#include <string.h>

#define AIM_EVERY_US INT64_C(10000000)

static bool misses(const struct aim *a, enum alias_kind kind, const struct index_info *at)
{
    return kind != (a->stream ? ALIAS_STREAM : ALIAS_ONE) || strcmp(at->name, a->index) != 0 ||
           (a->uuid != NULL && strcmp(at->uuid, a->uuid) != 0);
}

static void take(struct aim *a)
{
    enum alias_kind kind = ALIAS_ABSENT;
    struct index_info at;
    struct err err;
    int rc = a->service.ops->glanced(a->service.self, &kind, &at, &err);
    a->asked = rc == GLANCE_NONE;
    a->forbidden = rc == ERR_REJECTED;
    a->missed = rc == 0 && misses(a, kind, &at);
}

bool aim_turn(struct aim *a, int64_t now_us)
{
    struct err ignored; /* the sender reports an unreachable service */
    if (a->alias == NULL || a->forbidden || a->missed) {
        return a->missed;
    }
    if (a->due_us == 0) {
        a->due_us = now_us + AIM_EVERY_US;
    }
    if (a->asked) {
        take(a);
    } else if (now_us >= a->due_us) {
        a->due_us = now_us + AIM_EVERY_US;
        a->asked = a->service.ops->glance(a->service.self, a->alias, &ignored) == 0;
    }
    return a->missed;
}
