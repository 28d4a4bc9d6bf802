/* SPDX-License-Identifier: Apache-2.0 */
/* Retries with back-off within a budget. */
#include "core/retry_budget.h"

#include <stdio.h>
#include <string.h>

#include "rowferry/base/log.h"
#include "rowferry/base/text.h"
#include "rowferry/base/units.h"

#define RETRY_BUDGET_BASE_MS 50
#define RETRY_BUDGET_MAX_MS 5000

void retry_budget_init(struct retry_budget *p, const char *side, const char *pipeline,
                       int64_t budget_ms)
{
    *p = (struct retry_budget){.side = side, .pipeline = pipeline, .budget_ms = budget_ms};
    backoff_init(&p->backoff, RETRY_BUDGET_BASE_MS, RETRY_BUDGET_MAX_MS);
}

static int64_t retry_budget_away_ms(const struct retry_budget *p, int64_t now_us)
{
    return (now_us - p->away_since_us) / 1000;
}

void retry_budget_well(struct retry_budget *p, const struct clock *clock)
{
    if (p->away_since_us == 0) {
        return;
    }
    log_event(LOG_INFO, "back", F_TEXT("pipeline", p->pipeline), F_TEXT("side", p->side),
              F_INT("away_ms", retry_budget_away_ms(p, clock_monotonic_us(clock))));
    p->away_since_us = 0;
    p->retry_at_us = 0;
    backoff_reset(&p->backoff);
}

/* Logs only the status of an HTTP response, because its text may quote a document. */
static void retry_budget_log_away(const struct retry_budget *p, const struct err *err)
{
    if (err->http_status != 0) {
        log_event(LOG_WARN, "away", F_TEXT("pipeline", p->pipeline), F_TEXT("side", p->side),
                  F_INT("http_status", err->http_status));
    } else {
        log_event(LOG_WARN, "away", F_TEXT("pipeline", p->pipeline), F_TEXT("side", p->side),
                  F_TEXT("error", err->message));
    }
}

bool retry_budget_away(struct retry_budget *p, const struct clock *clock, struct err *err)
{
    int64_t now = clock_monotonic_us(clock);
    if (err->sqlite_code != 0) {
        return false;
    }
    if (p->away_since_us == 0) {
        p->away_since_us = now;
        retry_budget_log_away(p, err);
    }
    p->http_status = err->http_status;
    snprintf(p->why, sizeof(p->why), "%.*s",
             (int)text_cut(err->message, strlen(err->message), sizeof(p->why) - 1), err->message);
    int64_t wait_ms = backoff_next_ms(&p->backoff, clock_random(clock));
    if (p->budget_ms < 0) {
        p->retry_at_us = now + 1000 * wait_ms;
        return true;
    }
    int64_t left_ms = p->budget_ms - retry_budget_away_ms(p, now);
    if (left_ms <= 0) {
        char budget[UNITS_BYTES];
        err_context(err, "gave up after %s (limits.retry_budget)",
                    units_duration(budget, p->budget_ms));
        return false;
    }
    p->retry_at_us = now + 1000 * (wait_ms < left_ms ? wait_ms : left_ms);
    return true;
}

int64_t retry_budget_wait_ms(const struct retry_budget *p, int64_t now_us)
{
    return p->retry_at_us <= now_us ? 0 : (p->retry_at_us - now_us + 999) / 1000;
}
