/* SPDX-License-Identifier: Apache-2.0 */
/* Retries with back-off within a budget. */
#include "core/retry_budget.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/log.h"
#include "rowferry/base/text.h"
#include "rowferry/base/units.h"

#define RETRY_BUDGET_BASE_MS 50
#define RETRY_BUDGET_MAX_MS 5000
#define HTTP_OK 200

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

/* Describes the failure. The words of a refusal may quote a document, so only its error type and
 * our own hint, up to the remedy, are used. The texts about an answer with status 200 are our own.
 */
static void retry_budget_explain(struct retry_budget *p, const struct err *err)
{
    bool refused = err->http_status != 0 && err->http_status != HTTP_OK;
    bool both = err->service_type[0] != '\0' && err->hint[0] != '\0';
    if (refused) {
        snprintf(p->why, sizeof(p->why), "%s%s%.*s", err->service_type, both ? ", " : "",
                 (int)strcspn(err->hint, ":"), err->hint);
    } else {
        size_t len = text_cut(err->message, strlen(err->message), sizeof(p->why) - 1);
        snprintf(p->why, sizeof(p->why), "%.*s", (int)len, err->message);
    }
    p->http_status = err->http_status;
    /* with 503 the block is the cluster's own, for example without a master, and passes */
    p->lasting =
        err->http_status == HTTP_OK || (refused && err->http_status < 500 &&
                                        strcmp(err->service_type, "cluster_block_exception") == 0);
}

static void retry_budget_log(const struct retry_budget *p, const struct err *err)
{
    const char *event = p->http_status == 0 || p->http_status >= 500 ? "away"
                        : p->http_status == HTTP_OK                  ? "unreadable"
                                                                     : "refuses";
    if (p->http_status == 0) {
        log_event(LOG_WARN, event, F_TEXT("pipeline", p->pipeline), F_TEXT("side", p->side),
                  F_TEXT("error", p->why));
    } else {
        char *place = text_copy_span(span_make(err->message, strnlen(err->message, err->place)));
        log_event(LOG_WARN, event, F_TEXT("pipeline", p->pipeline), F_TEXT("side", p->side),
                  F_INT("http_status", p->http_status),
                  F_TEXT("request", place[0] != '\0' ? place : NULL),
                  F_TEXT("why", p->why[0] != '\0' ? p->why : NULL));
        free(place);
    }
}

bool retry_budget_away(struct retry_budget *p, const struct clock *clock, struct err *err)
{
    int64_t now = clock_monotonic_us(clock);
    if (err->sqlite_code != 0) {
        return false;
    }
    retry_budget_explain(p, err);
    if (p->away_since_us == 0) {
        p->away_since_us = now;
        retry_budget_log(p, err);
    }
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
