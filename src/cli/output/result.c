/* SPDX-License-Identifier: Apache-2.0 */
/* Renders the outcome of a sync. */
#include "output/result.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rowferry/base/units.h"
#include "rowferry/document/json/record.h"

char *result_duration(char *out, int64_t ms)
{
    if (ms >= 59950) {
        return units_duration(out, ms + 50);
    }
    snprintf(out, UNITS_BYTES, ms < 95 ? "%.2f s" : "%.1f s", (double)ms / 1000);
    return out;
}

static int64_t result_operations_of(const struct counters *c)
{
    return c->upserts + c->deletes;
}

void result_push_count(struct buf *out, int64_t n, const char *noun)
{
    char count[UNITS_BYTES];
    buf_printf(out, "%s %s%s", units_count(count, n), noun, n == 1 ? "" : "s");
}

/* Rounds a rate to three digits, which is the precision of a single run. */
static int64_t result_rate_of(int64_t n, int64_t ms)
{
    int64_t rate = n * 1000 / (ms > 0 ? ms : 1);
    int64_t step = 1;
    while (rate / step >= 1000) {
        step *= 10;
    }
    return (rate + step / 2) / step * step;
}

/* Reports documents that a data stream already had and kept: sent again after a crash, or of rows
 * that were changed since. */
static void result_push_present(struct buf *out, const struct counters *c)
{
    if (c->present > 0) {
        buf_push_literal(out, ", ");
        result_push_count(out, c->present, "document");
        buf_push_literal(out, " already there");
    }
}

static void result_push_operations(struct buf *out, const struct counters *c)
{
    result_push_count(out, result_operations_of(c), "operation");
    buf_push_literal(out, " (");
    result_push_count(out, c->upserts, "upsert");
    buf_push_literal(out, ", ");
    result_push_count(out, c->deletes, "delete");
    buf_printf(out, "), %" PRId64 " rejected", c->rejected);
    result_push_present(out, c);
}

static void result_push_first_load(struct buf *out, const struct sync_outcome *o)
{
    const struct counters *c = &o->result.counters;
    char rate[UNITS_BYTES];
    result_push_count(out, c->upserts, "document");
    buf_printf(out, " built into %s", o->result.generation);
    if (c->rejected > 0) {
        buf_printf(out, ", %" PRId64 " rejected", c->rejected);
    }
    result_push_present(out, c);
    buf_printf(out, ", %s/s",
               units_count(rate, result_rate_of(result_operations_of(c), o->result.elapsed_ms)));
}

static void result_push_what(struct buf *out, const struct sync_outcome *o)
{
    const struct counters *c = &o->result.counters;
    if (o->exit_code == EXIT_HELD) {
        buf_push_literal(out, "skipped, another process holds it");
    } else if (o->err != NULL) {
        buf_push_literal(out, "failed");
        if (result_operations_of(c) > 0) {
            buf_push_literal(out, " after ");
            result_push_operations(out, c);
        }
    } else if (o->result.stopped) {
        buf_push_literal(out, "stopped after ");
        result_push_operations(out, c);
    } else if (o->result.first_load) {
        result_push_first_load(out, o);
    } else if (result_operations_of(c) == 0 && c->rejected == 0 && c->present == 0) {
        buf_push_literal(out, "nothing to do");
    } else {
        result_push_operations(out, c);
    }
}

void result_push_text(struct buf *out, const struct sync_outcome *o)
{
    char took[UNITS_BYTES];
    buf_printf(out, "%s: ", o->pipeline);
    result_push_what(out, o);
    buf_printf(out, ", %s%s\n", result_duration(took, o->took_ms),
               o->result.stopped ? "; the next sync continues from there" : "");
    if (o->result.extended[0] != '\0') {
        buf_printf(out, "%s: %s added to the mapping; old documents lack %s%s%s\n", o->pipeline,
                   o->result.extended, strchr(o->result.extended, ',') != NULL ? "them" : "it",
                   o->result.stream ? "" : " until: rowferry reindex ",
                   o->result.stream ? "" : o->pipeline);
    }
    if (o->result.dead_letters > 0) {
        buf_printf(out, "%s: ", o->pipeline);
        result_push_count(out, o->result.dead_letters, "dead letter");
        buf_printf(out, " open; see: rowferry deadletter list %s\n", o->pipeline);
    }
}

void result_push_json(struct buf *out, const struct sync_outcome *o)
{
    const struct counters *c = &o->result.counters;
    record_open(out);
    record_text(out, "pipeline", o->pipeline);
    record_int(out, "operations", result_operations_of(c));
    record_int(out, "upserts", c->upserts);
    record_int(out, "present", c->present);
    record_int(out, "deletes", c->deletes);
    record_int(out, "rejected", c->rejected);
    record_int(out, "retried", c->retried);
    record_int(out, "conflicts", c->conflicts);
    record_int(out, "cleared", c->cleared);
    record_int(out, "dead_letters", o->result.dead_letters);
    record_text(out, "generation", o->result.generation[0] != '\0' ? o->result.generation : NULL);
    record_bool(out, "first_load", o->result.first_load);
    record_text(out, "mapping_extended", o->result.extended[0] != '\0' ? o->result.extended : NULL);
    record_bool(out, "stopped", o->result.stopped);
    record_int(out, "bytes", c->bytes);
    record_seconds(out, "seconds", o->took_ms);
    record_int(out, "exit_code", o->exit_code);
    record_text(out, "error", o->err != NULL ? o->err->message : NULL);
    record_close(out);
    buf_push_char(out, '\n');
}
