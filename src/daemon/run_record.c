/* SPDX-License-Identifier: Apache-2.0 */
#include "rowferry/daemon/run_record.h"

#include <stdio.h>

#include "rowferry/state/history.h"

int run_record_begin(struct session *s, int64_t *id, struct err *err)
{
    return history_begin(s->state, s->command, clock_wall_us(&s->clock), id, err);
}

int run_record_end(struct session *s, int64_t id, const struct sync_outcome *o, struct err *err)
{
    const struct counters *c = &o->result.counters;
    struct run run = {.id = id,
                      .ended_us = clock_wall_us(&s->clock),
                      .upserts = c->upserts,
                      .deletes = c->deletes,
                      .rejected = c->rejected,
                      .bytes = c->bytes,
                      .exit_code = (int)o->exit_code};
    if (o->err != NULL) {
        snprintf(run.message, sizeof(run.message), "%s", o->err->message);
    }
    return history_end(s->state, &run, err);
}
