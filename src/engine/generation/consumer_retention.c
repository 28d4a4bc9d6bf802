/* SPDX-License-Identifier: Apache-2.0 */
/* Drops the consumers of former generations in the source. */
#include "generation/consumer_retention.h"

#include "rowferry/base/log.h"
#include "rowferry/state/rebuild.h"

#define FORMER_KEEP_US INT64_C(3600000000)
#define FORMER_LOOK_US INT64_C(60000000)

void former_attend(struct former_watch *w, struct intake *intake, struct state *state,
                   const struct clock *clock)
{
    struct err err;
    struct former former;
    bool known = false;
    int64_t now_us = clock_monotonic_us(clock);
    if (now_us < w->look_us || intake->capture == NULL) {
        return;
    }
    int rc = former_look(state, &former, &known, &err);
    bool due =
        known && (former.count > 1 || clock_wall_us(clock) - former.left_us > FORMER_KEEP_US);
    due = rc == 0 && due && intake_forget_consumer(intake, former.consumer);
    if (due) {
        rc = former_forget(state, former.consumer, &err);
    }
    if (rc < 0) {
        log_err(LOG_WARN, "former_not_forgotten", NULL, &err);
    }
    w->look_us = rc == 0 && due ? now_us : now_us + FORMER_LOOK_US;
}
