/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patience with one side (source or service): when to try again, when to give up, and one log line
 * for each change between well and away.
 */
#ifndef ROWFERRY_ENGINE_RETRY_BUDGET_H
#define ROWFERRY_ENGINE_RETRY_BUDGET_H

#include <stdbool.h>

#include "rowferry/base/backoff.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/err.h"

struct patience {
    const char *side;      /* "source", "service" */
    const char *pipeline;  /* for the log; borrowed */
    int64_t budget_ms;     /* negative: for ever */
    int64_t away_since_us; /* monotonic; 0 = well */
    int64_t retry_at_us;   /* monotonic; 0 = now */
    char why[128];         /* of the last failure, */
    int http_status;       /* and the answer's, 0 = there was none */
    struct backoff backoff;
};

void patience_init(struct patience *p, const char *side, const char *pipeline, int64_t budget_ms);

/* It worked. */
void patience_well(struct patience *p, const struct clock *clock);

/* It did not. True: wait until retry_at_us and try again; false: the budget is spent, and the
 * error's context says so, or it was the state file that failed, which is neither side. */
bool patience_away(struct patience *p, const struct clock *clock, struct err *err);

/* Milliseconds until the next try; 0 = now. */
int64_t patience_wait_ms(const struct patience *p, int64_t now_us);

#endif
