/* SPDX-License-Identifier: Apache-2.0 */
/* A snapshot under a lock, and the totals of earlier rounds. */
#include "rowferry/engine/observe/status_snapshot.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "rowferry/base/text.h"

const int64_t latency_bounds_us[LATENCY_BOUNDS] = {
    5000,   10000,   20000,   40000,    60000,    100000,    200000,
    300000, 1000000, 3000000, 10000000, 60000000, 600000000, 3600000000,
};

struct status_snapshot {
    pthread_mutex_t lock;
    char *name;
    char *alias;
    struct status_snapshot_view view; /* moment: of the current round */
    struct counters before;           /* total of the rounds that have ended */
    struct latency latency_before;
};

void status_snapshot_latency_note(struct latency *l, int64_t took_us, uint64_t operations)
{
    size_t i = 0;
    took_us = took_us < 0 ? 0 : took_us; /* two clocks, or one that was set back */
    while (i < LATENCY_BOUNDS && took_us > latency_bounds_us[i]) {
        i++;
    }
    l->counts[i] += operations;
    l->sum_us += took_us * (int64_t)operations;
}

void status_snapshot_latency_add(struct latency *sum, const struct latency *l)
{
    for (size_t i = 0; i <= LATENCY_BOUNDS; i++) {
        sum->counts[i] += l->counts[i];
    }
    sum->sum_us += l->sum_us;
}

struct status_snapshot *status_snapshot_new(const char *name, const char *alias)
{
    struct status_snapshot *b = mem_zero(1, sizeof(*b));
    pthread_mutex_init(&b->lock, NULL);
    b->name = text_copy(name);
    b->alias = text_copy(alias);
    b->view = (struct status_snapshot_view){
        .name = b->name,
        .alias = b->alias,
        .stage = "starting",
        .moment = {.work = {.share = -1, .remaining_ms = -1, .lag_rows = -1}, .dead_letters = -1}};
    return b;
}

void status_snapshot_free(struct status_snapshot *b)
{
    if (b != NULL) {
        pthread_mutex_destroy(&b->lock);
        free(b->name);
        free(b->alias);
        free(b);
    }
}

const char *status_snapshot_name(const struct status_snapshot *b)
{
    return b->name;
}

void status_snapshot_enter(struct status_snapshot *b, const char *stage, int64_t wall_us)
{
    pthread_mutex_lock(&b->lock);
    if (b->view.stage != stage) {
        b->view.stage = stage;
        b->view.since_us = wall_us;
    }
    pthread_mutex_unlock(&b->lock);
}

void status_snapshot_connected(struct status_snapshot *b, int source_version,
                               const struct product_info *service)
{
    struct status_snapshot_view *v = &b->view;
    pthread_mutex_lock(&b->lock);
    snprintf(v->source, sizeof(v->source), "PostgreSQL %d.%d", source_version / 10000,
             source_version % 10000);
    snprintf(v->service, sizeof(v->service), "%s%s%s%s", product_name(service->product),
             service->version[0] != '\0' ? " " : "", service->version,
             service->stand_in ? ", devsearch" : "");
    pthread_mutex_unlock(&b->lock);
}

void status_snapshot_publish(struct status_snapshot *b, const struct status_snapshot_moment *moment)
{
    pthread_mutex_lock(&b->lock);
    b->view.moment = *moment;
    pthread_mutex_unlock(&b->lock);
}

void status_snapshot_stalled(struct status_snapshot *b, const struct stall *stall)
{
    pthread_mutex_lock(&b->lock);
    stall_show(stall, &b->view.moment.work);
    pthread_mutex_unlock(&b->lock);
}

void status_snapshot_round_ended(struct status_snapshot *b)
{
    pthread_mutex_lock(&b->lock);
    struct status_snapshot_moment *m = &b->view.moment;
    counters_add(&b->before, &m->counters);
    status_snapshot_latency_add(&b->latency_before, &m->latency);
    m->counters = (struct counters){0};
    m->latency = (struct latency){0};
    m->work.rows_per_second = 0;
    m->work.share = -1;
    m->work.remaining_ms = -1;
    m->work.lag_rows = -1;
    m->flying = m->unsettled = 0;
    m->source_away = m->service_away = false;
    pthread_mutex_unlock(&b->lock);
}

void status_snapshot_over(struct status_snapshot *b, int exit_code, const struct err *err)
{
    pthread_mutex_lock(&b->lock);
    b->view.over = true;
    b->view.exit_code = exit_code;
    snprintf(b->view.message, sizeof(b->view.message), "%s", err != NULL ? err->message : "");
    pthread_mutex_unlock(&b->lock);
}

void status_snapshot_works(struct status_snapshot *b)
{
    pthread_mutex_lock(&b->lock);
    b->view.over = false;
    b->view.exit_code = 0;
    b->view.message[0] = '\0';
    pthread_mutex_unlock(&b->lock);
}

void status_snapshot_look(struct status_snapshot *b, struct status_snapshot_view *out)
{
    pthread_mutex_lock(&b->lock);
    *out = b->view;
    counters_add(&out->moment.counters, &b->before);
    status_snapshot_latency_add(&out->moment.latency, &b->latency_before);
    pthread_mutex_unlock(&b->lock);
}
