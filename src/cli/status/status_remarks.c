/* SPDX-License-Identifier: Apache-2.0 */
/* status: unusual conditions. */
#include <string.h>

#include "output/terminal.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/units.h"
#include "rowferry/document/json/record.h"
#include "status/status.h"

void status_push_line(struct buf *out, const char *name)
{
    buf_printf(out, "  %-14s", name);
}

/* The effect of an old transaction depends on the capture mode (source/catalog/xmin_holder.h). */
void status_push_watermark(struct buf *out, const struct status *s)
{
    char text[UNITS_BYTES];
    const struct live_progress *w = &s->holder.work;
    if (s->holder.hold != STATUS_WORKING || w->hold_us == 0) {
        return;
    }
    status_push_line(out, "watermark");
    terminal_push_safe(out, w->hold_who, strlen(w->hold_who));
    buf_printf(out, ", open for %s: %s\n",
               units_duration(text, s->now_us > w->hold_us ? (s->now_us - w->hold_us) / 1000 : 0),
               capture_traits(s->pipeline->from.capture_mode)->held);
}

void status_push_copied(struct buf *out, const struct status *s)
{
    char iso[CLOCK_ISO_BYTES];
    if (s->upkeep.copied) {
        status_push_line(out, "copied again");
        buf_printf(out, "%s: ", clock_iso(iso, s->upkeep.copy.begun_us, 0));
        terminal_push_safe(out, s->upkeep.copy.reason, strlen(s->upkeep.copy.reason));
        buf_push_char(out, '\n');
    }
}

void status_push_lacking(struct buf *out, const struct status *s)
{
    char iso[CLOCK_ISO_BYTES];
    if (s->upkeep.lacking.properties != NULL) {
        status_push_line(out, "lacking");
        buf_printf(out, "documents older than %s lack ",
                   clock_iso(iso, s->upkeep.lacking.since_us, 0));
        terminal_push_safe(out, s->upkeep.lacking.properties, strlen(s->upkeep.lacking.properties));
        buf_printf(out, " until a rebuild: rowferry reindex %s\n", s->pipeline->name);
    }
}

/* --- JSON ------------------------------------------------------------------------------------- */

void status_push_json_stall(struct buf *out, const struct live_progress *w)
{
    if (w == NULL || w->stall[0] == '\0') {
        record_text(out, "stall", NULL);
        return;
    }
    record_name(out, "stall");
    record_open(out);
    record_text(out, "cause", w->stall);
    record_text(out, "why", w->stall_why);
    record_time(out, "since", w->stall_us);
    record_close(out);
}

static void status_remarks_push_json_watermark(struct buf *out, const struct status *s)
{
    const struct live_progress *w = &s->holder.work;
    if (s->holder.hold != STATUS_WORKING || w->hold_us == 0) {
        record_text(out, "watermark", NULL);
        return;
    }
    record_name(out, "watermark");
    record_open(out);
    record_int(out, "pid", w->hold_pid);
    record_text(out, "who", w->hold_who);
    record_time(out, "since", w->hold_us);
    record_seconds(out, "age_seconds",
                   s->now_us > w->hold_us ? (s->now_us - w->hold_us) / 1000 : 0);
    record_close(out);
}

void status_push_json_health(struct buf *out, const struct status *s)
{
    record_known(out, "lag_rows", s->holder.hold == STATUS_WORKING ? s->holder.work.lag_rows : -1);
    status_push_json_stall(out, s->holder.hold == STATUS_WORKING ? &s->holder.work : NULL);
    status_remarks_push_json_watermark(out, s);
}
