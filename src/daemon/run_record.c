/* SPDX-License-Identifier: Apache-2.0 */
#include "rowferry/daemon/run_record.h"

#include <stdio.h>
#include <string.h>

#include "rowferry/state/history.h"

int run_record_begin(struct session *s, int64_t *id, struct err *err)
{
    return history_begin(s->state, s->command, clock_wall_us(&s->clock), id, err);
}

static int run_record_write(struct session *s, const struct sync_outcome *o, struct run run,
                            struct err *err)
{
    const struct counters *c = &o->result.counters;
    run.upserts = c->upserts;
    run.deletes = c->deletes;
    run.rejected = c->rejected;
    run.bytes = c->bytes;
    if (o->err != NULL) {
        snprintf(run.message, sizeof(run.message), "%s", o->err->message);
    }
    if (o->err == NULL && o->result.stopped && strcmp(s->command, "sync") == 0) {
        snprintf(run.message, sizeof(run.message), "interrupted before all was sent");
    }
    return history_end(s->state, &run, err);
}

int run_record_stop(struct session *s, int64_t id, const struct sync_outcome *o, struct err *err)
{
    struct run run = {.id = id, .exit_code = o->err != NULL ? (int)o->exit_code : -1};
    return run_record_write(s, o, run, err);
}

int run_record_end(struct session *s, int64_t id, const struct sync_outcome *o, struct err *err)
{
    struct run run = {
        .id = id, .ended_us = clock_wall_us(&s->clock), .exit_code = (int)o->exit_code};
    return run_record_write(s, o, run, err);
}
