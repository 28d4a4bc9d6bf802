/* SPDX-License-Identifier: Apache-2.0 */
/* Drops the consumers of former generations in the source. */
#include "generation/consumer_retention.h"

#include "rowferry/base/log.h"
#include "rowferry/state/rebuild.h"

#define CONSUMER_RETENTION_US INT64_C(3600000000)
#define CONSUMER_RETENTION_POLL_US INT64_C(60000000)

void consumer_retention_on_page(void *self, bool more)
{
    struct consumer_retention *w = self;
    const struct loop_view *v = w->view;
    struct err err;
    struct former former;
    bool known = false;
    (void)more;
    int64_t now_us = clock_monotonic_us(&v->clock);
    if (now_us < w->look_us || w->reader->capture == NULL) {
        return;
    }
    int rc = rebuild_former_look(v->state, &former, &known, &err);
    bool due = known && (former.count > 1 ||
                         clock_wall_us(&v->clock) - former.left_us > CONSUMER_RETENTION_US);
    due = rc == 0 && due && source_reader_forget_consumer(w->reader, former.consumer);
    if (due) {
        rc = rebuild_former_forget(v->state, former.consumer, &err);
    }
    if (rc < 0) {
        log_err(LOG_WARN, "former_not_forgotten", NULL, &err);
    }
    w->look_us = rc == 0 && due ? now_us : now_us + CONSUMER_RETENTION_POLL_US;
}
