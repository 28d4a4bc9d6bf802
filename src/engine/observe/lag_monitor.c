/* SPDX-License-Identifier: Apache-2.0 */
/* Lag, watermark, age of changes, stall. */
#include "observe/lag_monitor.h"

#include <stdio.h>
#include <string.h>

#define HOLD_EVERY_US INT64_C(10000000)
#define HOLD_RESTING_US INT64_C(30000000) /* idle, and nothing holds it */
#define HOLD_LEAST_US INT64_C(1000000)    /* ignore younger transactions */
#define HOLD_SAME_US INT64_C(2000000)     /* tolerance for one transaction */
#define COUNT_EVERY_US INT64_C(5000000)

void lag_monitor_begin(struct lag_monitor *g)
{
    if (g->stall != NULL) {
        stall_begin(g->stall, clock_monotonic_us(&g->view->clock));
    }
}

/* --- pages ----------------------------------------------------------------------------------- */

/* A page may begin and end in one call. */
static bool lag_monitor_on_change(void *self, const struct change *change)
{
    struct lag_monitor *g = self;
    bool whole = change->kind == CHANGE_PAGE && change->whole && !change->ahead;
    g->heard = g->heard || change->kind != CHANGE_WAIT || g->asked_us != g->view->asked_us;
    g->asked_us = g->view->asked_us;
    if (!g->change_age.open && source_reader_reads_log(g->reader)) {
        change_age_begin(&g->change_age, g->reader->page, g->asked_us);
    }
    if (whole && !change_age_end(&g->change_age)) {
        change_age_nothing(&g->change_age, g->asked_us);
    }
    return false;
}

static void lag_monitor_on_poll(void *self, bool notified, int64_t at_us)
{
    struct lag_monitor *g = self;
    if (notified) {
        change_age_called(&g->change_age, at_us);
    } else {
        change_age_nothing(&g->change_age, at_us);
    }
}

static void lag_monitor_on_settled(void *self, uint64_t page, bool sent,
                                   const struct new_letter *letter)
{
    struct lag_monitor *g = self;
    if (!sent || letter != NULL) {
        return;
    }
    g->moment->settled_us = g->view->requests.answered_wall_us;
    if (!g->view->following.on || source_reader_was_asked(g->reader, page)) {
        return;
    }
    int64_t age_us = change_age_us(&g->change_age, page, g->view->requests.answered_us);
    if (age_us >= 0) {
        status_snapshot_latency_note(&g->moment->latency, age_us, 1);
    }
}

/* --- queries to the source ------------------------------------------------------------------- */

/* Records the holder. The start time of a transaction keeps its first estimate. */
static void lag_monitor_take_hold(struct lag_monitor *g, const struct xmin_holder *hold)
{
    struct live_progress *w = &g->moment->work;
    bool any = hold->any && hold->age_us >= HOLD_LEAST_US;
    int64_t since_us = any ? clock_wall_us(&g->view->clock) - hold->age_us : 0;
    int64_t apart_us = since_us > w->hold_us ? since_us - w->hold_us : w->hold_us - since_us;
    const char *who = any ? hold->who : "";
    bool same = apart_us < HOLD_SAME_US && w->hold_pid == (any ? hold->pid : 0);
    g->news = g->news || !same || strcmp(who, w->hold_who) != 0;
    if (!same) {
        w->hold_us = since_us;
    }
    w->hold_pid = any ? hold->pid : 0;
    snprintf(w->hold_who, sizeof(w->hold_who), "%s", who);
}

static bool lag_monitor_hold_is_due(const struct lag_monitor *g, int64_t now_us)
{
    bool rests = g->view->following.on && g->view->following.idle && g->moment->work.hold_us == 0;
    int64_t every_us = rests ? HOLD_RESTING_US : HOLD_EVERY_US;
    return !g->holds_unseen && (g->held_us == 0 || now_us - g->held_us >= every_us);
}

static void lag_monitor_ask_hold(struct lag_monitor *g, int64_t now_us)
{
    struct xmin_holder hold = {0};
    if (!lag_monitor_hold_is_due(g, now_us)) {
        return;
    }
    g->held_us = now_us;
    if (source_reader_ask_xmin_holder(g->reader, &hold, &g->holds_unseen)) {
        lag_monitor_take_hold(g, &hold);
    }
}

