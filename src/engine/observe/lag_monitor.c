/* SPDX-License-Identifier: Apache-2.0 */
/* Lag, watermark, age of changes, stall. */
#include "observe/lag_monitor.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/loop.h"

#define HOLD_EVERY_US INT64_C(10000000)
#define HOLD_RESTING_US INT64_C(30000000) /* idle, and nothing holds it */
#define HOLD_LEAST_US INT64_C(1000000)    /* ignore younger transactions */
#define HOLD_SAME_US INT64_C(2000000)     /* tolerance for one transaction */
#define COUNT_EVERY_US INT64_C(5000000)

void lag_monitor_begin(struct loop *l)
{
    if (l->options->follow.stall != NULL) {
        stall_begin(l->options->follow.stall, clock_monotonic_us(&l->clock));
    }
}

/* --- pages ----------------------------------------------------------------------------------- */

void lag_monitor_reads(struct loop *l)
{
    if (l->source_reader.page == 0) {
        l->lag_monitor.heard = true;
        l->lag_monitor.asked_us = clock_monotonic_us(&l->clock);
        l->lag_monitor.asked_wall_us = clock_wall_us(&l->clock);
    }
}

/* A page may begin and end in one call. */
void lag_monitor_has_read(struct loop *l, const struct change *change)
{
    struct lag_monitor *g = &l->lag_monitor;
    bool whole = change->kind == CHANGE_PAGE && change->whole && !change->ahead;
    int64_t snapshot_us = 0;
    g->heard = g->heard || change->kind != CHANGE_WAIT;
    if (source_reader_reads_log(&l->source_reader)) {
        change_age_begin(&g->change_age, l->source_reader.page, g->asked_us, g->asked_wall_us);
    }
    if (!whole) {
        return;
    }
    if (!change_age_end(&g->change_age, &snapshot_us)) {
        change_age_nothing(&g->change_age, g->asked_us);
        snapshot_us = g->asked_wall_us;
    }
    if (!change->copying) {
        follow_window_read(l, snapshot_us);
    }
}

void lag_monitor_acknowledged(struct loop *l, uint64_t page)
{
    struct lag_monitor *g = &l->lag_monitor;
    if (!l->follow.on || source_reader_was_asked(&l->source_reader, page)) {
        return;
    }
    int64_t age_us = change_age_us(&g->change_age, page, l->collected_us);
    if (age_us >= 0) {
        status_snapshot_latency_note(&l->moment.latency, age_us, 1);
    }
}

/* --- queries to the source ------------------------------------------------------------------- */

/* Records the holder. The start time of a transaction keeps its first estimate. */
static void lag_monitor_take_hold(struct loop *l, const struct xmin_holder *hold)
{
    struct live_progress *w = &l->moment.work;
    bool any = hold->any && hold->age_us >= HOLD_LEAST_US;
    int64_t since_us = any ? clock_wall_us(&l->clock) - hold->age_us : 0;
    int64_t apart_us = since_us > w->hold_us ? since_us - w->hold_us : w->hold_us - since_us;
    const char *who = any ? hold->who : "";
    bool same = apart_us < HOLD_SAME_US && w->hold_pid == (any ? hold->pid : 0);
    l->lag_monitor.news = l->lag_monitor.news || !same || strcmp(who, w->hold_who) != 0;
    if (!same) {
        w->hold_us = since_us;
    }
    w->hold_pid = any ? hold->pid : 0;
    snprintf(w->hold_who, sizeof(w->hold_who), "%s", who);
}

static bool lag_monitor_hold_is_due(const struct loop *l, int64_t now_us)
{
    const struct lag_monitor *g = &l->lag_monitor;
    const struct pace *p = &l->follow.pace;
    bool rests = l->follow.on && p->interval_ms >= p->max_ms && l->moment.work.hold_us == 0;
    int64_t every_us = rests ? HOLD_RESTING_US : HOLD_EVERY_US;
    return !g->holds_unseen && (g->held_us == 0 || now_us - g->held_us >= every_us);
}

