/* SPDX-License-Identifier: Apache-2.0 */
/* Rings of samples under a lock. */
#include "history.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/text.h"

void history_init(struct history *h, size_t count, int64_t now_us)
{
    *h = (struct history){.count = count, .taken_us = now_us};
    pthread_mutex_init(&h->lock, NULL);
    h->rings = mem_zero(count, sizeof(*h->rings));
    h->settled = mem_zero(count, sizeof(*h->settled));
}

void history_release(struct history *h)
{
    free(h->rings);
    free(h->settled);
    pthread_mutex_destroy(&h->lock);
}

/* An initial load has no lag: the index does not answer searches yet. */
static float history_lag_s(const struct status_snapshot_view *v, int64_t wall_us)
{
    bool loads = strcmp(v->stage, "copying") == 0;
    int64_t lag_us = live_progress_lag_us(v->moment.work.equal_us, wall_us);
    return loads || lag_us < 0 ? -1 : (float)lag_us / 1e6F;
}

int64_t history_take(struct history *h, struct status_snapshot *const *snapshots, int64_t now_us,
                     int64_t wall_us)
{
    int64_t took_us = now_us - h->taken_us;
    if (took_us < HISTORY_STEP_US) {
        return (HISTORY_STEP_US - took_us + 999) / 1000;
    }
    pthread_mutex_lock(&h->lock);
    for (size_t i = 0; i < h->count; i++) {
        struct status_snapshot_view v;
        status_snapshot_look(snapshots[i], &v);
        const struct counters *c = &v.moment.counters;
        int64_t settled = c->upserts + c->deletes + c->rejected;
        h->rings[i][h->taken % HISTORY_SAMPLES] = (struct history_sample){
            (float)(settled - h->settled[i]) * 1e6F / (float)took_us, history_lag_s(&v, wall_us)};
        h->settled[i] = settled;
    }
    h->taken++;
    h->taken_us = now_us;
    pthread_mutex_unlock(&h->lock);
    return HISTORY_STEP_US / 1000;
}

static void history_push_ring(const struct history *h, size_t ring, uint64_t first, struct buf *out)
{
    buf_push_literal(out, "{\"rate\":[");
    for (uint64_t n = first; n < h->taken; n++) {
        buf_printf(out, "%s%.4g", n > first ? "," : "",
                   (double)h->rings[ring][n % HISTORY_SAMPLES].rate);
    }
    buf_push_literal(out, "],\"lag\":[");
    for (uint64_t n = first; n < h->taken; n++) {
        double lag_s = (double)h->rings[ring][n % HISTORY_SAMPLES].lag_s;
        buf_push_text(out, n > first ? "," : "");
        if (lag_s < 0) {
            buf_push_literal(out, "null");
        } else {
            buf_printf(out, "%.3g", lag_s);
        }
    }
    buf_push_literal(out, "]}");
}

void history_push(struct history *h, uint64_t since, struct buf *out)
{
    pthread_mutex_lock(&h->lock);
    uint64_t kept = h->taken < HISTORY_SAMPLES ? h->taken : HISTORY_SAMPLES;
    uint64_t first = since > h->taken - kept ? since : h->taken - kept;
    buf_printf(out, "{\"taken\":%" PRIu64 ",\"pipelines\":[", h->taken);
    for (size_t i = 0; i < h->count; i++) {
        buf_push_text(out, i > 0 ? "," : "");
        history_push_ring(h, i, first, out);
    }
    buf_push_literal(out, "]}");
    pthread_mutex_unlock(&h->lock);
}
