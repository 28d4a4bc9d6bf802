/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growth watch: checks regularly how an index grows during the initial load, and stops the batches
 * from growing if it grows abnormally. If the service counts fewer documents than it acknowledged,
 * less is sent at a time, too. Logs one line for each change.
 */
#pragma once

#include "core/loop_view.h"
#include "rowferry/service/bulk/flow.h"
#include "rowferry/service/cluster/growth.h"

struct growth_watch {
    const struct loop_view *view;
    struct flow *flow; /* stopped from growing */
    struct growth growth;
    enum growth_news news; /* result of the last check */
    int64_t due_us;        /* time of the next check; 0 = not scheduled yet */
    bool copying;          /* the load has not ended */
    bool forbidden;        /* the credential does not permit the check */
};

/* Returns the reason why batches may not grow, or "" if they may. */
const char *growth_watch_why(const struct growth_watch *w);

/* Checks if due. */
void growth_watch_turn(struct growth_watch *w, const struct growth_sent *sent, int64_t now_us);

/* Checks an index that is being filled, also when that ends; see struct loop_observer. Later
 * changes replace documents, so they are not checked. */
enum loop_answer growth_watch_on_turn(void *self, struct err *why);
