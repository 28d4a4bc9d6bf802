/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks now and then at how an index grows while it is filled, and freezes the batches' growth
 * where it grows as it should not. One log line for each change of mind.
 */
#ifndef ROWFERRY_ENGINE_GROWTH_WATCH_H
#define ROWFERRY_ENGINE_GROWTH_WATCH_H

#include "rowferry/engine/port.h"
#include "rowferry/service/bulk/flow.h"
#include "rowferry/service/cluster/growth.h"

struct watch {
    struct service_port service;
    const char *pipeline; /* borrowed, for the log */
    struct growth growth;
    enum growth_news news; /* of the last look */
    int64_t due_us;        /* of the next one; 0 = none was due yet */
    bool forbidden;        /* the credential may not look */
};

/* Why batches grow no more; "" where they may. */
const char *watch_why(const struct watch *w);

/* Looks where it is time to. sent: documents of this run; left: to come, negative where unknown. */
void watch_turn(struct watch *w, const char *index, struct flow *flow, int64_t sent, int64_t left,
                int64_t now_us);

#endif
