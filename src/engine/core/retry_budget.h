/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Retry budget of one side (source or service): when to retry, when to give up, and one log line
 * for each change: it does not answer, refuses or cannot be understood, and works again.
 */
#pragma once

#include <stdbool.h>

#include "rowferry/base/backoff.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/err.h"

struct retry_budget {
    const char *side;      /* "source", "service" */
    const char *pipeline;  /* for the log; borrowed */
    int64_t budget_ms;     /* negative: unlimited */
    int64_t away_since_us; /* monotonic; 0 = works */
    int64_t retry_at_us;   /* monotonic; 0 = now */
    char why[256];         /* the last failure, without words that may quote a document */
    int http_status;       /* HTTP status of the last failure, 0 = no response */
    bool lasting;          /* the last failure does not end by itself: a block, a wrong answer */
    struct backoff backoff;
};

void retry_budget_init(struct retry_budget *p, const char *side, const char *pipeline,
                       int64_t budget_ms);

/* Records a success. */
void retry_budget_well(struct retry_budget *p, const struct clock *clock);

/* Records a failure. Returns true if the caller should retry at retry_at_us. Returns false if the
 * budget is exhausted, which is added to the error's context, or if the state file failed, which
 * is neither side. */
bool retry_budget_away(struct retry_budget *p, const struct clock *clock, struct err *err);

/* Returns the milliseconds until the next retry; 0 = now. */
int64_t retry_budget_wait_ms(const struct retry_budget *p, int64_t now_us);
