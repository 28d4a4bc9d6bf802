/* SPDX-License-Identifier: Apache-2.0 */
/* Polls the alias every ten seconds. */
#include "generation/alias_watch.h"

#include <string.h>

#include "core/retry_budget.h"
#include "core/window.h"

#define ALIAS_WATCH_EVERY_US INT64_C(10000000)

static bool alias_watch_misses(const struct alias_watch *a, enum alias_kind kind,
                               const struct index_info *at)
{
    return kind != (a->view->target.stream ? ALIAS_STREAM : ALIAS_ONE) ||
           strcmp(at->name, a->view->target.index) != 0 ||
           (a->uuid != NULL && strcmp(at->uuid, a->uuid) != 0) ||
           (a->place != NULL && *a->place != '\0' && *at->place != '\0' &&
            strcmp(at->place, a->place) != 0);
}

/* Records if the service answers. While a change waits, only the answers to it count: a service may
 * refuse all writes and answer polls. */
static void alias_watch_judge(struct alias_watch *a, int rc, struct err *err)
{
    const struct window *window = a->view->window;
    if (!a->view->following.on || a->view->held || window->read != window->settled) {
        return;
    }
    if (rc != ERR_TRANSIENT) {
        retry_budget_well(a->service_retry, &a->view->clock);
    } else if (retry_budget_away(a->service_retry, &a->view->clock, err) &&
               a->due_us > a->service_retry->retry_at_us) {
        a->due_us = a->service_retry->retry_at_us;
    }
}

static void alias_watch_take(struct alias_watch *a)
{
    enum alias_kind kind = ALIAS_ABSENT;
    struct index_info at;
    struct err err;
    int rc = a->view->service.ops->alias.poll_end(a->view->service.self, &kind, &at, &err);
    a->asked = rc == ALIAS_POLL_NONE;
    a->revoked = rc == ERR_REJECTED && (a->permitted || err.http_status == 401);
    a->forbidden = rc == ERR_REJECTED && !a->revoked;
    a->permitted = a->permitted || rc == 0;
    a->missed = rc == 0 && alias_watch_misses(a, kind, &at);
    if (!a->asked) {
        alias_watch_judge(a, rc, &err);
    }
}

enum loop_answer alias_watch_on_turn(void *self, struct err *why)
{
    struct alias_watch *a = self;
    struct service_port service = a->view->service;
    struct err err;
    int64_t now_us = clock_monotonic_us(&a->view->clock);
    if (a->alias == NULL || a->forbidden || loop_view_stopping(a->view)) {
        return LOOP_GO_ON;
    }
    a->due_us = a->due_us != 0 ? a->due_us : now_us + ALIAS_WATCH_EVERY_US;
    if (a->asked) {
        alias_watch_take(a);
    } else if (now_us >= a->due_us) {
        a->due_us = now_us + ALIAS_WATCH_EVERY_US;
        int rc = service.ops->alias.poll_begin(service.self, a->alias, &err);
        a->asked = rc == 0;
        if (!a->asked) {
            alias_watch_judge(a, rc, &err);
        }
    }
    if (a->revoked) {
        err_set(why, ERR_TRANSIENT, "the service refuses to show alias \"%s\"", a->alias);
        return LOOP_END;
    }
    if (!a->missed) {
        return LOOP_GO_ON;
    }
    err_set(why, ERR_TRANSIENT, "alias \"%s\" was moved for a moment", a->alias);
    err_hint(why, "sync again");
    return LOOP_END;
}
