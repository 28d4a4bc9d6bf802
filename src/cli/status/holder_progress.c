/* SPDX-License-Identifier: Apache-2.0 */
/* Stage, speed and limits of a holder. */
#include "status/holder_progress.h"

#include "output/terminal.h"
#include "rowferry/base/units.h"
#include "rowferry/document/json/record.h"

void holder_progress_push_stage(struct buf *out, const struct live_progress *w)
{
    char text[UNITS_BYTES];
    buf_push_text(out, w->stage);
    if (w->share >= 0) {
        buf_printf(out, ", %.0f %%", w->share * 100);
    }
    buf_printf(out, " (%s row%s", units_count(text, w->rows), w->rows == 1 ? "" : "s");
    buf_printf(out, ", %s a second", units_count(text, w->rows_per_second));
    if (w->remaining_ms >= 0) {
        buf_printf(out, ", %s left", units_duration(text, w->remaining_ms));
    }
    buf_push_char(out, ')');
}

void holder_progress_push_recorded(struct buf *out, struct state *state)
{
    struct live_progress work;
    struct err ignored;
    bool known = false;
    if (live_progress_read(state, &work, &known, &ignored) == 0 && known) {
        buf_push_literal(out, ", ");
        holder_progress_push_stage(out, &work);
    }
}

void holder_progress_push_limits(struct buf *out, const struct live_progress *w)
{
    char text[UNITS_BYTES];
    buf_printf(out, "%lld request%s in flight", (long long)w->in_flight,
               w->in_flight == 1 ? "" : "s");
    if (w->batch_bytes > 0) { /* 0 if nothing was sent yet */
        buf_printf(out, ", batches of %s", units_size(text, w->batch_bytes));
    }
    if (w->growth_stopped[0] != '\0') {
        buf_push_literal(out, " that grow no more: ");
        terminal_push_safe(out, w->growth_stopped, strlen(w->growth_stopped));
    }
}

void holder_progress_push_json(struct buf *out, const struct live_progress *w)
{
    if (w == NULL) {
        record_text(out, "working", NULL);
        return;
    }
    record_name(out, "working");
    record_open(out);
    record_time(out, "at", w->told_us);
    record_text(out, "stage", w->stage);
    record_int(out, "rows", w->rows);
    record_int(out, "rows_per_second", w->rows_per_second);
    record_name(out, "share");
    if (w->share >= 0) {
        buf_printf(out, "%.4f", w->share);
    } else {
        buf_push_literal(out, "null");
    }
    record_seconds(out, "seconds_left", w->remaining_ms);
    record_int(out, "in_flight", w->in_flight);
    record_int(out, "batch_bytes", w->batch_bytes);
    record_text(out, "growth_stopped", w->growth_stopped[0] != '\0' ? w->growth_stopped : NULL);
    record_close(out);
}
