/* SPDX-License-Identifier: Apache-2.0 */
/* Sample status snapshots, filled as by a pipeline. */
#pragma once

#include <stdio.h>

#include "rowferry/engine/observe/status_snapshot.h"

static inline struct status_snapshot_view view_of(const char *name, const char *stage)
{
    return (struct status_snapshot_view){.name = name,
                                         .alias = "shop-articles",
                                         .stage = stage,
                                         .since_us = 1000000,
                                         .moment = {.work = {.lag_rows = -1}, .dead_letters = -1}};
}

static inline void view_stall(struct status_snapshot_view *v, const char *cause, const char *why)
{
    struct live_progress *w = &v->moment.work;
    snprintf(w->stall, sizeof(w->stall), "%s", cause);
    snprintf(w->stall_why, sizeof(w->stall_why), "%s", why);
    w->stall_us = 5000000;
}
