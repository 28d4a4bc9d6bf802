/* SPDX-License-Identifier: Apache-2.0 */
/* Repeats a step of a rebuild while a server is unreachable. */
#include "core/retry_budget.h"
#include "rebuild/rebuild_private.h"
#include "rowferry/base/stop.h"

#define WAIT_MS 250 /* interval of checks for a stop */

bool rebuild_stopping(const struct rebuild_job *j)
{
    return stop_is_set(j->options->pipeline->hooks.stop);
}

static int rebuild_retry_nap(const struct rebuild_job *j, const struct retry_budget *retry_budget,
                             struct err *err)
{
    const struct service_port *service = &j->ports->pipeline->service;
    const struct clock *clock = &j->ports->pipeline->clock;
    int64_t *alive_us = j->options->pipeline->hooks.alive_us;
    int64_t wait_ms;
    int rc = 0;
    while (rc == 0 && !rebuild_stopping(j) &&
           (wait_ms = retry_budget_wait_ms(retry_budget, clock_monotonic_us(clock))) > 0) {
        bool readable;
        if (alive_us != NULL) {
            __atomic_store_n(alive_us, clock_monotonic_us(clock), __ATOMIC_RELAXED);
        }
        rc = service->ops->bulk.wait(service->self, -1, wait_ms < WAIT_MS ? wait_ms : WAIT_MS,
                                     &readable, err);
    }
    return rc;
}

int rebuild_retry(struct rebuild_job *j, rebuild_step step, void *context, struct err *err)
{
    const struct pipeline_options *p = j->options->pipeline;
    const struct clock *clock = &j->ports->pipeline->clock;
    struct retry_budget retry_budget;
    int rc = step(j, context, err);
    if (p->limits.retry_budget_ms < 0) {
        return rc; /* a caller with an unlimited budget restarts the rebuild and does other work in
                      between */
    }
    retry_budget_init(&retry_budget, "source or service", p->definition.name,
                      p->limits.retry_budget_ms);
    while (rc == ERR_TRANSIENT && !rebuild_stopping(j) &&
           retry_budget_away(&retry_budget, clock, err)) {
        rc = rebuild_retry_nap(j, &retry_budget, err);
        if (rc == 0 && rebuild_stopping(j)) {
            return ERR_TRANSIENT; /* the error is unchanged */
        }
        rc = rc == 0 ? step(j, context, err) : rc;
    }
    if (rc == 0) {
        retry_budget_well(&retry_budget, clock);
    }
    return rc;
}
