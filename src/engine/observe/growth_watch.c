/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a growing index every half minute. */
#include "observe/growth_watch.h"

#include "rowferry/base/log.h"

#define GROWTH_WATCH_EVERY_US INT64_C(30000000)

static const char *const reasons[] = {
    [GROWTH_WELL] = "",
    [GROWTH_FEWER] = "the service counts fewer documents than it acknowledged",
    [GROWTH_HEAVY] = "a document takes twice as many bytes as before",
    [GROWTH_FULL] = "what is to come would pass the low disk watermark",
};

const char *growth_watch_why(const struct growth_watch *w)
{
    return reasons[w->news];
}

static void growth_watch_report(struct growth_watch *w, enum growth_news news)
{
    if (news == w->news) {
        return;
    }
    w->news = news;
    if (news == GROWTH_WELL) {
        log_event(LOG_INFO, "growth_goes_on", F_TEXT("pipeline", w->view->target.pipeline));
    } else {
        log_event(LOG_WARN, "growth_stopped", F_TEXT("pipeline", w->view->target.pipeline),
                  F_TEXT("why", growth_watch_why(w)),
                  F_REAL("bytes_per_document", w->growth.bytes_per_document),
                  F_INT("missing", w->growth.missing));
    }
}

void growth_watch_turn(struct growth_watch *w, const struct growth_sent *sent, int64_t now_us)
{
    struct storage storage;
    struct err err;
    if (w->due_us == 0) {
        w->due_us = now_us + GROWTH_WATCH_EVERY_US;
    }
    if (w->forbidden || now_us < w->due_us) {
        return;
    }
    w->due_us = now_us + GROWTH_WATCH_EVERY_US;
    int rc =
        w->view->service.ops->storage(w->view->service.self, w->view->target.index, &storage, &err);
    if (rc == ERR_REJECTED) {
        w->forbidden = true;
        log_event(LOG_INFO, "growth_unwatched", F_TEXT("pipeline", w->view->target.pipeline),
                  F_INT("http_status", err.http_status));
    }
    if (rc == 0) {
        growth_watch_report(w, growth_judge(&w->growth, &storage, sent));
        flow_stop_growth(w->flow, w->news != GROWTH_WELL);
    }
    if (rc == 0 && w->news == GROWTH_FEWER) {
        const struct flow_answer lost = {FLOW_LOST, .sent_us = now_us, .now_us = now_us};
        flow_answered(w->flow, &lost);
    }
}

enum loop_answer growth_watch_on_turn(void *self, struct err *why)
{
    struct growth_watch *w = self;
    const struct loop_view *v = w->view;
    struct capture_progress copy;
    bool copies = source_reader_copies(v->reader);
    bool open = v->reader->capture != NULL; /* a lost source is opened again later */
    int64_t now_us = clock_monotonic_us(&v->clock);
    (void)why;
    if (open && (copies || w->copying) && !loop_view_stopping(v)) {
        w->due_us = copies ? w->due_us : now_us;
        w->copying = copies;
        v->reader->capture->ops->progress(v->reader->capture, &copy);
        const struct growth_sent sent = {
            v->counters->upserts, (int64_t)(v->window->read - v->window->settled),
            copy.rows_estimated > 0 ? copy.rows_estimated - copy.rows_read : -1};
        growth_watch_turn(w, &sent, now_us);
    }
    return LOOP_GO_ON;
}