static void lag_monitor_ask_waiting(struct lag_monitor *g, int64_t now_us)
{
    if (g->counts_unseen || (g->counted_us != 0 && now_us - g->counted_us < COUNT_EVERY_US)) {
        return;
    }
    g->counted_us = now_us;
    if (!source_reader_waiting(g->reader, &g->waiting, &g->counts_unseen)) {
        g->waiting = -1;
    }
}

static void lag_monitor_on_page(void *self, bool more)
{
    struct lag_monitor *g = self;
    int64_t now = clock_monotonic_us(&g->view->clock);
    if (!g->queries) {
        return;
    }
    lag_monitor_ask_hold(g, now);
    if (more) {
        lag_monitor_ask_waiting(g, now);
    } else {
        g->waiting = 0;
    }
}

/* Includes changes that are read and not acknowledged. */
static int64_t lag_monitor_rows(const struct lag_monitor *g)
{
    bool reads = g->reader->capture != NULL && g->reader->retry_budget->away_since_us == 0;
    if (!reads || g->waiting < 0 || source_reader_copies(g->reader)) {
        return -1;
    }
    return g->waiting + (int64_t)(g->view->window->read - g->view->window->settled);
}

/* --- progress -------------------------------------------------------------------------------- */

static bool lag_monitor_something_waits(const struct lag_monitor *g)
{
    const struct loop_view *v = g->view;
    bool away = v->reader->retry_budget->away_since_us != 0 || v->service_retry->away_since_us != 0;
    return away || v->held || !window_empty(v->window) || !loop_view_rests(v);
}

static void lag_monitor_collect_facts(const struct lag_monitor *g, struct stall_facts *f)
{
    const struct loop_view *v = g->view;
    const struct retry_budget *source = v->reader->retry_budget;
    const struct retry_budget *service = v->service_retry;
    const struct live_progress *w = &g->moment->work;
    bool settled = v->window->read == v->window->settled;
    f->now_us = clock_monotonic_us(&v->clock);
    f->wall_us = clock_wall_us(&v->clock);
    f->firm = (uint64_t)v->counters->checkpoints + v->following.equals;
    f->moved = f->firm + v->window->settled + (uint64_t)v->counters->rejected;
    f->worked = settled ? v->window->next : 0;
    f->waits = lag_monitor_something_waits(g);
    f->source_away_us = source->away_since_us;
    f->service_away_us = service->away_since_us;
    f->source_why = source->why;
    f->service_why = service->why;
    f->service_status = service->http_status;
    f->service_lasting = service->lasting;
    f->unanswered_us = v->requests.oldest_us;
    f->silent_us = g->reader->reading == SOURCE_READER_PAGE ? g->heard_us : 0;
    f->watermark_us = w->hold_us != 0 ? f->now_us - (f->wall_us - w->hold_us) : 0;
    f->watermark = w->hold_who;
}

enum loop_answer lag_monitor_on_turn(void *self, struct err *why)
{
    struct lag_monitor *g = self;
    struct live_progress *w = &g->moment->work;
    struct stall_facts facts = {0};
    (void)why;
    if (loop_view_stopping(g->view)) {
        return LOOP_GO_ON;
    }
    w->lag_rows = lag_monitor_rows(g);
    if (g->heard) {
        g->heard_us = clock_monotonic_us(&g->view->clock);
        g->heard = false;
    }
    lag_monitor_collect_facts(g, &facts);
    bool away = w->away[0] != '\0';
    stall_explain_away(&facts, w->away);
    g->news = g->news || away != (w->away[0] != '\0');
    if (g->stall == NULL) {
        return LOOP_GO_ON;
    }
    enum stall_news news = stall_judge(g->stall, &facts);
    stall_log(g->stall, news, g->view->target.pipeline, facts.wall_us);
    g->news = g->news || news != STALL_SAME;
    stall_show(g->stall, w);
    return LOOP_GO_ON;
}

struct loop_observer lag_monitor_observer(struct lag_monitor *g)
{
    return (struct loop_observer){.self = g,
                                  .on_change = lag_monitor_on_change,
                                  .on_settled = lag_monitor_on_settled,
                                  .on_page = lag_monitor_on_page,
                                  .on_poll = lag_monitor_on_poll,
                                  .on_turn = lag_monitor_on_turn};
}