static void lag_monitor_ask_hold(struct loop *l, int64_t now_us)
{
    struct lag_monitor *g = &l->lag_monitor;
    struct xmin_holder hold = {0};
    if (!lag_monitor_hold_is_due(l, now_us)) {
        return;
    }
    g->held_us = now_us;
    if (source_reader_hold(&l->source_reader, &hold, &g->holds_unseen)) {
        lag_monitor_take_hold(l, &hold);
    }
}

static void lag_monitor_ask_waiting(struct loop *l, int64_t now_us)
{
    struct lag_monitor *g = &l->lag_monitor;
    if (g->counts_unseen || (g->counted_us != 0 && now_us - g->counted_us < COUNT_EVERY_US)) {
        return;
    }
    g->counted_us = now_us;
    if (!source_reader_waiting(&l->source_reader, &g->waiting, &g->counts_unseen)) {
        g->waiting = -1;
    }
}

void lag_monitor_ask(struct loop *l, bool more)
{
    int64_t now = clock_monotonic_us(&l->clock);
    if (l->options->mode == PIPELINE_REQUESTS ||
        (l->options->follow.snapshot == NULL && l->options->follow.stall == NULL)) {
        return;
    }
    lag_monitor_ask_hold(l, now);
    if (more) {
        lag_monitor_ask_waiting(l, now);
    } else {
        l->lag_monitor.waiting = 0;
    }
}

/* Includes changes that are read and not acknowledged. */
static int64_t lag_monitor_rows(const struct loop *l)
{
    bool reads = l->source_reader.capture != NULL && l->source_retry.away_since_us == 0;
    if (!reads || l->lag_monitor.waiting < 0 || source_reader_copies(&l->source_reader)) {
        return -1;
    }
    return l->lag_monitor.waiting + (int64_t)(l->window.read - l->window.settled);
}

/* --- progress -------------------------------------------------------------------------------- */

static bool lag_monitor_something_waits(const struct loop *l)
{
    bool away = l->source_retry.away_since_us != 0 || l->service_retry.away_since_us != 0;
    return away || l->held || !window_empty(&l->window) || !follow_rests(l);
}

static void lag_monitor_collect_facts(const struct loop *l, struct stall_facts *f)
{
    const struct live_progress *w = &l->moment.work;
    bool settled = l->window.read == l->window.settled;
    f->now_us = clock_monotonic_us(&l->clock);
    f->wall_us = clock_wall_us(&l->clock);
    f->firm = (uint64_t)l->counters.checkpoints + l->lag_monitor.equals;
    f->moved = f->firm + l->window.settled + (uint64_t)l->counters.rejected;
    f->worked = settled ? l->window.next : 0;
    f->waits = lag_monitor_something_waits(l);
    f->source_away_us = l->source_retry.away_since_us;
    f->service_away_us = l->service_retry.away_since_us;
    f->source_why = l->source_retry.why;
    f->service_why = l->service_retry.why;
    f->service_status = l->service_retry.http_status;
    f->unanswered_us = sender_oldest_us(&l->sender);
    f->silent_us = l->source_reader.reading == SOURCE_READER_PAGE ? l->lag_monitor.heard_us : 0;
    f->watermark_us = w->hold_us != 0 ? f->now_us - (f->wall_us - w->hold_us) : 0;
    f->watermark = w->hold_who;
}

void lag_monitor_turn(struct loop *l)
{
    struct stall *s = l->options->follow.stall;
    struct live_progress *w = &l->moment.work;
    struct stall_facts facts = {0};
    w->lag_rows = lag_monitor_rows(l);
    if (s == NULL) {
        return;
    }
    if (l->lag_monitor.heard) {
        l->lag_monitor.heard_us = clock_monotonic_us(&l->clock);
        l->lag_monitor.heard = false;
    }
    lag_monitor_collect_facts(l, &facts);
    enum stall_news news = stall_judge(s, &facts);
    stall_log(s, news, l->options->definition.name, facts.wall_us);
    l->lag_monitor.news = l->lag_monitor.news || news != STALL_SAME;
    stall_show(s, w);
}
