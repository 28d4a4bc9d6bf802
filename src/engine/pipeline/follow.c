/* SPDX-License-Identifier: Apache-2.0 */
/* Polling after the pipeline has caught up. */
#include "pipeline/follow.h"

#include "pipeline/loop.h"

#define FOLLOW_LOOK_US INT64_C(10000000)
#define FOLLOW_QUIET_US INT64_C(60000000)

void follow_init(struct loop *l)
{
    struct pace *p = &l->follow.pace;
    pace_init(p, l->options->follow.poll_min_ms, l->options->follow.poll_max_ms);
    l->view.following.idle = p->interval_ms >= p->max_ms;
    wakeup_init(&l->follow.wakeup);
}

/* The pages of the window that was read are those before the window's next page. */
static void follow_window_read(struct loop *l, int64_t snapshot_us)
{
    struct follow *f = &l->follow;
    if (l->view.following.on && f->drained_us == 0) {
        f->drained_us = snapshot_us;
        f->drained_page = l->window.next - 1;
    }
}

void follow_before_page(struct loop *l)
{
    l->follow.asked_us = clock_wall_us(&l->view.clock);
    l->view.asked_us = clock_monotonic_us(&l->view.clock);
}

/* A page may begin and end in one call. */
void follow_has_read(struct loop *l, const struct change *change)
{
    struct follow *f = &l->follow;
    if (f->stretch_us == 0 && source_reader_reads_log(&l->source_reader)) {
        f->stretch_us = f->asked_us;
    }
    if (change->kind == CHANGE_PAGE && change->whole && !change->ahead) {
        int64_t snapshot_us = f->stretch_us != 0 ? f->stretch_us : f->asked_us;
        f->stretch_us = 0;
        if (!change->copying) {
            follow_window_read(l, snapshot_us);
        }
    }
}

void follow_settled(struct loop *l)
{
    struct follow *f = &l->follow;
    if (f->drained_us != 0 && l->source_reader.again.count == 0 &&
        window_pages_settled(&l->window, 1, f->drained_page)) {
        l->view.following.equal_us = f->drained_us;
        l->view.following.equals++;
        f->drained_us = 0;
    }
}

static void follow_poll_ended(struct loop *l, int64_t now_us, bool found)
{
    struct pace *p = &l->follow.pace;
    follow_window_read(l, l->follow.began_us);
    pace_ended(p, now_us, found);
    if (found || l->follow.found_us == 0) {
        l->follow.found_us = now_us;
    }
    l->view.following.idle = p->interval_ms >= p->max_ms;
}

int follow_turn(struct loop *l, struct err *err)
{
    struct follow *f = &l->follow;
    struct loop_following *shown = &l->view.following;
    int64_t now = clock_monotonic_us(&l->view.clock);
    if (!shown->on || loop_stopping(l) || !source_reader_done(&l->source_reader)) {
        shown->polling = shown->polling || !source_reader_done(&l->source_reader);
        return 0;
    }
    if (shown->polling) {
        shown->polling = false;
        follow_poll_ended(l, now, l->counters.rows_read != f->rows_before);
    }
    if (l->options->mode == PIPELINE_REQUESTS || now < pace_due_us(&f->pace)) {
        return 0;
    }
    bool any = now - f->looked_us >= FOLLOW_LOOK_US;
    int rc = loop_release_source(l, err);
    loop_observers_page(&l->observers, false);
    f->rows_before = l->counters.rows_read;
    f->began_us = clock_wall_us(&l->view.clock);
    if (rc == 0) {
        rc = source_reader_poll(&l->source_reader, &any, err);
    }
    if (rc == 0 && any) {
        shown->polling = true;
        f->looked_us = now;
    } else if (rc == 0) {
        loop_observers_poll(&l->observers, false, now);
        follow_poll_ended(l, clock_monotonic_us(&l->view.clock), false);
    }
    return rc;
}

/* Equality is known only when a poll has ended, and what it found is settled. */
bool follow_quiet(const struct loop *l)
{
    const struct follow *f = &l->follow;
    const struct pipeline_follow *o = &l->options->follow;
    int64_t least_us = o->rested && l->counters.rows_read == 0 ? 0 : FOLLOW_QUIET_US;
    return o->quiet && f->found_us != 0 && f->drained_us == 0 && !l->view.following.polling &&
           clock_monotonic_us(&l->view.clock) - f->found_us >= least_us;
}

void follow_called(struct loop *l)
{
    loop_observers_poll(&l->observers, true, clock_monotonic_us(&l->view.clock));
    pace_call(&l->follow.pace);
}

int64_t follow_wait_ms(const struct loop *l, int64_t now_us, int *fd)
{
    int64_t due = pace_due_us(&l->follow.pace);
    *fd = l->follow.pace.called ? -1 : source_reader_idle_fd(&l->source_reader);
    return due <= now_us ? 0 : (due - now_us + 999) / 1000;
}
