/* SPDX-License-Identifier: Apache-2.0 */
/* Polling after the pipeline has caught up. */
#include "pipeline/follow.h"

#include "pipeline/loop.h"

#define FOLLOW_LOOK_US INT64_C(10000000)

bool follow_rests(const struct loop *l)
{
    return l->follow.on && !l->follow.poll && source_reader_done(&l->source_reader);
}

/* The pages of the window that was read are those before the window's next page. */
void follow_window_read(struct loop *l, int64_t snapshot_us)
{
    struct follow *f = &l->follow;
    if (f->on && f->drained_us == 0) {
        f->drained_us = snapshot_us;
        f->drained_page = l->window.next - 1;
    }
}

void follow_settled(struct loop *l)
{
    struct follow *f = &l->follow;
    if (f->drained_us != 0 && l->source_reader.again_count == 0 &&
        window_pages_settled(&l->window, 1, f->drained_page)) {
        f->equal_us = f->drained_us;
        f->drained_us = 0;
        l->lag_monitor.equals++;
    }
}

int follow_turn(struct loop *l, struct err *err)
{
    struct follow *f = &l->follow;
    int64_t now = clock_monotonic_us(&l->clock);
    if (!f->on || loop_stopping(l) || !source_reader_done(&l->source_reader)) {
        f->poll = f->poll || !source_reader_done(&l->source_reader);
        return 0;
    }
    if (f->poll) {
        f->poll = false;
        follow_window_read(l, f->began_us);
        pace_ended(&f->pace, now, l->counters.rows_read != f->rows_before);
    }
    if (l->options->mode == PIPELINE_REQUESTS || now < pace_due_us(&f->pace)) {
        return 0;
    }
    bool look = now - f->looked_us >= FOLLOW_LOOK_US;
    bool any = look;
    int rc = loop_release_source(l, err);
    lag_monitor_ask(l, false);
    f->rows_before = l->counters.rows_read;
    f->began_us = clock_wall_us(&l->clock);
    if (rc == 0) {
        rc = source_reader_poll(&l->source_reader, &any, err);
    }
    if (rc == 0 && any) {
        f->poll = true;
        f->looked_us = now;
    } else if (rc == 0) {
        follow_window_read(l, f->began_us);
        change_age_nothing(&l->lag_monitor.change_age, now);
        pace_ended(&f->pace, clock_monotonic_us(&l->clock), false);
    }
    return rc;
}

int64_t follow_wait_ms(const struct loop *l, int64_t now_us, int *fd)
{
    int64_t due = pace_due_us(&l->follow.pace);
    *fd = l->follow.pace.called ? -1 : source_reader_idle_fd(&l->source_reader);
    return due <= now_us ? 0 : (due - now_us + 999) / 1000;
}
