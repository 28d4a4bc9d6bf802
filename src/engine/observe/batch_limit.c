/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the service, learns from its refusals, and keeps both. */
#include "observe/batch_limit.h"

#include "rowferry/base/log.h"
#include "rowferry/state/request_limit.h"

#define BATCH_LIMIT_KEPT_US INT64_C(86400000000)

int batch_limit_load(struct batch_limit *b, struct err *err)
{
    struct request_limit learned = {0};
    bool known = false;
    int rc = request_limit_read(b->view->state, &learned, &known, err);
    int64_t age_us = clock_wall_us(&b->view->clock) - learned.learned_us;
    if (rc == 0 && known && age_us >= 0 && age_us < BATCH_LIMIT_KEPT_US && learned.bytes > 0) {
        flow_limit_batch(b->flow, (size_t)learned.bytes);
    }
    b->known = b->flow->ceilings.batch_bytes;
    return rc;
}

static void batch_limit_ask(struct batch_limit *b)
{
    struct err ignored; /* of a service that is away: the load itself retries */
    int64_t bytes = 0;
    b->asked = true;
    if (b->view->service.ops->request_limit(b->view->service.self, &bytes, &ignored) == 0 &&
        bytes > 0) {
        flow_limit_batch(b->flow, (size_t)bytes / 10 * 9);
    }
}

enum loop_answer batch_limit_on_turn(void *self, struct err *why)
{
    struct batch_limit *b = self;
    const struct loop_view *v = b->view;
    bool asks = !b->asked && source_reader_copies(v->reader) && !loop_view_stopping(v);
    if (asks) {
        batch_limit_ask(b);
    }
    if (b->flow->ceilings.batch_bytes < b->known) {
        b->known = b->flow->ceilings.batch_bytes;
        const struct request_limit learned = {(int64_t)b->known, clock_wall_us(&v->clock)};
        log_event(LOG_INFO, "batches_limited", F_TEXT("pipeline", v->target.pipeline),
                  F_INT("batch_bytes", learned.bytes),
                  F_TEXT("because", asks ? "http.max_content_length" : "refused_size"));
        return request_limit_write(v->state, &learned, why) < 0 ? LOOP_END : LOOP_GO_ON;
    }
    return LOOP_GO_ON;
}
